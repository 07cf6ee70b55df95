"""The address: its keys, the newest one asked for, links inside the app."""
