"""All uses of what is not Streamlit's public interface.

:mod:`.served_routes` knows Streamlit's routes, :mod:`.process` its start, :mod:`.sign_in_cookie`
where it stores who is signed in, :mod:`.script_run` how a run ends, :mod:`.page_markup` the ids and
the theme of its page. ``in_app.js`` changes the page without a reload. Each has a test in
``tests/ui/web/streamlit_adapter`` that fails by name when a new Streamlit changes it.
"""
