"""Predictions as JSON: texts by case id, of one model or of several."""
