"""Boxes as models count them: there and back, read from texts, and calibrated with a phantom."""
