"""Data: what is open, open another review set, check a folder, import other formats."""

import streamlit as st

from rexview.ui.access import permissions
from rexview.ui.app import reviews_notice
from rexview.ui.app.shell import page_header, try_review_set
from rexview.ui.data import forms
from rexview.ui.html.problem_table import show_problems
from rexview.ui.html.safe_text import lines_as_markdown
from rexview.ui.link.pages import PAGE_DATA

permissions.guard(PAGE_DATA)
review_set, error = try_review_set()

page_header("Data")
left, right = st.columns([3, 2], gap="large")

with left:
    st.subheader("Open now")
    if review_set is not None:
        forms.show_open_set(review_set)
        reviews_notice.show_reviews(review_set)
    else:
        st.error(lines_as_markdown(error), icon=":material/error:")
        show_problems(getattr(error, "problems", ()), key="open")

with right:
    st.subheader("Open another")
    forms.open_form()

st.divider()
check_tab, import_tab, format_tab = st.tabs(
    ["Check a folder", "Import", "Make your own"], on_change="rerun", key="data_tab"
)
if check_tab.open:
    with check_tab:
        forms.check_form()
if import_tab.open:
    with import_tab:
        forms.import_form()
if format_tab.open:
    with format_tab:
        forms.show_format()
