"""Run models: the request as it is sent, its cost, and the runs of the set."""

import streamlit as st

from rexview.ui.asking.run_forms import choose_judge
from rexview.ui.asking.run_list import show_runs
from rexview.ui.filter_panel import open_filtered_set, show_panel
from rexview.ui.run_models import choose_request_kind, choose_run, show_request
from rexview.ui.web.access import permissions
from rexview.ui.web.app.shell import page_header
from rexview.ui.web.link.pages import PAGE_RUN_MODELS
from rexview.words import tr

permissions.guard(PAGE_RUN_MODELS)
filtered = open_filtered_set()
page_header(tr("Run models"))
show_panel(filtered)
wanted = None
if choose_request_kind():
    choose_judge(filtered)
else:
    wanted = choose_run(filtered)
sending = st.container()
st.markdown(f"## {tr('Runs')}")
show_runs(filtered.review_set)  # first: they do not wait for the estimate
if wanted is not None:
    with sending:
        show_request(filtered.review_set, wanted)
