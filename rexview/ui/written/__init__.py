"""What several parts of the app know of failures in words: the sample, the Case page's card."""
