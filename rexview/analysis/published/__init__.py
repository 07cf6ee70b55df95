"""Figures printed in papers, to stand beside a reader's own: one module a paper."""
