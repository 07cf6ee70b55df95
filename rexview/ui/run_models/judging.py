"""A second opinion on answers: which model gives it, on what, and its start."""

from __future__ import annotations

from typing import Final
from urllib.parse import urlencode

import streamlit as st

from rexview.analysis.run_models.wanted import Wanted
from rexview.ui.asking.choices import choice, choose_model, limits
from rexview.ui.asking.jobs import begin_form
from rexview.ui.filters.page import FilteredSet
from rexview.ui.html.safe_text import as_markdown
from rexview.ui.link import keys as link_keys
from rexview.ui.link.choices import kept_in_link
from rexview.vocab import counted

_WHAT: Final = {"both": "Failures and scores", "failures": "Failures", "scores": "Scores"}


def choose_judge(filtered: FilteredSet) -> None:
    """Show what a judge can be asked, what that takes, and the start."""
    review_set, case_filter = filtered.review_set, filtered.case_filter
    st.caption(
        "A language model's opinion on the models' answers. It stands apart from what readers and "
        "rules say, and pages show it only when asked to. Blinded readers never see it."
    )
    judge = choose_model(review_set)
    if judge is None:
        return
    left, middle, right = st.columns([7, 4, 5], gap="medium")
    with left:
        what = choice("Opinion on", link_keys.QUERY_JUDGED["what"], _WHAT, "both")
    with middle:
        models = _models(filtered)
    with right:
        ways = {"all": "All"}
        if case_filter.active:
            ways = {"filter": f"Of the filter ({filtered.counts.total:,})", **ways}
        way = choice("Cases", link_keys.QUERY_JUDGED["cases"], ways, next(iter(ways)))
    more = limits()
    if not judge.complete:
        return
    wanted = Wanted(model=judge.model, api=judge.api, base_url=judge.base_url, **more)
    own = [f"--{what}"] if what != "both" else []
    own += [f"--model={model}" for model in models]
    if way == "filter":
        own.append(f"--filter={urlencode(case_filter.to_query(), doseq=True)}")
    total = filtered.counts.total if way == "filter" else review_set.cases.height
    sent = "reports and images" if judge.card.images else "and reports"
    about = f"Questions, answers, {sent} of up to {counted(total, 'case')}"
    st.markdown("## Estimate and start")
    begin_form(review_set, wanted, "judge", own, about)


def _models(filtered: FilteredSet) -> list[str]:
    """Offer whose answers are judged; none chosen means all."""
    names = {model.id: model.name for model in filtered.review_set.models}
    query = link_keys.QUERY_JUDGED["models"]
    asked = [one for one in st.query_params.get_all(query) if one in names]
    kept = kept_in_link("judged_models", query, asked, lambda chosen: list(chosen) or None)
    return st.multiselect(
        "Answers of",
        list(names),
        format_func=lambda one: as_markdown(names[one]),
        placeholder="All models",
        **kept,
    )
