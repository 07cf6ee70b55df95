"""A judge is asked about answers: of which models, to which cases, and the start.

The link keeps what is chosen.
"""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import urlencode

import streamlit as st

from rexview.ui.asking.choices import Chosen, choice, limits
from rexview.ui.asking.jobs import begin_form
from rexview.ui.filters.page import FilteredSet
from rexview.ui.html.safe_text import as_markdown
from rexview.ui.link import keys as link_keys
from rexview.ui.link.choices import kept_in_link
from rexview.words import counted, tr


def choose_cases(filtered: FilteredSet) -> tuple[list[str], int]:
    """Offer the cases of the filter, or all; return that as arguments, and how many cases."""
    case_filter, total = filtered.case_filter, filtered.counts.total
    ways = {"all": tr("All")}
    if case_filter.active:
        ways = {"filter": tr("Of the filter ({n:,})").format(n=total), **ways}
    way = choice(tr("Cases"), link_keys.QUERY_JUDGED["cases"], ways, next(iter(ways)))
    if way != "filter":
        return [], filtered.review_set.cases.height
    return [f"--filter={urlencode(case_filter.to_query(), doseq=True)}"], total


def choose_models(filtered: FilteredSet) -> list[str]:
    """Offer whose answers are judged, as arguments; none chosen means all."""
    names = {model.id: model.name for model in filtered.review_set.models}
    query = link_keys.QUERY_JUDGED["models"]
    asked = [one for one in st.query_params.get_all(query) if one in names]
    kept = kept_in_link("judged_models", query, asked, lambda chosen: list(chosen) or None)
    chosen = st.multiselect(
        tr("Answers of"),
        list(names),
        format_func=lambda one: as_markdown(names[one]),
        placeholder=tr("All models"),
        **kept,
    )
    return [f"--model={model}" for model in chosen]


def begin_judge(
    filtered: FilteredSet,
    judge: Chosen,
    own: Sequence[str],
    cases: int,
    sent: tuple[str, str],
    *,
    heading: str = "",
) -> None:
    """Show the limits, what a judge is sent and takes, and its start.

    ``own`` are arguments of the command; ``sent`` says what goes to a judge that takes images, and
    to one that does not: ``Answers of {cases}``.
    """
    more = limits()
    if not judge.complete:
        return
    if heading:
        st.markdown(heading)
    what = sent[0 if judge.card.images else 1].format(cases=counted(cases, "case"))
    begin_form(filtered.review_set, judge.wanted(**more), "judge", own, what)
