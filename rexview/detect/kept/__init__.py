"""What detectors found, kept on disk: what it depends on, and how it is read again."""
