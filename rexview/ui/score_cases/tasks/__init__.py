"""What readers do besides scoring: answer questions, correct reports, compare two of them."""
