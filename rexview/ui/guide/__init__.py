"""The page Guide: how to use the app, by role; its texts and images are in ``assets/guides``."""
