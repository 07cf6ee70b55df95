"""The web interface: the only part, besides the pages, that imports streamlit."""
