"""What lives as long as the server: open review sets, caches, sealed tokens."""
