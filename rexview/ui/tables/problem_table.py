"""A list of problems with given data, as a table that can be taken away."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict

import streamlit as st

from rexview.errors import Problem, RexviewError
from rexview.ui.html.safe_text import lines_as_markdown
from rexview.ui.tables.wide_table import show_wide_table
from rexview.words import tr

_COLUMNS = {
    "severity": tr("Severity"),
    "file": tr("File"),
    "row": tr("Row"),
    "field": tr("Field"),
    "message": tr("What is wrong"),
    "remedy": tr("What to do"),
}


def show_error(error: RexviewError | None, *, key: str) -> None:
    """Say what failed, and list the problems that it brings with it."""
    st.error(lines_as_markdown(error), icon=":material/error:")
    show_problems(getattr(error, "problems", ()), key=key)


def show_problems(problems: Sequence[Problem], *, key: str) -> None:
    """Show problems, errors first, with a download; nothing when there are none."""
    if not problems:
        return
    ordered = sorted(problems, key=lambda problem: problem.severity != "error")
    import pandas as pd  # takes a third of a second: only where something is wrong

    frame = pd.DataFrame([asdict(problem) for problem in ordered], columns=list(_COLUMNS))
    frame["row"] = frame["row"].astype("Int64")
    show_wide_table(
        frame.rename(columns=_COLUMNS),
        key=f"{key}_table",
        column_config={
            "What is wrong": st.column_config.TextColumn(width="large"),
            "What to do": st.column_config.TextColumn(width="large"),
        },
    )
    st.download_button(
        tr("Download this list"),
        json.dumps([asdict(problem) for problem in ordered], indent=1, ensure_ascii=False),
        file_name="problems.json",
        mime="application/json",
        key=f"{key}_download",
        on_click="ignore",
    )
