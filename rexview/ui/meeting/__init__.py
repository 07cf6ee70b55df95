"""Meetings: their agenda, presenting and following, what is decided, cases pinned to them."""
