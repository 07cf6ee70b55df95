"""Multiple choice between raters: who chose what, how often right, and who agrees with whom."""
