"""Multiple choice: right and wrong answers, of models and readers."""
