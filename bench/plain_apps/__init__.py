"""Streamlit apps to measure beside: an empty one, and the naive way to show boxes."""
