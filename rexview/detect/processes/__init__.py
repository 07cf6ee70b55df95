"""Processes that look at answers beside this one, and what they do next."""
