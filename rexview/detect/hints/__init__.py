"""What hints at missed and invented findings rest on: what was asked for, what is claimed."""
