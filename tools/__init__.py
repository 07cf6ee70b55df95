"""Tools for developing rexview; the app itself needs none of them."""
