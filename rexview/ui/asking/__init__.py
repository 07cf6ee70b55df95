"""Asking models from a page: which, where and within which limits; how far, and what came."""
