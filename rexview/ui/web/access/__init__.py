"""Access control: sign-in, permissions, and the middleware that checks requests."""
