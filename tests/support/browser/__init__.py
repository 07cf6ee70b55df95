"""Pages in a real browser: how they are opened, waited for, signed in to and listened to."""
