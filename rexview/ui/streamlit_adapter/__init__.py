"""Streamlit's insides, in one place: what is not its public interface is used here only.

:mod:`.served_routes` knows what Streamlit serves and takes, :mod:`.process` what it does at start,
:mod:`.sign_in_cookie` where it keeps who is signed in, :mod:`.script_run` how a run ends,
:mod:`.theme` where the browser keeps the theme, ``in_app.js`` how a page is changed without a
reload, :mod:`.page_ids` the ids of its page that our styles and scripts reach for. Each has a test
in ``tests/ui/streamlit_adapter`` that fails by name when a new Streamlit changes it.
"""
