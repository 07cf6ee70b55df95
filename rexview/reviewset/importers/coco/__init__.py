"""Boxes in COCO JSON."""
