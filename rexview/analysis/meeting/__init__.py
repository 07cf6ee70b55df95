"""Meetings: agenda, what is shown of a case step by step, what was decided, minutes."""
