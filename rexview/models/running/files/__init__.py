"""Files of a run that a crash, a full disk or a second process must not damage."""
