"""What to run on cases: the widgets, whose values the link keeps."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final
from urllib.parse import urlencode

import streamlit as st

from rexview.analysis.run_models.run_request import RunRequest
from rexview.errors import SettingsError
from rexview.models.asking.prompts import find_prompt, list_prompts
from rexview.models.backend import Card
from rexview.models.running.run import known_cases, unanswered
from rexview.schema import ReviewSet
from rexview.ui.asking.choices import choice, choose_model, limits, number, text
from rexview.ui.asking.edit import edit_prompt
from rexview.ui.filters.page import FilteredSet
from rexview.ui.html.safe_text import as_markdown, lines_as_markdown
from rexview.ui.link import keys as link_keys
from rexview.ui.link.choices import kept_in_link, option_kept_in_link
from rexview.words import tr

_ABOUT: Final = {"cases": tr("Answers to cases"), "answers": tr("Second opinion on answers")}
_MOST_REPEATS: Final = 100
_LONGEST_IDS: Final = 4_000


def asks_judge() -> bool:
    """Offer what a model is asked for; return whether it is a second opinion."""
    return choice(tr("Ask for"), link_keys.QUERY_RUN_ABOUT, _ABOUT, "cases") == "answers"


def choose(filtered: FilteredSet) -> RunRequest | None:
    """Show what can be chosen; return what is wanted, None where something is still to be said."""
    review_set = filtered.review_set
    chosen = choose_model(review_set)
    if chosen is None:
        return None
    left, right = st.columns([2, 3], gap="medium")
    with left:
        prompt = _prompt(chosen.card, review_set)
    with right:
        cases = _cases(filtered, chosen.model)
    left, right = st.columns([1, 3], gap="small")
    with left:
        repeats = number(
            tr("Times each"),
            link_keys.QUERY_RUN_REPEATS,
            1,
            _MOST_REPEATS,
            tr("How often a case is asked."),
        )
    with right:
        more = limits()
    batch = chosen.place == "openai" and _batch()
    if not chosen.complete or prompt is None or cases is None:
        return None
    ids, query = cases
    if ids == ():
        st.info(tr("No case is left to be asked."))
        return None
    return chosen.wanted(
        prompt=prompt, cases=ids, query=query, repeats=repeats, batch=batch, **more
    )


def _prompt(card: Card, review_set: ReviewSet) -> str | None:
    try:
        usual = find_prompt(None, card, review_set.folder).id
    except SettingsError as error:
        st.error(lines_as_markdown(error), icon=":material/error:")
        return None
    names = list_prompts(review_set.folder)
    chosen = str(
        st.selectbox(
            tr("Wording"),
            names,
            **option_kept_in_link("run_prompt", link_keys.QUERY_RUN_PROMPT, names, usual),
        )
    )
    try:
        prompt = find_prompt(chosen, card, review_set.folder)
    except SettingsError as error:
        st.error(lines_as_markdown(error), icon=":material/error:")
        return None
    edit_prompt(prompt, review_set)
    return chosen


def _cases(filtered: FilteredSet, model: str) -> tuple[tuple[str, ...] | None, str | None] | None:
    """Return ids (None: all) and the link's query that they come from; None while none is named."""
    review_set, case_filter, total = (
        filtered.review_set,
        filtered.case_filter,
        filtered.counts.total,
    )
    new, everything = unanswered(review_set, model), known_cases(review_set)
    ways = {"new": tr("Not answered by it yet ({n:,})").format(n=len(new))}
    if case_filter.active:
        ways["filter"] = tr("Of the filter ({n:,})").format(n=total)
    ways |= {
        "all": tr("All ({n:,})").format(n=len(everything)),
        "ids": tr("By id"),
    }
    usual = "filter" if case_filter.active else "new"
    way = choice(tr("Cases"), link_keys.QUERY_RUN_CASES, ways, usual)
    if way == "ids":
        return _ids(everything)
    if way == "filter":
        query = urlencode(case_filter.to_query(), doseq=True)
        return filtered.engine.page(case_filter, 0, total), query
    return (new if way == "new" else None), None


def _ids(everything: Collection[str]) -> tuple[tuple[str, ...], None] | None:
    typed = text(tr("Ids"), link_keys.QUERY_RUN_IDS, placeholder="c01, c02", longest=_LONGEST_IDS)
    ids = [typed] if typed in everything else [one.strip() for one in typed.split(",")]
    named = tuple(dict.fromkeys(filter(None, ids)))
    unknown = [one for one in named if one not in everything]
    if unknown:
        st.error(
            as_markdown(tr("Not in the review set: {cases}").format(cases=", ".join(unknown[:5])))
        )
    if unknown or not named:
        return None
    return named, None


def _batch() -> bool:
    """Offer the Batch API."""
    kept = kept_in_link(
        "run_batch",
        link_keys.QUERY_RUN_BATCH,
        link_keys.query_value(link_keys.QUERY_RUN_BATCH) == "1",
        lambda chosen: "1" if chosen else None,
    )
    return st.toggle(
        tr("As a batch"),
        help=tr(
            "Sent in files and answered within a day, for half the price. No budget can be kept."
        ),
        **kept,
    )
