"""An empty Streamlit app, for comparison."""

import streamlit as st

st.write("Empty")
