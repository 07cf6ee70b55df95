"""The flags of an answer as HTML: the finding, the sides, who found it, and buttons.

``data-rx-flag`` names a flag. Its evidence in the texts has the same name in ``data-rx-evidence``,
and its boxes in the viewer's data. The script evidence.js highlights them together.
"""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from rexview.analysis.case.case_page import CasePage
from rexview.analysis.case.finding_links import find_finding_spans
from rexview.analysis.query.filter.case_filter import (
    CaseFilter,
    filter_names_failure,
    filter_names_mark,
)
from rexview.analysis.written_failures import FailureWording, MarkedAnswer, make_form_value
from rexview.detect.precision import find_precision
from rexview.models.backend import Prompt
from rexview.schema import Answer, Flag
from rexview.ui.safe_text import MarkedSpan
from rexview.vocab import FAILURES, date_text
from rexview.words import tr, trc, trn

_Keyed = Sequence[tuple[str, Flag]]
YOU = tr("You")
VERDICT_WORDS = {"confirmed": tr("confirmed"), "rejected": tr("rejected")}
_OWN_VERDICTS = {"confirmed": tr("you confirmed"), "rejected": tr("you rejected")}
UNNAMED = "rexview:unnamed"
"""The reader of a verdict before a name is given."""
_TEXT_EVIDENCE = ("answer", "report", "question", "question_boxes", "option", "correct_option")
_BOX_EVIDENCE = ("box", "reference_box")
_UNFOLDED = ("laterality_error", "token_limit")


@dataclass(frozen=True)
class Visitor:
    """The user of a page: their reader id, and whether they may confirm and reject."""

    reader: str = UNNAMED
    may_judge: bool = True


ANYBODY = Visitor()
ANY_CASE = CaseFilter()


def link_spans(text: str, page: CasePage) -> list[MarkedSpan]:
    """Return the spans of a text about findings, to be highlighted with the rest of each finding.

    Each finding that is also elsewhere on the page is one stop of the Tab key per text.
    """
    spans: list[MarkedSpan] = []
    met: set[str] = set()
    for link in find_finding_spans(text, page.box_keys):
        shared = link.key in page.shared_keys
        css = "rx-side" if link.is_side else "rx-finding" if shared else "rx-lone"
        stop = shared and not link.is_side and link.key not in met
        if stop:
            met.add(link.key)
        spans.append(
            MarkedSpan(
                link.start, link.end, css, {"rx-finding": link.key}, link.about, focusable=stop
            )
        )
    return spans


def evidence_spans(flags: _Keyed, where: str, field: str | None = None) -> list[MarkedSpan]:
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
            spans.append(MarkedSpan(item.start, item.end, css, {"rx-evidence": key}))
    return spans


def flags_html(
    page: CasePage,
    answer: Answer,
    readers: Mapping[str, str],
    visitor: Visitor = ANYBODY,
    case_filter: CaseFilter = ANY_CASE,
    worst: str = "",
) -> str:
    """List the failures of one answer: each once, with the findings of rules and readers.

    Only failures with a place in text or image are unfolded, so that the answer itself remains
    visible. A failure that readers rejected remains, struck through; one that nobody raises is only
    mentioned. Failures that rules only suggest, and no reader confirmed, are folded below. The
    subject of ``case_filter`` is unfolded, too. So is ``worst``, the failure in the headline of the
    case, and its words are marked at once.
    """
    keyed = page.keyed_flags(answer.model)
    reasons = {
        one.failure: one.comment or ""
        for one in page.reader_flags
        if (one.model, one.reader) == (answer.model, visitor.reader)
    }
    clear: list[str] = []
    hints: list[str] = []
    hint_asked = False
    ruled_out: list[str] = []
    for failure in dict.fromkeys(flag.failure for _, flag in keyed):
        same = [(key, flag) for key, flag in keyed if flag.failure == failure]
        one = _FlaggedFailure(
            failure,
            same,
            answer,
            readers,
            visitor,
            reasons.get(failure, ""),
            case_filter,
            failure == worst,
        )
        if not one.is_raised:
            ruled_out.append(one.ruled_out_html())
        elif one.is_only_hinted:
            hints.append(one.listed_html())
            hint_asked |= one.is_asked or one.is_worst
        else:
            clear.append(one.listed_html())
    listed = f'<ul class="rx-flags">{"".join(clear)}</ul>' if clear else ""
    kept = html.escape(f"{answer.case}/{answer.model}")
    return (
        listed
        + _folded_html(_to_check(len(hints)), hints, kept, is_open=hint_asked)
        + _folded_html(
            f"{tr('Ruled out by readers')} <b>{len(ruled_out)}</b>", ruled_out, f"{kept}/ruled-out"
        )
    )


def _to_check(n: int) -> str:
    words = trn("{n} possible failure to check", "{n} possible failures to check", n)
    return words.format(n=f"<b>{n}</b>")


def _folded_html(title: str, items: Sequence[str], kept: str, *, is_open: bool = False) -> str:
    if not items:
        return ""
    return (
        f'<details class="rx-hints" data-rx-keep="{kept}"{" open" if is_open else ""}>'
        f'<summary>{title}</summary><ul class="rx-flags">{"".join(items)}</ul></details>'
    )


@dataclass(frozen=True)
class _FlaggedFailure:
    """A failure of an answer with its flags; ``reason`` is the user's.

    ``is_worst`` is True if the headline of the case is about it.
    """

    failure: str
    keyed: _Keyed
    answer: Answer
    readers: Mapping[str, str]
    visitor: Visitor
    reason: str
    case_filter: CaseFilter
    is_worst: bool = False

    @property
    def flags(self) -> list[Flag]:
        return [flag for _, flag in self.keyed]

    @property
    def by_rule(self) -> list[Flag]:
        return [flag for flag in self.flags if flag.source == "detector"]

    @property
    def verdict(self) -> str | None:
        """The user's verdict."""
        found = (flag.verdict for flag in self.flags if flag.reader == self.visitor.reader)
        return next(found, None)

    @property
    def item(self) -> str:
        return html.escape(f"{self.answer.model}/{self.failure}")

    @property
    def is_raised(self) -> bool:
        """Whether a rule or a reader reports the failure, even if others rejected it."""
        return bool(self.by_rule) or any(flag.verdict != "rejected" for flag in self.flags)

    @property
    def is_only_hinted(self) -> bool:
        confirmed = any(
            flag.source == "reader" and flag.verdict == "confirmed" for flag in self.flags
        )
        return bool(self.by_rule) and all(one.is_hint for one in self.by_rule) and not confirmed

    @property
    def is_asked(self) -> bool:
        """Whether the page's filter is about it."""
        by_reader = any(one.source == "reader" and one.verdict == "confirmed" for one in self.flags)
        by_rule = any(not one.is_hint for one in self.by_rule)
        said = "both" if by_rule and by_reader else "reader" if by_reader else "detector"
        source = "hint" if self.is_only_hinted else said
        return filter_names_failure(self.case_filter, self.answer.model, self.failure, source)

    def ruled_out_html(self) -> str:
        """Return who rejected a failure that nobody raises: its rule changed, or there was none."""
        name = html.escape(FAILURES[self.failure].name)
        return (
            f'<li data-rx-item="{self.item}"><p>'
            f"{tr('{name}: rejected; no longer flagged.').format(name=name)}</p>"
            f"{self._buttons()}{self._details()}</li>"
        )

    def listed_html(self) -> str:
        """Return the failure with a badge, folded unless it has to be checked here."""
        failure, hinted = FAILURES[self.failure], self.is_only_hinted
        rejected = all(flag.verdict == "rejected" for flag in self.flags)
        css = f"rx-badge{' rx-rejected' if rejected else ''}{' rx-hint' if hinted else ''}"
        name, meaning = html.escape(self._name()), html.escape(failure.meaning)
        asked = self.is_asked and not rejected
        shown = hinted or self.verdict or (self.failure in _UNFOLDED and not rejected)
        shown = shown or asked or self.is_worst
        is_open = " open" if shown else ""
        first = " data-rx-asked" if asked else ""
        who = html.escape(self._who())
        return (
            f'<li data-rx-item="{self.item}"{first}><details '
            f'data-rx-keep="{html.escape(self.answer.case)}/{self.item}"{is_open}><summary>'
            f'<span class="{css}" title="{meaning}">{name}</span> '
            f'<i title="{who}">{who}</i></summary>{self._buttons()}{self._details()}</details></li>'
        )

    def _name(self) -> str:
        name = FAILURES[self.failure].name
        return tr("Suggested: {name}").format(name=name) if self.is_only_hinted else name

    def _who(self) -> str:
        """Return in a few words who found or judged it; the details are below."""
        readers = [flag for flag in self.flags if flag.source == "reader"]
        # the name of a suggestion already shows that
        by_rule = tr("by rule") if self.is_only_hinted else tr("flagged by rule")
        found_by = [by_rule] if len(readers) < len(self.flags) else []
        for verdict in ("confirmed", "rejected"):
            given = [flag for flag in readers if flag.verdict == verdict]
            others = [flag for flag in given if flag.reader != self.visitor.reader]
            if len(others) < len(given):
                found_by.insert(0, _OWN_VERDICTS[verdict])
            if others:
                found_by.append(_others(len(others), verdict))
        return " · ".join(found_by)

    def _buttons(self) -> str:
        if not self.visitor.may_judge:
            return ""
        verdict, name = self.verdict, html.escape(FAILURES[self.failure].name)
        about = f'data-rx-model="{html.escape(self.answer.model)}" '
        about += f'data-rx-failure="{html.escape(self.failure)}"'
        buttons = "".join(
            f'<button type="button" data-rx-verdict="{one}" {about} '
            f'aria-label="{word}: {name}" aria-pressed="{"true" if verdict == one else "false"}" '
            f'title="{tr("Take back") if verdict == one else title} ({key})">{word}</button>'
            for one, word, key, title in (
                ("confirmed", tr("Confirm"), "a", tr("This answer shows this failure")),
                ("rejected", tr("Reject"), "d", tr("This answer does not show this failure")),
            )
        )
        unused = "" if verdict else " disabled"  # keeps its place, so that a verdict moves nothing
        label = tr("Why: {name}").format(name=name)
        title = f'aria-label="{label}" title="{tr("Say why (Shift+W)")}"'
        why = f'<button type="button" data-rx-why {title}{unused}>{tr("Why")}</button>'
        given = f'data-rx-mine="{html.escape(verdict or "")}" '
        given += f'data-rx-reason="{html.escape(self.reason)}"'
        return f'<span class="rx-verdicts" {about} {given}>{buttons}{why}</span>'

    def _details(self) -> str:
        first = self.answer.case if self.is_worst else ""
        return "".join(
            self._reader_html(flag) if flag.source == "reader" else _found_html(key, flag, first)
            for key, flag in self.keyed
        )

    def _reader_html(self, flag: Flag) -> str:
        if flag.reader == self.visitor.reader:  # their verdict is above, where it moves nothing
            return f"<p><b>{YOU}</b> {html.escape(self.reason)}</p>" if self.reason else ""
        verdict = html.escape(VERDICT_WORDS.get(flag.verdict or "", flag.verdict or ""))
        name = html.escape(self.readers.get(flag.reader or "", flag.reader or tr("Reader")))
        where = in_app_note(flag.origin)
        return f"<p><b>{name}</b>{where} <i>{verdict}</i> {html.escape(flag.message)}</p>"


def _others(n: int, verdict: str) -> str:
    if verdict == "confirmed":
        return trn("{n:,} reader confirmed", "{n:,} readers confirmed", n).format(n=n)
    return trn("{n:,} reader rejected", "{n:,} readers rejected", n).format(n=n)


def in_app_note(origin: str | None) -> str:
    """Return a note on what was written in the app, among what came with the set."""
    return f' <small class="rx-here">{tr("written here")}</small>' if origin == "app" else ""


def _found_html(key: str, flag: Flag, first: str = "") -> str:
    """Return a rule's finding as HTML; ``first`` is the case whose page marks its words at once."""
    located = any(
        item.where in _BOX_EVIDENCE or (item.where in _TEXT_EVIDENCE and item.start is not None)
        for item in flag.evidence
    )
    title = tr("Highlight the evidence in texts and boxes until pressed again (Esc)")
    show = (
        f' <button type="button" class="rx-show" aria-pressed="false" title="{title}">'
        f"{tr('Show')}</button>"
        if located
        else ""
    )
    named = f' data-rx-flag="{html.escape(key)}"' if located else ""
    named += f' data-rx-first="{html.escape(first)}"' if located and first else ""
    css = "rx-found rx-rejected" if flag.verdict == "rejected" else "rx-found"
    return (
        f'<div class="{css}"{named}><p title="{tr("To be reviewed")}">'
        f"{html.escape(flag.message)} <i>{_by_rule_html(flag)}</i>{show}</p>"
        f"{_sides_html(flag)}</div>"
    )


def _by_rule_html(flag: Flag) -> str:
    """Return whether a rule found or only suggests it, and how often its suggestions were right."""
    if not flag.is_hint:
        return tr("flagged by rule")
    measured = find_precision(flag.failure)
    if measured is None:
        return tr("suggested by rule")
    words = tr("suggested by rule, {share:.0%} right in tests")
    words = words.format(share=measured.right / measured.flags)
    return f'<span title="{html.escape(measured.sentence)}">{words}</span>'


def _sides_html(flag: Flag) -> str:
    """Return the contradicting sides next to each other: claimed, boxed, reported."""
    if flag.failure not in ("laterality_error", "side_incomplete"):
        return ""
    sides: dict[str, dict[str, None]] = {}
    for item in flag.evidence:
        where = "label" if item.where == "box" and item.field == "label" else item.where
        if where in _PLACES and item.side:
            sides.setdefault(where, {})[_SIDES.get(item.side, item.side)] = None
    both = f" {tr('and')} "
    cells = "".join(
        f"<span><small>{name}</small> <b>{html.escape(both.join(sides[where]))}</b></span>"
        for where, name in _PLACES.items()
        if where in sides
    )
    return f'<div class="rx-sides">{cells}</div>' if len(sides) > 1 else ""


_SIDES = {
    "right": trc("side", "right"),
    "left": trc("side", "left"),
    "both": trc("side", "both"),
    "midline": trc("side", "midline"),
}
_PLACES = {
    "answer": tr("Answer"),
    "option": tr("Choice"),
    "label": tr("Label"),
    "box": tr("Box"),
    "correct_option": tr("Correct"),
    "reference_box": tr("Reference"),
    "report": tr("Report"),
}


# People's marks of written failures on an answer, as HTML: who made them, and the user's own.
#
# They are listed separately below the flags of rules and readers: neither counts with the other.
# People wrote titles, reasons and names, so all of it is escaped here.

WRITTEN: Final = "written:"
"""Prefix of a written failure's name among all failures."""
_EARLIER: Final = tr("about earlier words")


def written_failure_names(standing: Mapping[str, FailureWording]) -> dict[str, tuple[str, str]]:
    """Return title and counting rule of the written failures, by their name among all failures."""
    return {
        f"{WRITTEN}{name}": (words.prompt.name, str(make_form_value(words.prompt)["counts"]))
        for name, words in standing.items()
    }


def marks_html(
    page: CasePage,
    answer: Answer,
    readers: Mapping[str, str],
    visitor: Visitor,
    case_filter: CaseFilter = ANY_CASE,
) -> str:
    """List an answer's written failures as marked by people; empty without any.

    The subject of ``case_filter`` is unfolded.
    """
    of_answer = [one for one in page.marks if one.mark.model == answer.model and not one.mark.stale]
    items = "".join(
        _MarkedFailure(
            answer,
            [one for one in of_answer if one.mark.failure == failure],
            readers,
            visitor,
            filter_names_mark(case_filter, answer.model, failure),
        ).listed_html()
        for failure in dict.fromkeys(one.mark.failure for one in of_answer)
    )
    label = tr("In your own words")
    return f'<ul class="rx-flags rx-own" aria-label="{label}">{items}</ul>' if items else ""


@dataclass(frozen=True)
class _MarkedFailure:
    """A written failure with the people who marked it on an answer, at least one."""

    answer: Answer
    marks: Sequence[MarkedAnswer]
    readers: Mapping[str, str]
    visitor: Visitor
    is_asked: bool

    @property
    def mine(self) -> MarkedAnswer | None:
        found = (one for one in self.marks if one.mark.reader == self.visitor.reader)
        return next(found, None)

    def listed_html(self) -> str:
        """Return the failure with a badge; unfolded if it is the user's mark or in the filter."""
        words, failure = self.marks[0].words, f"{WRITTEN}{self.marks[0].mark.failure}"
        item = html.escape(f"{self.answer.model}/{failure}")
        kept = f"{html.escape(self.answer.case)}/{item}"
        title = html.escape(words.prompt.name)
        counts = html.escape(str(make_form_value(words.prompt)["counts"]))
        who, is_open = html.escape(self._who()), " open" if self.mine or self.is_asked else ""
        first = " data-rx-asked" if self.is_asked else ""
        return (
            f'<li data-rx-item="{item}"{first}><details data-rx-keep="{kept}"{is_open}><summary>'
            f'<span class="rx-badge rx-in-words" title="{title}: {counts}">{title}</span> '
            f'<i title="{who}">{who}</i></summary>{self._buttons(failure, title)}'
            f'<p class="rx-quiet"><b>{title}:</b> {counts}</p>'
            f"{''.join(map(self._said, self.marks))}</details></li>"
        )

    def _who(self) -> str:
        """Return in a few words who marked it."""
        others = len(self.marks) - (self.mine is not None)
        if self.mine and others:
            words = trn("you and {n:,} other marked", "you and {n:,} others marked", others)
        elif self.mine:
            words = tr("you marked")
        else:
            words = trn("{n:,} person marked", "{n:,} people marked", others)
        said = [words.format(n=others)]
        if all(one.is_earlier for one in self.marks):
            said.append(_EARLIER)
        return " · ".join(said)

    def _buttons(self, failure: str, title: str) -> str:
        """Return buttons to mark it, too, to withdraw the own mark, and to give a reason."""
        if not self.visitor.may_judge:
            return ""
        mine = self.mine
        version = mine.mark.version if mine else self.marks[0].words.prompt.hash
        reason = (mine.mark.comment or "") if mine else ""
        model, failure = html.escape(self.answer.model), html.escape(failure)
        about = f'data-rx-model="{model}" data-rx-failure="{failure}"'
        given = (
            f'data-rx-mine="{"confirmed" if mine else ""}" data-rx-reason="{html.escape(reason)}" '
            f'data-rx-version="{html.escape(version)}"'
        )
        unused = "" if mine else " disabled"  # keeps its place, so that a mark moves nothing
        confirm, back, why = tr("Confirm"), tr("Take back"), tr("Why")
        given_now = mine is not None and not mine.is_earlier
        shows = back if given_now else tr("This answer shows this failure")
        if mine and mine.is_earlier:
            shows = tr("Confirm it for the current words")
        label = tr("Why: {name}").format(name=title)
        return (
            f'<span class="rx-verdicts" {about} {given}>'
            f'<button type="button" data-rx-verdict="confirmed" {about} '
            f'aria-label="{confirm}: {title}" aria-pressed="{"true" if given_now else "false"}" '
            f'title="{shows} (a)">{confirm}</button>'
            f'<button type="button" data-rx-take-back aria-label="{back}: {title}" '
            f'title="{back} (d)"{unused}>{back}</button>'
            f'<button type="button" data-rx-why aria-label="{label}" '
            f'title="{tr("Say why (Shift+W)")}"{unused}>{why}</button></span>'
        )

    def _said(self, one: MarkedAnswer) -> str:
        reason = html.escape(one.mark.comment or "")
        earlier = f' <small class="rx-quiet">{_EARLIER}</small>' if one.is_earlier else ""
        if one.mark.reader == self.visitor.reader:
            return f"<p><b>{YOU}</b>{earlier} {reason}</p>" if reason or earlier else ""
        name = html.escape(self.readers.get(one.mark.reader, one.mark.reader))
        where, said = in_app_note("app"), tr("marked")
        return f"<p><b>{name}</b>{where} <i>{said}</i>{earlier} {reason}</p>"


# A written failure as HTML: for the page, and for the pad on which a sample is read.

_TITLES: Final = {
    "counts": tr("Counts"),
    "does_not_count": tr("Does not count"),
    "examples": tr("Examples that count"),
    "counterexamples": tr("Examples that do not count"),
}


def definition_html(prompt: Prompt) -> str:
    """Return title and parts; people's text is escaped."""
    value = make_form_value(prompt)
    parts = "".join(
        f"<p><b>{title}:</b> {_part(value[part])}" for part, title in _TITLES.items() if value[part]
    )
    return f"<h3>{html.escape(prompt.name)}</h3>{parts}"


def _part(value: object) -> str:
    if isinstance(value, list):
        items = "".join(f"<li>{html.escape(str(one))}</li>" for one in value)
        return f"</p><ul>{items}</ul>"
    return f"{html.escape(str(value))}</p>"


# Author and time of a version of a failure's text.


def version_note(words: FailureWording) -> str:
    """Return ``Ann, 26 Nov 2026, 21:40:07 UTC``; the digest if there is no author."""
    if words.at is None:
        who = words.by or tr("from a file or a run of the set")
        return f"{who}, {words.version[:8]}"
    return f"{words.by}, {date_text(words.at)}, {words.at:%H:%M:%S} UTC"
