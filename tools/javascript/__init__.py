"""Check the JavaScript: settings, pinned tools, and the command that runs them."""
