"""Which judge is shown: none, unless the link names one. It is remembered nowhere else."""

from __future__ import annotations

import streamlit as st

from rexview.analysis import SetFacts
from rexview.analysis.filter.judge_conditions import judge_word
from rexview.stats.judges import Judge
from rexview.ui.link import keys as link_keys
from rexview.ui.link.choices import option_kept_in_link
from rexview.words import tr

_OFF = ""
_HELP = tr(
    "A language model’s second opinion on answers. It counts in no other "
    "number, and readers who score without seeing models never see it."
)


def judge_named(facts: SetFacts, word: str | None) -> Judge | None:
    """Return the judge that a link's word names; None for none, and for one that is not there."""
    return next((judge for judge in facts.judges if word and judge_word(judge) == word), None)


def choose_judge(facts: SetFacts) -> Judge | None:
    """Offer the judges of the set, the newest first; None when none is shown.

    A set without opinions offers nothing.
    """
    if not facts.judges:
        return None
    by_word = {judge_word(judge): judge for judge in facts.judges}
    chosen = st.selectbox(
        tr("Judge"),
        [_OFF, *by_word],
        format_func=lambda word: by_word[word].name if word else tr("Not shown"),
        help=_HELP,
        width=320,
        **option_kept_in_link("judge_shown", link_keys.QUERY_JUDGE, [_OFF, *by_word], _OFF),
    )
    return by_word.get(chosen or _OFF)
