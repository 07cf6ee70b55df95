"""Check what is installed, reachable and writable here: ``python -m rexview doctor``.

The modules group the checks. Each check asks what the app itself asks, and leaves nothing behind.
"""
