"""Boxes: their labels, where they lie, what is wrong with them."""
