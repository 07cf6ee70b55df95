"""Comments on a case: the panel, what can be commented on, and what becomes of what is written."""
