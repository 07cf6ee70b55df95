"""Choice of the model to query: which one, where, with which prompt and limits.

The link keeps the choice.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, get_args

import streamlit as st

from rexview.addresses import remote_set_address
from rexview.analysis.run_models.jobs import missing_requirements
from rexview.analysis.run_models.local_memory import estimate_local_memory
from rexview.analysis.run_models.run_request import DEFAULT_CONCURRENCY, MAX_CONCURRENCY, RunRequest
from rexview.errors import RexviewError, RunError, SettingsError
from rexview.models.asking.edited_files import models_text, save_models, save_prompt
from rexview.models.asking.model_cards import find_card, known_model_names
from rexview.models.asking.prompts import built_in_prompts, prompt_text
from rexview.models.backend import Api, AttemptFailed, Card, Prompt
from rexview.models.endpoints.server_addresses import (
    ServerAddress,
    check_base_url,
    confirm_server_address,
    is_confirmed_server,
)
from rexview.models.running.model_run import disk_error_text
from rexview.models.running.run_spec import RunSpec
from rexview.schema import ReviewSet
from rexview.ui.asking.run_figures import card_summary_html
from rexview.ui.safe_text import as_markdown, lines_as_markdown
from rexview.ui.web.link import keys as link_keys
from rexview.ui.web.link.link_choices import bind_option_to_link, bind_to_link, change_link
from rexview.ui.web.streamlit_adapter.process import secrets_loaded
from rexview.ui.web.streamlit_adapter.script_run import finish_draft, save_button, typed_fields
from rexview.words import tr

# Files that a person edits: a model's abilities, and a copy of the prompt.

_HEIGHT: Final = 320
_LONGEST: Final = 200_000
_LONGEST_NAME: Final = 80


def can_write(review_set: ReviewSet) -> bool:
    """Return whether files can be written into the folder of a set."""
    return remote_set_address(review_set.folder) is None and os.access(review_set.folder, os.W_OK)


def edit_card(model: str, card: Card, review_set: ReviewSet) -> None:
    """Show an editor of the set's ``models.yaml``."""
    box = st.expander(tr("Edit model capabilities"), key="run_card_box", on_change="rerun")
    if not box.open:
        return
    with box:
        try:
            text = models_text(model, card, review_set.folder)
        except SettingsError as error:
            st.error(lines_as_markdown(error))
            return
        st.caption(
            tr("models.yaml of this review set. docs/running-models.md lists what it can contain.")
        )
        key = f"run_card_{model}"

        def save() -> None:
            save_models(st.session_state[key], review_set.folder)

        with typed_fields(key):
            _field(text, key, save, review_set)


def edit_prompt(prompt: Prompt, review_set: ReviewSet) -> None:
    """Show an editor of a copy of a prompt."""
    box = st.expander(tr("Edit a copy"), key="run_prompt_box", on_change="rerun")
    if not box.open:
        return
    key = f"run_wording_{prompt.id}"
    with box, typed_fields(key):
        own = prompt.id not in built_in_prompts()
        st.text_input(
            tr("Name of the copy"),
            value=prompt.id if own else f"{prompt.id}-mine",
            key=f"{key}_name",
            max_chars=_LONGEST_NAME,
            help=tr("Letters, digits, dots and hyphens. Use a new name for each wording you run."),
        )

        def save() -> None:
            name = st.session_state[f"{key}_name"].strip()
            save_prompt(name, st.session_state[key], review_set.folder)
            change_link({link_keys.QUERY_RUN_PROMPT: name})

        _field(prompt_text(prompt), key, save, review_set)


def _field(text: str, key: str, save: Callable[[], None], review_set: ReviewSet) -> None:
    """Show a text and a button that saves it; its errors are shown below."""
    problem = f"{key}_problem"

    def saved() -> None:
        st.session_state.pop(problem, None)
        try:
            save()
        except SettingsError as error:
            st.session_state[problem] = str(error)
        else:
            finish_draft(key)
            st.toast(tr("Saved in the review set's folder."))

    st.text_area(
        "YAML", text, height=_HEIGHT, key=key, max_chars=_LONGEST, label_visibility="collapsed"
    )
    save_button(tr("Save"), key=f"{key}_save", on_click=saved, disabled=not can_write(review_set))
    if said := st.session_state.get(problem):
        st.error(as_markdown(said), icon=":material/error:")


_PLACES: Final = {
    "openai": "OpenAI",
    "server": tr("Another server"),
    "here": tr("This computer"),
}
_APIS: Final = {"chat": "Chat Completions", "responses": "Responses"}
_MOST_TOKENS: Final = 1_000_000
_CHOICES_LONGEST: Final = 400


@dataclass(frozen=True)
class ModelChoice:
    """A model and its server; ``base_url`` is None for the usual server."""

    model: str
    card: Card
    place: str
    base_url: str | None
    api: Api | None

    @property
    def complete(self) -> bool:
        """Return whether nothing is missing; show what is."""
        if self.place == "server" and not self.base_url:
            st.info(tr("Give the server's address."))
            return False
        return True

    def wanted(self, **more: Any) -> RunRequest:
        """Return a run request for it; ``more`` are the other fields."""
        return RunRequest(model=self.model, api=self.api, base_url=self.base_url, **more)


def choose_model(review_set: ReviewSet) -> ModelChoice | None:
    """Show a choice of the model and its server; return None while the model is missing."""
    left, right = st.columns([3, 2], gap="medium")
    with left:
        model = _model(review_set)
    with right:
        place = choose_option(tr("Where"), link_keys.QUERY_RUN_PLACE, _PLACES, "openai")
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
    st.html(card_summary_html(card))
    edit_card(model, card, review_set)
    return ModelChoice(model, card, place, base_url, api)


def _model(review_set: ReviewSet) -> str:
    asked = (link_keys.query_value(link_keys.QUERY_RUN_MODEL) or "").strip()[:_CHOICES_LONGEST]
    names = [model.id for model in review_set.models]
    groups = (
        [known_model_names(), names] if review_set.info.notice else [names, known_model_names()]
    )
    options = list(dict.fromkeys(filter(None, (*groups[0], *groups[1], asked))))
    kept = bind_to_link(
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
    return (chosen or "").strip()[:_CHOICES_LONGEST]


def choose_option(label: str, query: str, options: dict[str, str], usual: str) -> str:
    """Show a choice of options; return the chosen one."""
    return str(
        st.segmented_control(
            as_markdown(label),
            list(options),
            format_func=lambda option: as_markdown(options[option]),
            required=True,
            **bind_option_to_link(f"run_{query}", query, options, usual),
        )
    )


def _server() -> tuple[str, Api | None]:
    left, right = st.columns([3, 2], gap="medium")
    with left:
        address = show_text_field(
            tr("Address"),
            link_keys.QUERY_RUN_URL,
            placeholder="http://localhost:8000/v1",
            help=tr(
                "The base URL of a server that offers one of OpenAI's APIs, such as vLLM, "
                "llama.cpp or Ollama. It usually ends with /v1."
            ),
        )
    with right:
        chosen = choose_option("API", link_keys.QUERY_RUN_API, _APIS, "chat")
    return address, next((api for api in get_args(Api) if api == chosen), None)


def show_text_field(label: str, query: str, *, longest: int = _CHOICES_LONGEST, **more: Any) -> str:
    """Show a text field; return its text without surrounding spaces."""
    kept = bind_to_link(
        f"run_{query}",
        query,
        link_keys.query_value(query) or "",
        lambda typed: typed.strip() or None,
    )

    def changed() -> None:
        kept["on_change"]()
        finish_draft(query)

    with typed_fields(query):
        more |= {"key": kept["key"], "on_change": changed, "max_chars": longest}
        return str(st.text_input(as_markdown(label), **more)).strip()


def choose_limits() -> dict[str, Any]:
    """Return longest answer, budget and concurrency, as fields of :class:`RunRequest`."""
    columns = st.columns(3, gap="small")
    with columns[0]:
        limit = show_number_field(
            tr("Longest answer, tokens"),
            link_keys.QUERY_RUN_LIMIT,
            None,
            _MOST_TOKENS,
            tr("Empty: the server decides."),
        )
    with columns[1]:
        budget = show_text_field(
            tr("Budget"),
            link_keys.QUERY_RUN_BUDGET,
            placeholder=tr("5 USD or 200,000 tokens"),
            help=tr("Spending limit. Empty: no limit."),
        )
    with columns[2]:
        at_once = show_number_field(
            tr("Requests at a time"),
            link_keys.QUERY_RUN_AT_ONCE,
            DEFAULT_CONCURRENCY,
            MAX_CONCURRENCY,
            tr("How many run at the same time."),
        )
    return {"max_output_tokens": limit, "budget": budget or None, "concurrency": at_once}


def show_number_field(
    label: str, query: str, usual: int | None, most: int, words: str
) -> int | None:
    """Show a field for a number from 1; return it, or the usual one if it is empty."""
    typed = link_keys.query_value(query) or ""
    asked = int(typed) if typed.isdecimal() and len(typed) < 9 else 0
    kept = bind_to_link(
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


# Keys from Streamlit's secrets: read only here, and passed on by environment.


def secret_keys(variable: str) -> Mapping[str, str]:
    """Return the key of a variable, if the secrets have it at their top level."""
    value = st.secrets.get(variable) if secrets_loaded() else None
    return {variable: value} if isinstance(value, str) and value else {}


# The address that requests are sent to: what it still needs, and a person's consent.


def confirm_start(review_set: ReviewSet, spec: RunSpec, what: str) -> tuple[bool, bool]:
    """Show where requests go, and what is missing.

    ``what`` is sent there: ``Images and questions of 3 cases``. Return whether the run may start,
    and whether a local model is loaded although it takes more memory than is free.
    """
    local = spec.parameters.api == "transformers"
    address = None if local else check_base_url(spec.parameters.base_url)
    missing = missing_requirements(spec, secret_keys(spec.card.key_variable))
    if missing:
        st.warning(as_markdown(missing), icon=":material/key:")
    if address and address.warning:
        st.warning(as_markdown(address.warning), icon=":material/lock_open:")
    writable = can_write(review_set)
    if not writable:
        st.warning(tr("The review set's folder is not writable, so no run can start in it."))
    agreed = True
    insists = False
    if address is None:
        st.markdown(tr("{what} stay on this computer.").format(what=as_markdown(what)))
        if not missing:
            agreed, insists = _room_for(spec)
    elif address.is_this_machine:
        st.markdown(
            tr("{what} go to {host}, which is this computer.").format(
                what=as_markdown(what), host=as_markdown(address.host)
            )
        )
        agreed = is_confirmed_server(address) or _agreed(address, what)
    else:
        st.markdown(
            tr("**{what} are sent to {host}**, with the key in {variable}.").format(
                what=as_markdown(what),
                host=as_markdown(address.host),
                variable=as_markdown(spec.card.key_variable),
            )
        )
        agreed = _agreed(address, what)
    return agreed and writable and not missing, insists


def confirm_resume(name: str, api: str | None, base_url: str | None) -> bool:
    """Ask whether a run or job of the set's folder may send to another computer, or a new port.

    Somebody else may have made that folder with its address. ``name`` distinguishes runs and jobs.
    """
    if api == "transformers":
        return True
    try:
        address = check_base_url(base_url)
    except AttemptFailed:
        return True  # resuming shows the error, and sends nothing
    if address.is_this_machine and is_confirmed_server(address):
        return True
    words = tr("Allow sending to {host}").format(host=as_markdown(address.host))
    return st.checkbox(words, key=f"run_may_go_on_{name}_{address.url}")


def confirm_address(api: str | None, base_url: str | None) -> None:
    """Record that the user allowed requests to this address by pressing the button.

    Raises
    ------
    RunError
        It cannot be recorded, so the run would not be allowed to send there.
    """
    if api == "transformers":
        return
    try:
        confirm_server_address(check_base_url(base_url))
    except AttemptFailed as failure:
        raise RunError(str(failure)) from None
    except OSError as error:
        raise RunError(disk_error_text(error)) from None


def _agreed(address: ServerAddress, what: str) -> bool:
    return st.checkbox(tr("Allow sending these"), key=f"run_agreed_{address.url}_{what}")


def _room_for(spec: RunSpec) -> tuple[bool, bool]:
    """Show a model's memory needs; return whether it may start, and whether against that advice."""
    try:
        with st.spinner(tr("Checking what the model needs…")):
            found = estimate_local_memory(spec)
    except RexviewError as error:
        st.warning(as_markdown(str(error)), icon=":material/memory:")
        return False, False
    st.caption(as_markdown(str(found)))
    if found.fits:
        return True, False
    st.warning(
        tr(
            "That is more than is free, and this computer may freeze: close other "
            "programs, ask fewer at once, allow shorter answers, or choose a smaller model."
        ),
        icon=":material/memory:",
    )
    insists = st.checkbox(tr("Load it all the same"), key=f"run_insists_{spec.parameters.model}")
    return insists, insists
