"""What is installed, reachable and writable here: ``python -m rexview doctor``.

A module for each kind of check. Each asks what the app itself asks, and leaves nothing behind.
"""
