"""What detectors have in common, the scan that runs them, and what readers say of flags."""
