"""Server state that lasts until the server stops: open review sets, caches, sealed tokens."""
