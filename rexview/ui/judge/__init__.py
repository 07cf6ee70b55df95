"""Opinions of a judge, a model that gives a second opinion: hidden unless the link names it."""
