"""What to run: the widgets, whose values the link keeps, and what the model's card says."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Final, get_args
from urllib.parse import urlencode

import streamlit as st

from rexview.analysis.run_models.wanted import CONCURRENCY, MOST_AT_ONCE, Wanted
from rexview.errors import SettingsError
from rexview.models.asking.cards import find_card, well_known
from rexview.models.asking.prompts import find_prompt, list_prompts
from rexview.models.card import Card
from rexview.models.request import Api
from rexview.models.running.plan import known_cases, unanswered
from rexview.schema import ReviewSet
from rexview.ui.filters.page import FilteredSet
from rexview.ui.html.safe_text import as_markdown, lines_as_markdown
from rexview.ui.link import keys as link_keys
from rexview.ui.link.choices import kept_in_link, option_kept_in_link
from rexview.ui.run_models.edit import edit_card, edit_prompt
from rexview.ui.run_models.html import card_words

_PLACES: Final = {
    "openai": "OpenAI",
    "server": "Another server",
    "here": "This computer",
}
_APIS: Final = {"chat": "Chat Completions", "responses": "Responses"}
_MOST_REPEATS: Final = 100
_MOST_TOKENS: Final = 1_000_000
_LONGEST: Final = 400
_LONGEST_IDS: Final = 4_000


def choose(filtered: FilteredSet) -> Wanted | None:
    """Show what can be chosen; return what is wanted, None where something is still to be said."""
    review_set = filtered.review_set
    left, right = st.columns([3, 2], gap="medium")
    with left:
        model = _model(review_set)
    with right:
        place = _choice("Where", link_keys.QUERY_RUN_PLACE, _PLACES, "openai")
    base_url, api = _server() if place == "server" else (None, None)
    if place == "here":
        api = "transformers"
    if not model:
        st.info("Choose a model, or type its name as the server knows it.")
        return None
    declared = next((one for one in review_set.models if one.id == model), None)
    try:
        card = find_card(model, review_set.folder, declared)
    except SettingsError as error:
        st.error(lines_as_markdown(error), icon=":material/error:")
        edit_card(model, Card((model.lower(),)), review_set)
        return None
    st.html(card_words(card))
    edit_card(model, card, review_set)
    left, right = st.columns([2, 3], gap="medium")
    with left:
        prompt = _prompt(card, review_set)
    with right:
        cases = _cases(filtered, model)
    more = _numbers()
    batch = place == "openai" and _batch()
    if place == "server" and not base_url:
        st.info("Give the server's address.")
        return None
    if prompt is None or cases is None:
        return None
    ids, query = cases
    if ids == ():
        st.info("No case is left to be asked.")
        return None
    return Wanted(
        model=model,
        api=api,
        base_url=base_url,
        prompt=prompt,
        cases=ids,
        query=query,
        batch=batch,
        **more,
    )


def _model(review_set: ReviewSet) -> str:
    asked = (link_keys.query_value(link_keys.QUERY_RUN_MODEL) or "").strip()[:_LONGEST]
    names = [model.id for model in review_set.models]
    options = list(dict.fromkeys(filter(None, (*names, *well_known(), asked))))
    kept = kept_in_link(
        "run_model", link_keys.QUERY_RUN_MODEL, asked or None, lambda chosen: chosen or None
    )
    chosen = st.selectbox(
        "Model",
        options,
        index=None,
        accept_new_options=True,
        placeholder="Choose, or type a name",
        help="Its name on the server, or the folder of a model on this computer.",
        **kept,
    )
    return (chosen or "").strip()[:_LONGEST]


def _choice(label: str, query: str, options: dict[str, str], usual: str) -> str:
    return str(
        st.segmented_control(
            as_markdown(label),
            list(options),
            format_func=lambda option: as_markdown(options[option]),
            required=True,
            **option_kept_in_link(f"run_{query}", query, options, usual),
        )
    )


def _server() -> tuple[str, Api | None]:
    left, right = st.columns([3, 2], gap="medium")
    with left:
        address = _text(
            "Address",
            link_keys.QUERY_RUN_URL,
            placeholder="http://localhost:8000/v1",
            help="The base URL of a server that speaks one of OpenAI's APIs, such as vLLM, "
            "llama.cpp or Ollama. It mostly ends with /v1.",
        )
    with right:
        chosen = _choice("API", link_keys.QUERY_RUN_API, _APIS, "chat")
    return address, next((api for api in get_args(Api) if api == chosen), None)


def _text(label: str, query: str, *, longest: int = _LONGEST, **more: Any) -> str:
    kept = kept_in_link(
        f"run_{query}", query, link_keys.query_value(query) or "", lambda text: text.strip() or None
    )
    return str(st.text_input(as_markdown(label), max_chars=longest, **kept, **more)).strip()


def _prompt(card: Card, review_set: ReviewSet) -> str | None:
    try:
        usual = find_prompt(None, card, review_set.folder).id
    except SettingsError as error:
        st.error(lines_as_markdown(error), icon=":material/error:")
        return None
    names = list_prompts(review_set.folder)
    chosen = str(
        st.selectbox(
            "Wording",
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
    ways = {"new": f"Not answered by it yet ({len(new):,})"}
    if case_filter.active:
        ways["filter"] = f"Of the filter ({total:,})"
    ways |= {"all": f"All ({len(everything):,})", "ids": "By id"}
    usual = "filter" if case_filter.active else "new"
    way = _choice("Cases", link_keys.QUERY_RUN_CASES, ways, usual)
    if way == "ids":
        return _ids(everything)
    if way == "filter":
        query = urlencode(case_filter.to_query(), doseq=True)
        return filtered.engine.page(case_filter, 0, total), query
    return (new if way == "new" else None), None


def _ids(everything: Collection[str]) -> tuple[tuple[str, ...], None] | None:
    text = _text("Ids", link_keys.QUERY_RUN_IDS, placeholder="c01, c02", longest=_LONGEST_IDS)
    ids = [text] if text in everything else [one.strip() for one in text.split(",")]
    named = tuple(dict.fromkeys(filter(None, ids)))
    unknown = [one for one in named if one not in everything]
    if unknown:
        st.error(as_markdown(f"Not in the review set: {', '.join(unknown[:5])}"))
    if unknown or not named:
        return None
    return named, None


def _numbers() -> dict[str, Any]:
    """Return repeats, limit, budget and how many at once, as :class:`Wanted` has them."""
    columns = st.columns(4, gap="small")
    with columns[0]:
        repeats = _number(
            "Times each",
            link_keys.QUERY_RUN_REPEATS,
            1,
            _MOST_REPEATS,
            "How often a case is asked.",
        )
    with columns[1]:
        limit = _number(
            "Longest answer, tokens",
            link_keys.QUERY_RUN_LIMIT,
            None,
            _MOST_TOKENS,
            "Empty leaves it to the server.",
        )
    with columns[2]:
        budget = _text(
            "Budget",
            link_keys.QUERY_RUN_BUDGET,
            placeholder="5USD or 200000tokens",
            help="The most that is spent. Empty: no limit.",
        )
    with columns[3]:
        at_once = _number(
            "At once",
            link_keys.QUERY_RUN_AT_ONCE,
            CONCURRENCY,
            MOST_AT_ONCE,
            "Requests under way at the same time.",
        )
    return {
        "repeats": repeats,
        "max_output_tokens": limit,
        "budget": budget or None,
        "concurrency": at_once,
    }


def _batch() -> bool:
    """Offer the Batch API."""
    kept = kept_in_link(
        "run_batch",
        link_keys.QUERY_RUN_BATCH,
        link_keys.query_value(link_keys.QUERY_RUN_BATCH) == "1",
        lambda chosen: "1" if chosen else None,
    )
    return st.toggle(
        "As a batch",
        help="Sent in files and answered within a day, for half the price. No budget can be kept.",
        **kept,
    )


def _number(label: str, query: str, usual: int | None, most: int, words: str) -> int | None:
    text = link_keys.query_value(query) or ""
    asked = int(text) if text.isdecimal() and len(text) < 9 else 0
    kept = kept_in_link(
        f"run_{query}",
        query,
        asked if 1 <= asked <= most else usual,
        lambda number: None if number in (None, usual) else str(number),
    )
    found: int | None = st.number_input(
        as_markdown(label),
        min_value=1,
        max_value=most,
        value=None,
        step=1,
        help=as_markdown(words),
        **kept,
    )
    return usual if found is None else found
