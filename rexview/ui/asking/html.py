"""HTML of asking models: the card in a line, pictures' captions, how far a run is."""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, Final

from rexview.analysis.run_models.kinds import ANSWERS, Kind
from rexview.models.card import Card
from rexview.models.reply import FAILINGS, OUTCOMES
from rexview.models.request import SentImage
from rexview.models.running.progress import Progress, State
from rexview.vocab import VIEWS, counted

STATES: Final[Mapping[State, str]] = {
    "starting": "Starting",
    "running": "Running",
    "waiting": "Waiting",
    "paused": "Paused",
    "finished": "Finished",
    "cancelled": "Stopped",
    "broken": "Broken off",
}
_MINUTE: Final = 60


def card_words(card: Card) -> str:
    """Say in one quiet line what a model can do, as far as it is known."""
    return f'<p class="rx-quiet rx-card">{html.escape(" · ".join(_abilities(card)))}</p>'


def _abilities(card: Card) -> Iterator[str]:
    if not card.source:
        yield "Little is known of this model"
    if card.images:
        views = "all views" if card.all_views else "the key view"
        prior = ", and an earlier study" if card.priors else ", no earlier study"
        yield f"Up to {counted(card.images, 'image')}: {views}{prior}"
    else:
        yield "Takes no images"
    yield "draws boxes" if card.draws_boxes else "draws no boxes"
    if card.draws_boxes and card.boxes.convention == "unknown":
        yield "how it counts in boxes is not known: python -m rexview calibrate finds out"
    if card.max_output_tokens:
        yield f"answers of at most {card.max_output_tokens:,} tokens"
    if card.price:
        dated = f" ({card.price.date})" if card.price.date else ""
        yield f"{card.price.input:g} USD in, {card.price.output:g} USD out a million tokens{dated}"
    else:
        yield "no price known"


def picture_words(picture: SentImage) -> str:
    """Say what a picture is as it is sent. Plain text."""
    kind = picture.media_type.removeprefix("image/").upper()
    parts = [
        f"{VIEWS.get(picture.view, picture.view)}{', earlier study' if picture.prior else ''}",
        f"{picture.width} x {picture.height} pixels",
        f"{kind}, {len(picture.data) / 1000:,.0f} kB",
    ]
    if picture.detail:
        parts.append(f"detail {picture.detail}")
    return f"{' · '.join(parts)} · SHA-256 {picture.sha256[:12]}…"


def progress_html(progress: Progress, kind: Kind) -> str:
    """Show how far a run of a kind is: a bar, what it takes, and what it waits for."""
    share = progress.done / progress.total if progress.total else 0.0
    numbers = " · ".join(html.escape(part) for part in _numbers(progress, kind))
    parts = [
        f'<div class="rx-run-bar" role="progressbar" aria-label="Progress" aria-valuemin="0" '
        f'aria-valuemax="{progress.total}" aria-valuenow="{progress.done}" '
        f'style="--rx-share:{share:.4f}"></div><p class="rx-run-numbers">{numbers}</p>'
    ]
    if progress.waiting_for:
        words = f"{progress.waiting_for.rstrip('.')}. {_until(progress.waiting_until)}"
        parts.append(f'<p class="rx-run-wait">{html.escape(words)}</p>')
    if progress.message and progress.state != "finished":
        parts.append(f'<p class="rx-run-wait">{html.escape(progress.message)}</p>')
    return f'<div class="rx-run">{"".join(parts)}</div>'


def _numbers(progress: Progress, kind: Kind) -> Iterator[str]:
    if kind == ANSWERS:
        yield f"{progress.done:,} of {progress.total:,} answered"
    else:
        yield f"{progress.done:,} of {counted(progress.total, kind.unit)}"
    if progress.errors:
        yield f"{progress.errors:,} failed"
    if progress.in_flight and progress.at_work:
        yield f"{progress.in_flight:,} under way"
    if progress.per_minute and progress.at_work:
        yield f"{progress.per_minute:,.0f} a minute"
    if progress.seconds_left and progress.at_work:
        yield f"{_duration(progress.seconds_left)} left"
    tokens = _whole(progress.spent.get("input")) + _whole(progress.spent.get("output"))
    yield f"{tokens:,} tokens"
    usd = progress.spent.get("usd")
    of_budget = f" of {progress.budget}" if progress.budget else ""
    if isinstance(usd, int | float):
        yield f"{money(usd)}{of_budget}"
    elif of_budget:
        yield f"budget {progress.budget}"


def money(usd: float) -> str:
    """Write an amount; what is little is not written as nothing."""
    return f"{usd:,.2f} USD" if usd >= 0.01 or not usd else "under 0.01 USD"


def _whole(value: Any) -> int:
    return value if isinstance(value, int) else 0


def _until(moment: str | None) -> str:
    """Say how long a wait still takes."""
    try:
        left = (datetime.fromisoformat(moment or "") - datetime.now(UTC)).total_seconds()
    except (ValueError, TypeError):
        return ""
    return f"Goes on in {_duration(left)}." if left > 1 else "Goes on now."


def _duration(seconds: float) -> str:
    if seconds < _MINUTE:
        return f"{max(1, round(seconds))} s"
    minutes = round(seconds / _MINUTE)
    return f"{minutes // 60} h {minutes % 60} min" if minutes >= _MINUTE else f"{minutes} min"


def counts_html(progress: Progress) -> str:
    """List answers by outcome, and what failed by its kind; nothing where nothing came."""
    rows = []
    for css, words, found in (
        ("rx-came", OUTCOMES, progress.outcomes),
        ("rx-failed", FAILINGS, progress.failed),
    ):
        names: Mapping[str, str] = dict(words)  # type: ignore[arg-type]
        rows += [
            f'<li class="{css}"><b>{count:,}</b> {html.escape(names.get(word, word))}</li>'
            for word, count in sorted(found.items(), key=lambda one: -one[1])
        ]
    return f'<ul class="rx-run-counts">{"".join(rows)}</ul>' if rows else ""
