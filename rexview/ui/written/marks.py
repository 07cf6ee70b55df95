"""The failures in words that people say an answer has, as HTML: who says so, and one's own mark.

They stand below what rules and readers say, in a list of their own: neither counts with the other.
People wrote titles, reasons and names, so all of it is escaped here.
"""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from rexview.analysis.case.record import CasePage
from rexview.analysis.filter.case_filter import CaseFilter, asks_for_mark
from rexview.analysis.written_failures import FailureWords, MarkedAnswer, form_value_of
from rexview.schema import Answer
from rexview.ui.answers.flags import ANY_CASE, YOU, Visitor, written_here
from rexview.words import tr, trn

WRITTEN: Final = "written:"
"""Stands before the name of a failure in words where it stands among all others."""
_EARLIER: Final = tr("said of earlier words")


def named_failures(standing: Mapping[str, FailureWords]) -> dict[str, tuple[str, str]]:
    """Return title and what counts of the failures in words, by the name they have among all."""
    return {
        f"{WRITTEN}{name}": (words.prompt.name, str(form_value_of(words.prompt)["counts"]))
        for name, words in standing.items()
    }


def marks_html(
    page: CasePage,
    answer: Answer,
    readers: Mapping[str, str],
    visitor: Visitor,
    case_filter: CaseFilter = ANY_CASE,
) -> str:
    """List the failures in words that people say an answer has; empty without any.

    What ``case_filter`` is about, by which the page was come to, is unfolded.
    """
    of_answer = [one for one in page.marks if one.mark.model == answer.model and not one.mark.stale]
    items = "".join(
        _Marked(
            answer,
            [one for one in of_answer if one.mark.failure == failure],
            readers,
            visitor,
            asks_for_mark(case_filter, answer.model, failure),
        ).listed_html()
        for failure in dict.fromkeys(one.mark.failure for one in of_answer)
    )
    label = tr("In your own words")
    return f'<ul class="rx-flags rx-own" aria-label="{label}">{items}</ul>' if items else ""


@dataclass(frozen=True)
class _Marked:
    """A failure in words with those who say that an answer has it, one at least."""

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
        """Show the failure with a badge, unfolded where it is one's own word or asked for."""
        words, failure = self.marks[0].words, f"{WRITTEN}{self.marks[0].mark.failure}"
        item = html.escape(f"{self.answer.model}/{failure}")
        kept = f"{html.escape(self.answer.case)}/{item}"
        title = html.escape(words.prompt.name)
        counts = html.escape(str(form_value_of(words.prompt)["counts"]))
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
        """Name in a few words who says so."""
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
        """Offer to say it, too, to take one's own word back, and to say why."""
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
            shows = tr("Say it of the words as they are now")
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
        where, said = written_here("app"), tr("marked")
        return f"<p><b>{name}</b>{where} <i>{said}</i>{earlier} {reason}</p>"
