"""A patient as a volume: the source CT, its tissues, abnormalities and devices."""
