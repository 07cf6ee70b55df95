"""How Streamlit runs the script of a page: what it raises to begin anew, what a page is to it."""

from streamlit.navigation.page import StreamlitPage
from streamlit.runtime.scriptrunner import RerunException

__all__ = ["RerunException", "StreamlitPage"]
