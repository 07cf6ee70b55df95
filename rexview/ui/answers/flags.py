"""The flags of an answer as HTML: what was found, the sides, who says so, what to do about it.

``data-rx-flag`` names a flag; its evidence in the texts carries the same name in
``data-rx-evidence``, its boxes in the viewer's data. The script evidence.js lights them together.
"""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence

from rexview.analysis.case.finding_links import text_links
from rexview.analysis.case.record import CasePage
from rexview.schema import Answer, Flag
from rexview.ui.answers.verdicts import ANYBODY, YOU, Looker
from rexview.ui.html.safe_text import Span
from rexview.vocab import FAILURES

_Keyed = Sequence[tuple[str, Flag]]
_TEXTS = ("answer", "report", "question", "option", "correct_option")
_BOXES = ("box", "reference_box")
_UNFOLDED = ("laterality_error", "token_limit")


def link_spans(text: str, page: CasePage) -> list[Span]:
    """Return the spans of a text that speak of a finding, to be lit with all others of it.

    Each finding that something else on the page speaks of is one stop of the Tab key per text.
    """
    spans: list[Span] = []
    met: set[str] = set()
    for link in text_links(text, page.box_keys):
        shared = link.key in page.shared_keys
        css = "rx-side" if link.is_side else "rx-finding" if shared else "rx-lone"
        stop = shared and not link.is_side and link.key not in met
        if stop:
            met.add(link.key)
        spans.append(
            Span(link.start, link.end, css, {"rx-finding": link.key}, link.about, focusable=stop)
        )
    return spans


def evidence_spans(flags: _Keyed, where: str, field: str | None = None) -> list[Span]:
    """Return the spans of flags' evidence in the answer, the question, or a field of the report.

    ``where`` may also be ``option`` or ``correct_option``; ``field`` is then the option's number.
    """
    spans = []
    for key, flag in flags:
        weak = flag.is_hint or flag.verdict == "rejected"
        for item in flag.evidence:
            if item.where != where or item.start is None or item.end is None:
                continue
            if field is not None and item.field != field:
                continue
            css = "rx-evidence rx-weak-evidence" if weak else "rx-evidence"
            spans.append(Span(item.start, item.end, css, {"rx-evidence": key}))
    return spans


def flags_html(
    page: CasePage, answer: Answer, readers: Mapping[str, str], looker: Looker = ANYBODY
) -> str:
    """List the failures of one answer: each once, with what rules and readers say of it.

    Only what names a place in text or picture is unfolded, so that the answer itself stays in
    sight. A failure that readers rejected stays, struck through; one that nobody raised is only
    said in words. What rules only hint at, and no reader confirmed, is folded away below.
    """
    keyed = page.keyed_flags(answer.model)
    reasons = {
        word.failure: word.comment or ""
        for word in page.words
        if (word.model, word.reader) == (answer.model, looker.reader)
    }
    clear: list[str] = []
    hints: list[str] = []
    unraised: list[str] = []
    for failure in dict.fromkeys(flag.failure for _, flag in keyed):
        own = [(key, flag) for key, flag in keyed if flag.failure == failure]
        reason = reasons.get(failure, "")
        if not _raised([flag for _, flag in own]):
            unraised.append(_unraised_html(failure, own, answer, readers, looker, reason))
            continue
        (hints if _only_hinted([flag for _, flag in own]) else clear).append(
            _failure_html(failure, own, answer, readers, looker, reason)
        )
    listed = f'<ul class="rx-flags">{"".join(clear)}</ul>' if clear else ""
    kept = html.escape(f"{answer.case}/{answer.model}")
    return (
        listed
        + _folded_html("To check", hints, kept)
        + _folded_html("Ruled out by readers", unraised, f"{kept}/ruled-out")
    )


def _folded_html(title: str, items: Sequence[str], kept: str) -> str:
    if not items:
        return ""
    return (
        f'<details class="rx-hints" data-rx-keep="{kept}"><summary>{title} '
        f'<b>{len(items)}</b></summary><ul class="rx-flags">{"".join(items)}</ul></details>'
    )


def _raised(flags: Sequence[Flag]) -> bool:
    """Whether a rule or a reader says that there is the failure, be it rejected by others."""
    return any(flag.source == "detector" or flag.verdict != "rejected" for flag in flags)


def _unraised_html(
    failure: str,
    own: _Keyed,
    answer: Answer,
    readers: Mapping[str, str],
    looker: Looker,
    reason: str,
) -> str:
    """Say who rejected a failure that nobody raises: the rule changed, or there was none."""
    mine = "rejected" if any(flag.reader == looker.reader for _, flag in own) else None
    buttons = _verdict_buttons(answer, failure, mine, reason) if looker.may_judge else ""
    sayings = "".join(_reader_html(flag, readers, looker, reason) for _, flag in own)
    name = html.escape(FAILURES[failure].name)
    item = html.escape(f"{answer.model}/{failure}")
    return (
        f'<li data-rx-item="{item}"><p>{name}: rejected, and no rule or reader raises it.</p>'
        f"{buttons}{sayings}</li>"
    )


def _only_hinted(flags: Sequence[Flag]) -> bool:
    found = [flag for flag in flags if flag.source == "detector"]
    confirmed = any(flag.source == "reader" and flag.verdict == "confirmed" for flag in flags)
    return bool(found) and all(flag.is_hint for flag in found) and not confirmed


def _failure_html(
    failure_id: str,
    own: _Keyed,
    answer: Answer,
    readers: Mapping[str, str],
    looker: Looker,
    reason: str,
) -> str:
    failure = FAILURES[failure_id]
    rejected = all(flag.verdict == "rejected" for _, flag in own)
    hinted = _only_hinted([flag for _, flag in own])
    css = f"rx-badge{' rx-rejected' if rejected else ''}{' rx-hint' if hinted else ''}"
    name = _hint_name([flag for _, flag in own], failure.name) if hinted else failure.name
    badge = f'<span class="{css}" title="{html.escape(failure.meaning)}">{html.escape(name)}</span>'
    mine = next((flag.verdict for _, flag in own if flag.reader == looker.reader), None)
    buttons = _verdict_buttons(answer, failure_id, mine, reason) if looker.may_judge else ""
    shown = hinted or mine or (failure_id in _UNFOLDED and not rejected)
    is_open = " open" if shown else ""
    sayings = "".join(
        _reader_html(flag, readers, looker, reason)
        if flag.source == "reader"
        else _found_html(key, flag)
        for key, flag in own
    )
    item = html.escape(f"{answer.model}/{failure_id}")
    kept = f"{html.escape(answer.case)}/{item}"
    who = html.escape(_who([flag for _, flag in own], looker))
    return (
        f'<li data-rx-item="{item}"><details data-rx-keep="{kept}"{is_open}><summary>{badge} '
        f'<i title="{who}">{who}</i></summary>'
        f"{buttons}{sayings}</details></li>"
    )


def _who(flags: Sequence[Flag], looker: Looker) -> str:
    """Say in a few words who speaks; what they say stands below."""
    readers = [flag for flag in flags if flag.source == "reader"]
    said = {
        verdict: [flag for flag in readers if flag.verdict == verdict]
        for verdict in ("confirmed", "rejected")
    }
    words = ["rule"] if len(readers) < len(flags) else []
    for verdict, given in said.items():
        others = [flag for flag in given if flag.reader != looker.reader]
        if len(others) < len(given):
            words.insert(0, f"{YOU.lower()} {verdict}")
        if others:
            words.append(f"{len(others)} {'reader' if len(others) == 1 else 'readers'} {verdict}")
    return " · ".join(words)


def _hint_name(flags: Sequence[Flag], failure: str) -> str:
    found = [flag for flag in flags if flag.source == "detector"]
    if all(flag.kind == "bilateral" for flag in found):
        return "One side of a bilateral finding"
    return f"Possible: {failure}"


def _verdict_buttons(answer: Answer, failure: str, mine: str | None, reason: str) -> str:
    name = html.escape(FAILURES[failure].name)
    about = f'data-rx-model="{html.escape(answer.model)}" data-rx-failure="{html.escape(failure)}"'
    buttons = "".join(
        f'<button type="button" data-rx-verdict="{verdict}" {about} '
        f'aria-label="{word}: {name}" aria-pressed="{"true" if mine == verdict else "false"}" '
        f'title="{"Take back" if mine == verdict else title} ({key})">{word}</button>'
        for verdict, word, key, title in (
            ("confirmed", "Confirm", "a", "This answer shows this failure"),
            ("rejected", "Reject", "d", "This answer does not show this failure"),
        )
    )
    unused = "" if mine else " disabled"  # keeps its place, so that a verdict moves nothing
    title = f'aria-label="Why: {name}" title="Say why (Shift+W)"'
    why = f'<button type="button" data-rx-why {title}{unused}>Why</button>'
    given = f'data-rx-mine="{html.escape(mine or "")}" data-rx-reason="{html.escape(reason)}"'
    return f'<span class="rx-verdicts" {about} {given}>{buttons}{why}</span>'


def _reader_html(flag: Flag, readers: Mapping[str, str], looker: Looker, reason: str) -> str:
    verdict = html.escape(flag.verdict or "")
    if flag.reader == looker.reader:  # the verdict itself stands above, where it moves nothing
        return f"<p><b>{YOU}</b> {html.escape(reason)}</p>" if reason else ""
    name = html.escape(readers.get(flag.reader or "", flag.reader or "Reader"))
    where = written_here(flag.origin)
    return f"<p><b>{name}</b>{where} <i>{verdict}</i> {html.escape(flag.message)}</p>"


def written_here(origin: str | None) -> str:
    """Mark what was written in the app among what was given with the set."""
    return ' <small class="rx-here">written here</small>' if origin == "app" else ""


def _found_html(key: str, flag: Flag) -> str:
    located = any(
        item.where in _BOXES or (item.where in _TEXTS and item.start is not None)
        for item in flag.evidence
    )
    show = (
        ' <button type="button" class="rx-show" aria-pressed="false" '
        'title="Mark the evidence in texts and boxes until pressed again (Esc)">Show</button>'
        if located
        else ""
    )
    named = f' data-rx-flag="{html.escape(key)}"' if located else ""
    css = "rx-said rx-rejected" if flag.verdict == "rejected" else "rx-said"
    return (
        f'<div class="{css}"{named}><p title="Found by rule: to be reviewed">'
        f"{html.escape(flag.message)} <i>by rule</i>{show}</p>{_sides_html(flag)}</div>"
    )


def _sides_html(flag: Flag) -> str:
    """Set the sides that contradict each other beside each other: claimed, boxed, reported."""
    if flag.failure != "laterality_error":
        return ""
    sides: dict[str, dict[str, None]] = {}
    for item in flag.evidence:
        name = _PLACES.get(item.where)
        if item.where == "box" and item.field == "label":
            name = "Label"
        if name and item.side:
            sides.setdefault(name, {})[item.side] = None
    cells = "".join(
        f"<span><small>{name}</small> <b>{html.escape(' and '.join(sides[name]))}</b></span>"
        for name in ("Answer", "Choice", "Label", "Box", "Correct", "Reference", "Report")
        if name in sides
    )
    return f'<div class="rx-sides">{cells}</div>' if len(sides) > 1 else ""


_PLACES = {
    "answer": "Answer",
    "option": "Choice",
    "correct_option": "Correct",
    "box": "Box",
    "reference_box": "Reference",
    "report": "Report",
}
