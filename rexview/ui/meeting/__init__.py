"""Meetings: agenda, presenting and following, decisions, and cases pinned to them."""
