"""The only part that imports streamlit (beside the pages)."""
