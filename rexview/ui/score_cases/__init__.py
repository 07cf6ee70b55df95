"""The Score page, on which blinded readers score answers."""
