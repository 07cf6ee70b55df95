"""All uses of Streamlit's private interfaces.

:mod:`.served_routes` lists Streamlit's routes, :mod:`.process` changes its start,
:mod:`.sign_in_cookie` reads its cookie, :mod:`.script_run` handles the end of a run, and
:mod:`.page_markup` has the ids and the theme of its page. ``in_app.js`` changes the page without a
reload. Each has a test in ``tests/ui/web/streamlit_adapter`` that names what a new Streamlit
breaks.
"""
