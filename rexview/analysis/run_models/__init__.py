"""A run of a model on an open review set: what a page and the command line both ask for."""
