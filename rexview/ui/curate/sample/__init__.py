"""The experts' sample of multiple choice questions, read one after the other."""
