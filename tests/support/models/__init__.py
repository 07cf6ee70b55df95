"""Models, runs and cases for tests of what asks models."""
