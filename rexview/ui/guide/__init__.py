"""The page Guide: how to use the app, by role; its texts and pictures lie in ``assets/guides``."""
