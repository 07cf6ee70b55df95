"""Boxes as models write them into texts: the ways they count, and how a text is read."""
