"""Who may see and do what: sign-in, permissions, the middleware that lets requests through."""
