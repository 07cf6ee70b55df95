"""A run in figures, as HTML: its model, images, progress and cost."""

from __future__ import annotations

import html
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, Final

import streamlit as st

from rexview.analysis.run_models.run_request import ANSWER_RUN, RunKind
from rexview.models.backend import FAILURE_CAUSES, OUTCOMES, Card, SentImage
from rexview.models.running.run_progress import RunProgress, RunState
from rexview.ui.safe_text import as_markdown
from rexview.vocab import VIEWS, duration_text, time_text
from rexview.words import counted, tr

STATES: Final[Mapping[RunState, str]] = {
    "starting": tr("Starting"),
    "running": tr("Running"),
    "waiting": tr("Waiting"),
    "paused": tr("Paused"),
    "finished": tr("Finished"),
    "cancelled": tr("Stopped"),
    "broken": tr("Interrupted"),
}


_ALL_VIEWS: Final = {
    True: tr("Up to {images}: all views, and an earlier study"),
    False: tr("Up to {images}: all views, no earlier study"),
}
_KEY_VIEW: Final = {
    True: tr("Up to {images}: the key view, and an earlier study"),
    False: tr("Up to {images}: the key view, no earlier study"),
}
"""The images of a case that a model gets, with or without an earlier study."""
_UNITS: Final[Mapping[str, Callable[[int], str]]] = {
    "answer": lambda n: counted(n, "answer"),
    "case": lambda n: counted(n, "case"),
    "question": lambda n: counted(n, "question"),
    "report": lambda n: counted(n, "report"),
    "request": lambda n: counted(n, "request"),
    "study": lambda n: counted(n, "study"),
}
"""Formats the number of a run's subjects, by the unit of its kind."""


def start_note(created: str, by: str | None) -> str:
    """Return when and by whom a run was started; ``created`` is in ISO 8601, as stored."""
    try:
        at = time_text(datetime.fromisoformat(created))
    except (ValueError, OverflowError):
        at = created
    if by:
        return tr("started {moment} by {name}").format(moment=at, name=by)
    return tr("started {moment}").format(moment=at)


def card_summary_html(card: Card) -> str:
    """Return the known abilities of a model in one subdued line."""
    return f'<p class="rx-quiet rx-card">{html.escape(" · ".join(_abilities(card)))}</p>'


def _abilities(card: Card) -> Iterator[str]:
    if not card.source:
        yield tr("Unknown model: defaults assumed")
    if card.images:
        views = _ALL_VIEWS if card.all_views else _KEY_VIEW
        yield views[card.priors].format(images=counted(card.images, "image"))
    else:
        yield tr("Takes no images")
    yield tr("draws boxes") if card.draws_boxes else tr("draws no boxes")
    if card.draws_boxes and card.boxes.convention == "unknown":
        yield tr("where it places its boxes is uncertain until the administrator has measured it")
    if card.max_output_tokens:
        yield tr("answers of at most {n:,} tokens").format(n=card.max_output_tokens)
    if card.price:
        price = tr("{input:g} USD in, {output:g} USD out a million tokens")
        dated = f" ({card.price.date})" if card.price.date else ""
        yield price.format(input=card.price.input, output=card.price.output) + dated
    else:
        yield tr("no price known")


def image_description(picture: SentImage) -> str:
    """Describe an image as it is sent, as plain text."""
    kind = picture.media_type.removeprefix("image/").upper()
    view = VIEWS.get(picture.view, picture.view)
    parts = [
        tr("{view}, earlier study").format(view=view) if picture.prior else view,
        tr("{width} x {height} pixels").format(width=picture.width, height=picture.height),
        f"{kind}, {len(picture.data) / 1000:,.0f} kB",
    ]
    if picture.detail:
        parts.append(tr("detail {detail}").format(detail=picture.detail))
    return f"{' · '.join(parts)} · SHA-256 {picture.sha256[:12]}…"


def progress_html(progress: RunProgress, kind: RunKind) -> str:
    """Return the progress of a run of a kind: a bar, its cost, and why it waits."""
    share = progress.done / progress.total if progress.total else 0.0
    numbers = " · ".join(html.escape(part) for part in _numbers(progress, kind))
    parts = [
        f'<div class="rx-run-bar" role="progressbar" aria-label="Progress" aria-valuemin="0" '
        f'aria-valuemax="{progress.total}" aria-valuenow="{progress.done}" '
        f'style="--rx-share:{share:.4f}"></div><p class="rx-run-numbers">{numbers}</p>'
    ]
    if progress.waiting_for:
        why = progress.waiting_for
        why = why if why.endswith((".", "?", "!")) else f"{why}."
        words = f"{why} {_until(progress.waiting_until)}"
        parts.append(f'<p class="rx-run-wait">{html.escape(words)}</p>')
    if progress.message and progress.state != "finished":
        parts.append(f'<p class="rx-run-wait">{html.escape(progress.message)}</p>')
    return f'<div class="rx-run">{"".join(parts)}</div>'


def _numbers(progress: RunProgress, kind: RunKind) -> Iterator[str]:
    if kind == ANSWER_RUN:
        answered = tr("{n:,} of {total:,} answered")
        yield answered.format(n=progress.done, total=progress.total)
    else:
        units = _UNITS[kind.unit](progress.total)
        yield tr("{n:,} of {units}").format(n=progress.done, units=units)
    if progress.errors:
        yield tr("{n:,} failed").format(n=progress.errors)
    if progress.in_flight and progress.at_work:
        yield tr("{n:,} in progress").format(n=progress.in_flight)
    if progress.per_minute and progress.at_work:
        yield tr("{n:,.0f} a minute").format(n=progress.per_minute)
    if progress.seconds_left and progress.at_work:
        yield tr("{duration} left").format(duration=duration_text(progress.seconds_left))
    tokens = _whole(progress.spent.get("input")) + _whole(progress.spent.get("output"))
    yield tr("{n:,} tokens").format(n=tokens)
    usd = progress.spent.get("usd")
    if isinstance(usd, int | float) and progress.budget:
        yield tr("{money} of {budget}").format(money=format_usd(usd), budget=progress.budget)
    elif isinstance(usd, int | float):
        yield format_usd(usd)
    elif progress.budget:
        yield tr("budget {budget}").format(budget=progress.budget)


def format_usd(usd: float) -> str:
    """Format an amount; a small one is not rounded to zero."""
    return f"{usd:,.2f} USD" if usd >= 0.01 or not usd else tr("under 0.01 USD")


def _whole(value: Any) -> int:
    return value if isinstance(value, int) else 0


def _until(moment: str | None) -> str:
    """Return how long a wait still takes."""
    try:
        left = (datetime.fromisoformat(moment or "") - datetime.now(UTC)).total_seconds()
    except (ValueError, TypeError):
        return ""
    if left <= 1:
        return tr("Resumes now.")
    return tr("Resumes in {duration}.").format(duration=duration_text(left))


def counts_html(progress: RunProgress) -> str:
    """List answers by outcome, and failures by kind; empty if there are no replies."""
    rows = []
    for css, words, found in (
        ("rx-came", OUTCOMES, progress.outcomes),
        ("rx-failed", FAILURE_CAUSES, progress.failed),
    ):
        names: Mapping[str, str] = dict(words)  # type: ignore[arg-type]
        rows += [
            f'<li class="{css}"><b>{count:,}</b> {html.escape(names.get(word, word))}</li>'
            for word, count in sorted(found.items(), key=lambda one: -one[1])
        ]
    return f'<ul class="rx-run-counts">{"".join(rows)}</ul>' if rows else ""


# Estimated size and cost of a run.

FIGURES: Final = {
    "input_tokens": tr("Tokens in"),
    "output_tokens": tr("Tokens out"),
    "usd": tr("Money"),
}


def show_estimate(requests: float, sent: float, written: float, usd: float | None) -> None:
    """Show requests, tokens in and out, and the cost; ``usd`` is None if no price is known."""
    values = {
        "input_tokens": f"{sent:,.0f}",
        "output_tokens": f"{written:,.0f}",
        "usd": tr("not known") if usd is None else format_usd(usd),
    }
    with st.container(horizontal=True, gap="large"):
        st.metric(tr("Requests"), as_markdown(f"{requests:,.0f}"), width="content")
        for figure, name in FIGURES.items():
            st.metric(name, as_markdown(values[figure]), width="content")
