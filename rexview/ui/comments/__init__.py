"""Comments on a case: the panel, what can be commented on, and the entries."""
