"""Data: the open set; open another review set, check a folder, import other formats."""

import streamlit as st

from rexview.ui import reviews as reviews_notice
from rexview.ui.data import set_forms as data_widgets
from rexview.ui.tables.data_table import show_error
from rexview.ui.web.access import permissions
from rexview.ui.web.app.shell import page_header, try_review_set
from rexview.ui.web.link.link_choices import view_tabs
from rexview.ui.web.link.pages import PAGE_DATA
from rexview.words import tr

permissions.guard(PAGE_DATA)
review_set, error = try_review_set()

page_header(tr("Data"))
left, right = st.columns([3, 2], gap="large")

with left:
    st.header(tr("Open now"))
    if review_set is not None:
        data_widgets.show_open_set(review_set)
        reviews_notice.show_reviews(review_set)
    else:
        show_error(error, key="open")

with right:
    st.header(tr("Open another"))
    data_widgets.open_form()

st.divider()
check_tab, import_tab, format_tab = view_tabs(
    "data", {"check": tr("Check a folder"), "import": tr("Import"), "format": tr("Make your own")}
)
if check_tab.open:
    with check_tab:
        data_widgets.check_form()
if import_tab.open:
    with import_tab:
        data_widgets.import_form(review_set)
if format_tab.open:
    with format_tab:
        data_widgets.show_format()
