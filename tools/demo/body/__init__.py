"""A patient as a volume: the CT that it starts from, its tissues, abnormalities and devices."""
