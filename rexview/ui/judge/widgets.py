"""What pages show of a judge, once it is chosen or the filter asks for what it says."""

from __future__ import annotations

from functools import partial
from typing import Final

import streamlit as st

from rexview.analysis import CaseFilter, Engine, model_colours
from rexview.analysis.download_files import TableFile
from rexview.analysis.download_frames import (
    JUDGE_SHARES,
    judge_agreement_frame,
    judge_failure_frame,
    judge_score_frame,
)
from rexview.analysis.judges import failures_caption, filter_captions, scores_caption
from rexview.stats.judges import Judge
from rexview.ui.html.safe_text import as_markdown
from rexview.ui.judge import html as judge_html
from rexview.ui.server import query_cache
from rexview.ui.tables.table_download import show_table
from rexview.words import tr

_TABLE: Final = "judge-failures"
"""Where the link to the table of failures leads, on the page."""


def show_filter_agreement(engine: Engine, case_filter: CaseFilter) -> None:
    """Show how far judges that the filter asks for agree with readers; else nothing."""
    for caption in filter_captions(engine, case_filter):
        st.caption(as_markdown(caption))


def show_where_failures(judge: Judge) -> None:
    """Lead to the table of the failures that a judge sees, further down on the page."""
    words = tr("To the failures that {name} sees, below Table 4")
    st.markdown(f"[{as_markdown(words.format(name=judge.name))}](#{_TABLE})")


def show_failures(engine: Engine, case_filter: CaseFilter, judge: Judge | None) -> None:
    """Show which failures a judge sees; nothing where none is chosen, or it spoke of none."""
    if judge is None:
        return
    tables = query_cache.judged(engine, case_filter, judge)
    if not tables.failures:
        return
    title = tr("Judge {name}: failures that it sees").format(name=judge.name)
    st.html(f'<span id="{_TABLE}" class="rx-anchor"></span>')
    drawn = judge_html.failures_html(tables, dict(model_colours(engine.facts.models)), title)
    caption = failures_caption(tables.agreement)
    show_table(
        drawn,
        TableFile(title, partial(judge_failure_frame, tables), caption, JUDGE_SHARES),
        key="judge_failures",
    )


def show_scores(engine: Engine, case_filter: CaseFilter, judge: Judge | None) -> None:
    """Show a judge's mean scores beside the readers'."""
    if judge is None:
        return
    tables = query_cache.judged(engine, case_filter, judge)
    if not tables.scores:
        return
    title = tr("Judge {name}: its scores beside the readers’").format(name=judge.name)
    drawn = judge_html.scores_html(tables, dict(model_colours(engine.facts.models)), title)
    caption = scores_caption(tables.agreement)
    show_table(
        drawn,
        TableFile(title, partial(judge_score_frame, tables), caption, JUDGE_SHARES),
        key="judge_scores",
    )


def show_agreement(engine: Engine, case_filter: CaseFilter, judge: Judge | None) -> None:
    """Show how far a judge agrees with the readers' scores, apart from readers."""
    if judge is None:
        return
    tables = query_cache.judged(engine, case_filter, judge)
    if not tables.agreement.scores:
        return
    title = tr("Judge {name} and the readers’ final scores").format(name=judge.name)
    caption = scores_caption(tables.agreement, more=True)
    drawn = judge_html.agreement_html(tables, title)
    show_table(
        drawn,
        TableFile(title, partial(judge_agreement_frame, tables), caption, JUDGE_SHARES),
        key="judge_agreement",
    )
