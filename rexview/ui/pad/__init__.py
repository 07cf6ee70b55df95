"""What pads have in common: parts of a page on which a person goes through items one by one."""
