"""What came in a run, what cannot be read, what failed, and the log."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import Final

import streamlit as st

from rexview.analysis.run_models.run_request import ANSWERS, RunKind, describe_subject
from rexview.errors import FileRefused
from rexview.models.backend import FAILINGS, OUTCOMES
from rexview.models.running.folder import RunFolder
from rexview.models.running.journal import KeptReply, Past, read_past, replies_of
from rexview.models.running.spec import RunSpec
from rexview.ui.link import keys as link_keys
from rexview.ui.link.in_app import href, linked_html
from rexview.ui.link.pages import PAGE_CASE
from rexview.ui.tables.stacked import stacked
from rexview.untrusted_input import read_file
from rexview.words import tr

_LISTED: Final = 50
_LONGEST_SHOWN: Final = 4_000
_MOST_LOG_BYTES: Final = 200_000_000
_SMALL: Final = 500_000
"""Bytes of a log that is read anew whenever it grows; a longer one, at work, now and then."""


def show_details(run: RunFolder, spec: RunSpec, kind: RunKind, *, at_work: bool) -> None:
    """List what came by case, and what failed with its one line; offer the log."""
    try:
        size = run.log.stat().st_size
        step = 10 ** (len(str(size)) - 2) if at_work and size > _SMALL else 1
        grown = size // step
        past = _past(run, grown)
    except OSError:
        st.caption(tr("Nothing was sent yet."))
        return
    names: dict[str, str] = dict(OUTCOMES)  # type: ignore[arg-type]
    for outcome, name in names.items():
        came = {item.case for item, word in past.outcomes.items() if word == outcome}
        cases = [case for case in spec.cases if case in came]
        if cases:
            drawn = f'<p class="rx-run-cases">{html.escape(name)}: {_case_links(cases)}</p>'
            linked_html(drawn, key=f"run_cases_{outcome}_{run.id}")
    if kind != ANSWERS and (unread := _unreadable(run, grown)):
        linked_html(_unreadable_html(unread), key=f"run_unreadable_{run.id}")
    if past.failures:
        linked_html(_errors_html(past), key=f"run_errors_{run.id}")
    if size > _MOST_LOG_BYTES:
        st.caption(tr("The log is too large for a download: it is log.jsonl of the run's folder."))
        return
    st.download_button(
        tr("Log"),
        partial(_log, run.log),  # read when it is clicked
        f"{run.id}.jsonl",
        "application/jsonl",
        key=f"run_log_{run.id}",
        on_click="ignore",
        icon=":material/download:",
        type="tertiary",
        help=tr("Every request and what came, without keys. It holds questions and answers."),
    )


def _log(path: Path) -> bytes:
    try:
        return read_file(path, _MOST_LOG_BYTES)
    except (OSError, FileRefused):
        return b""


def _errors_html(past: Past) -> str:
    kinds: dict[str, str] = dict(FAILINGS)  # type: ignore[arg-type]
    failures = list(past.failures.values())
    rows = "".join(
        f"<tr><td>{_case_links([one.item.case])}</td>"
        f"<td>{html.escape(kinds.get(one.kind, one.kind))}</td>"
        f"<td>{html.escape(one.message)}</td></tr>"
        for one in failures[:_LISTED]
    )
    more = len(failures) - _LISTED
    rest = f"<p>{tr('and {n:,} more in the log').format(n=more)}</p>" if more > 0 else ""
    return _table((tr("Case"), tr("Error"), tr("Message")), rows) + rest


def _case_links(asked: Sequence[str]) -> str:
    """Return links to the cases that requests were about, each with what of it."""
    links = []
    for one in asked[:_LISTED]:
        case, more = describe_subject(one)
        address = html.escape(href(PAGE_CASE, link_keys.link_query(case=case)))
        link = f'<a href="{address}" data-rx-page>{html.escape(case)}</a>'
        links.append(f"{link} ({html.escape(more)})" if more else link)
    rest = len(asked) - _LISTED
    shown = ", ".join(links)
    if rest <= 0:
        return shown
    return tr("{cases} and {n:,} more").format(cases=shown, n=rest)


def _unreadable_html(unread: Mapping[str, KeptReply]) -> str:
    """Show what came and cannot be read, as it came."""
    names: dict[str, str] = dict(OUTCOMES)  # type: ignore[arg-type]
    rows = []
    for one, reply in list(unread.items())[:_LISTED]:
        text = reply.text[:_LONGEST_SHOWN] or tr("no text")
        cut = " …" if len(reply.text) > _LONGEST_SHOWN else ""
        rows.append(
            f"<tr><td>{_case_links([one])}</td>"
            f"<td>{html.escape(names.get(reply.outcome, reply.outcome))}</td>"
            f"<td>{html.escape(reply.why)}<details><summary>{tr('As it came')}</summary>"
            f'<pre class="rx-sent" tabindex="0">{html.escape(text)}{cut}</pre></details></td></tr>'
        )
    more = len(unread) - _LISTED
    rest = f"<p>{tr('and {n:,} more in the log').format(n=more)}</p>" if more > 0 else ""
    return _table((tr("Case"), tr("Not readable"), tr("Why")), "".join(rows)) + rest


def _table(heads: tuple[str, ...], rows: str) -> str:
    head = "".join(f'<th scope="col">{name}</th>' for name in heads)
    return stacked(
        f'<table class="rx-run-errors"><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>'
    )


@lru_cache(maxsize=8)
def _past(run: RunFolder, grown: int) -> Past:
    """Read a log; one that has grown since is another one."""
    return read_past(run)


@lru_cache(maxsize=8)
def _unreadable(run: RunFolder, grown: int) -> dict[str, KeptReply]:
    """Return by what was asked the replies that cannot be read, each where it is the last one."""
    last = dict(replies_of(run))
    return {one: reply for one, reply in last.items() if not reply.answered}
