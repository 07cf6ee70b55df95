"""A page with a download, whose run waits above it as long as a file is there."""

import os
import time
from pathlib import Path

import streamlit as st

from rexview.ui.web.streamlit_adapter.process import keep_downloads

st.cache_resource(keep_downloads)()
runs = st.session_state["runs"] = st.session_state.get("runs", 0) + 1
st.button("Run")
busy = Path(os.environ["REXVIEW_TEST_BUSY"])
while runs > 1 and busy.exists():
    time.sleep(0.05)
st.download_button(
    "File", lambda: f"of run {runs}", "file.csv", "text/csv", key="file", on_click="ignore"
)
st.text(f"Run {runs}")
