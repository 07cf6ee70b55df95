"""How a model is asked, whatever about: which one, where, within which limits.

The link keeps what is chosen.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, get_args

import streamlit as st

from rexview.analysis.run_models.run_request import CONCURRENCY, MOST_AT_ONCE, RunRequest
from rexview.errors import SettingsError
from rexview.models.asking.cards import find_card, well_known
from rexview.models.backend import Api, Card
from rexview.schema import ReviewSet
from rexview.ui.asking.edit import edit_card
from rexview.ui.asking.html import card_words
from rexview.ui.html.safe_text import as_markdown, lines_as_markdown
from rexview.ui.link import keys as link_keys
from rexview.ui.link.choices import kept_in_link, option_kept_in_link
from rexview.ui.streamlit_adapter.pressed import typed_fields, words_taken
from rexview.words import tr

_PLACES: Final = {
    "openai": "OpenAI",
    "server": tr("Another server"),
    "here": tr("This computer"),
}
_APIS: Final = {"chat": "Chat Completions", "responses": "Responses"}
_MOST_TOKENS: Final = 1_000_000
_LONGEST: Final = 400


@dataclass(frozen=True)
class Chosen:
    """A model and where it is asked; ``base_url`` is None where the usual server is meant."""

    model: str
    card: Card
    place: str
    base_url: str | None
    api: Api | None

    @property
    def complete(self) -> bool:
        """Whether nothing is still to be said; shows what is."""
        if self.place == "server" and not self.base_url:
            st.info(tr("Give the server's address."))
            return False
        return True

    def wanted(self, **more: Any) -> RunRequest:
        """Return what is wanted of it: ``more`` are the other fields."""
        return RunRequest(model=self.model, api=self.api, base_url=self.base_url, **more)


def choose_model(review_set: ReviewSet) -> Chosen | None:
    """Show which model is asked, and where; None where one is still to be named."""
    left, right = st.columns([3, 2], gap="medium")
    with left:
        model = _model(review_set)
    with right:
        place = choice(tr("Where"), link_keys.QUERY_RUN_PLACE, _PLACES, "openai")
    base_url, api = _server() if place == "server" else (None, None)
    if place == "here":
        api = "transformers"
    if not model:
        st.info(tr("Choose a model, or type its name as the server knows it."))
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
    return Chosen(model, card, place, base_url, api)


def _model(review_set: ReviewSet) -> str:
    asked = (link_keys.query_value(link_keys.QUERY_RUN_MODEL) or "").strip()[:_LONGEST]
    names = [model.id for model in review_set.models]
    groups = [well_known(), names] if review_set.info.notice else [names, well_known()]
    options = list(dict.fromkeys(filter(None, (*groups[0], *groups[1], asked))))
    kept = kept_in_link(
        "run_model", link_keys.QUERY_RUN_MODEL, asked or None, lambda chosen: chosen or None
    )
    chosen = st.selectbox(
        tr("Model"),
        options,
        index=None,
        accept_new_options=True,
        placeholder=tr("Choose, or type a name"),
        help=tr("Its name on the server, or the folder of a model on this computer."),
        **kept,
    )
    return (chosen or "").strip()[:_LONGEST]


def choice(label: str, query: str, options: dict[str, str], usual: str) -> str:
    """Offer some options; return the one that is chosen."""
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
        address = text(
            tr("Address"),
            link_keys.QUERY_RUN_URL,
            placeholder="http://localhost:8000/v1",
            help=tr(
                "The base URL of a server that speaks one of OpenAI's APIs, such as "
                "vLLM, llama.cpp or Ollama. It mostly ends with /v1."
            ),
        )
    with right:
        chosen = choice("API", link_keys.QUERY_RUN_API, _APIS, "chat")
    return address, next((api for api in get_args(Api) if api == chosen), None)


def text(label: str, query: str, *, longest: int = _LONGEST, **more: Any) -> str:
    """Offer a line to type; return it, without spaces around."""
    kept = kept_in_link(
        f"run_{query}",
        query,
        link_keys.query_value(query) or "",
        lambda typed: typed.strip() or None,
    )

    def changed() -> None:
        kept["on_change"]()
        words_taken(query)

    with typed_fields(query):
        more |= {"key": kept["key"], "on_change": changed, "max_chars": longest}
        return str(st.text_input(as_markdown(label), **more)).strip()


def limits() -> dict[str, Any]:
    """Return the longest answer, the budget and how many at once, as :class:`Wanted` has them."""
    columns = st.columns(3, gap="small")
    with columns[0]:
        limit = number(
            tr("Longest answer, tokens"),
            link_keys.QUERY_RUN_LIMIT,
            None,
            _MOST_TOKENS,
            tr("Empty leaves it to the server."),
        )
    with columns[1]:
        budget = text(
            tr("Budget"),
            link_keys.QUERY_RUN_BUDGET,
            placeholder=tr("5 USD or 200,000 tokens"),
            help=tr("The most that is spent. Empty: no limit."),
        )
    with columns[2]:
        at_once = number(
            tr("Requests at a time"),
            link_keys.QUERY_RUN_AT_ONCE,
            CONCURRENCY,
            MOST_AT_ONCE,
            tr("How many are under way together."),
        )
    return {"max_output_tokens": limit, "budget": budget or None, "concurrency": at_once}


def number(label: str, query: str, usual: int | None, most: int, words: str) -> int | None:
    """Offer a number from 1; return it, the usual one where none is typed."""
    typed = link_keys.query_value(query) or ""
    asked = int(typed) if typed.isdecimal() and len(typed) < 9 else 0
    kept = kept_in_link(
        f"run_{query}",
        query,
        asked if 1 <= asked <= most else usual,
        lambda chosen: None if chosen in (None, usual) else str(chosen),
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
