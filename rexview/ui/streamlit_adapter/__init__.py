"""Streamlit's insides, in one place: what is not its public interface is used here only."""
