"""The address: its keys, its latest requested state, links inside the app."""
