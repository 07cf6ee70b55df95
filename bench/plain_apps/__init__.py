"""Streamlit apps for comparison: an empty one, and the naive way to show boxes."""
