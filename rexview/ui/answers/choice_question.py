"""A choice question on the Case page: its options, the votes, how each choice was read."""

from __future__ import annotations

import html
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from rexview.analysis.case.case_page import CasePage
from rexview.detect.self_contradiction import is_usable
from rexview.schema import Answer, Case, ReviewSet
from rexview.stats import STATUSES, find_status
from rexview.text.choices.option_words import METHODS
from rexview.ui.answers.flags import link_spans
from rexview.ui.safe_text import MarkedSpan, inline_html, markdown_html
from rexview.vocab import option_with_letter, starts_with_letter
from rexview.words import mid_sentence, tr, trn

_QUOTED: Final = 60
"""Maximum characters quoted of the text that a choice was read from."""
_KINDS: Final = ((tr("Models"), False), (tr("Readers"), True))


@dataclass(frozen=True)
class OptionVote:
    """The vote of a model or reader; without a usable ``choice`` (None) ``note`` is the reason.

    ``colour`` is the model's; readers have none. The note of a reader's choice says how long it
    took.
    """

    name: str
    choice: int | None
    is_reader: bool
    colour: str | None = None
    note: str = ""


def collect_votes(
    page: CasePage, review_set: ReviewSet, colours: Mapping[str, str]
) -> list[OptionVote]:
    """Return all votes: models and readers of the files, then people who answered here."""
    case, kinds = page.case, {model.id: model.kind for model in review_set.models}
    votes = [
        OptionVote(
            review_set.model_names[answer.model],
            answer.choice if is_usable(case, answer) else None,
            kinds[answer.model] == "reader",
            colours[answer.model],
            "" if is_usable(case, answer) else unusable_reason(case, answer),
        )
        for answer in page.answers
    ]
    for given in page.choices:
        name = review_set.reader_names.get(given.reader, given.reader)
        there = 0 <= given.choice < len(case.options)
        took = "" if given.seconds is None else f"{given.seconds:.1f} s"
        note = took if there else _no_such_option(case, given.choice)
        votes.append(OptionVote(name, given.choice if there else None, is_reader=True, note=note))
    return votes


def options_html(
    case: Case, option_html: Callable[[str, int], str], votes: Sequence[OptionVote] = ()
) -> str:
    """List the options of a choice question with their votes; the right one is marked.

    ``option_html`` formats an option from its text and its number; empty without options.
    """
    if not case.options:
        return ""
    chosen = sum(vote.choice is not None for vote in votes)
    rows = []
    for number, option in enumerate(case.options):
        own = [vote for vote in votes if vote.choice == number]
        is_right = number == case.correct
        share = f' style="--rx-share:{len(own) / chosen:.0%}"' if own else ""
        count = (
            f" <small>{tr('{n:d} of {total:d}').format(n=len(own), total=chosen)}</small>"
            if own and chosen > 1
            else ""
        )
        rows.append(
            f'<li{_RIGHT_ROW if is_right else ""}{share}><div><span class="rx-option">'
            f"{option_html(option, number)}{_RIGHT if is_right else ''}{count}</span>"
            f"{_votes_html(own)}</div></li>"
        )
    own_letters = all(starts_with_letter(one, number) for number, one in enumerate(case.options))
    letters = ' style="list-style:none"' if own_letters else ' type="A"'
    listed = f'<ol class="rx-options"{letters}>{"".join(rows)}</ol>'
    return listed + _unusable_html(votes) + _summary_html(case, votes)


_RIGHT: Final = f" <b>{tr('(correct)')}</b>"
_RIGHT_ROW: Final = ' class="rx-right"'


def _votes_html(votes: Sequence[OptionVote]) -> str:
    """Return who chose an option, models first; readers are marked as such."""
    said = []
    for kind, is_reader in _KINDS:
        own = [vote for vote in votes if vote.is_reader == is_reader]
        if own:
            chips = "".join(map(_vote_html, own))
            said.append(f'<span class="rx-voters"><small>{kind}</small>{chips}</span>')
    return f'<span class="rx-votes">{"".join(said)}</span>' if said else ""


def _vote_html(vote: OptionVote) -> str:
    css = "rx-vote rx-vote-reader" if vote.is_reader else "rx-vote"
    colour = f' style="--rx-colour:{html.escape(vote.colour)}"' if vote.colour else ""
    title = f' title="{html.escape(vote.note)}"' if vote.note else ""
    return f'<span class="{css}"{colour}{title}>{html.escape(vote.name)}</span>'


def _unusable_html(votes: Sequence[OptionVote]) -> str:
    """List who chose no option of the question, each with the reason."""
    rows = "".join(
        f"<li>{_vote_html(vote)} {html.escape(vote.note)}</li>"
        for vote in votes
        if vote.choice is None
    )
    return f'<ul class="rx-unusable"><li>{tr("No usable choice:")}</li>{rows}</ul>' if rows else ""


def _summary_html(case: Case, votes: Sequence[OptionVote]) -> str:
    """Count the choices of models and readers: right, wrong, unusable."""
    said = []
    for kind, is_reader in _KINDS:
        own = [vote.choice for vote in votes if vote.is_reader == is_reader]
        if own:
            said.append(f"{kind}: {', '.join(_counts(case, own))}")
    return f'<p class="rx-vote-counts">{". ".join(said)}.</p>' if said else ""


def _counts(case: Case, choices: Sequence[int | None]) -> Iterator[str]:
    right = sum(choice == case.correct for choice in choices)
    failed = sum(choice is None for choice in choices)
    if case.correct is None:
        n = len(choices) - failed
        yield trn("{n:d} chose an option", "{n:d} chose an option", n).format(n=n)
    else:
        wrong = len(choices) - right - failed
        yield trn("{n:d} right", "{n:d} right", right).format(n=right)
        yield trn("{n:d} wrong", "{n:d} wrong", wrong).format(n=wrong)
    if failed:
        yield tr("{n:d} without a usable choice").format(n=failed)


def reason_html(page: CasePage) -> str:
    """Return why the right option is right, and which readers' choices do not count."""
    stale, text = len(page.stale_choices), (page.case.explanation or "").strip()
    said = ""
    if stale:
        note = trn(
            "{n:,} choice by readers among earlier options of this question, not counted.",
            "{n:,} choices by readers among earlier options of this question, not counted.",
            stale,
        )
        said += f'<p class="rx-uncounted">{note.format(n=stale)}</p>'
    if text:
        words = inline_html(text, link_spans(text, page))
        said += f'<p class="rx-why"><b>{tr("Explanation")}</b> {words}</p>'
    return said


def unusable_reason(case: Case, answer: Answer) -> str:
    """Return in a few words why an answer has no usable choice."""
    status = find_status(answer)
    if answer.choice is not None:
        return _no_such_option(case, answer.choice)
    if status != "answered":
        return mid_sentence(STATUSES[status])
    return tr("the text does not commit to one option") if answer.text else tr("nothing was chosen")


def _no_such_option(case: Case, choice: int) -> str:
    options = len(case.options)
    return trn(
        "option number {place:d}, of {n:,} option",
        "option number {place:d}, of {n:,} options",
        options,
    ).format(place=choice + 1, n=options)


def choice_html(case: Case, answer: Answer) -> str:
    """Return the chosen option, whether it is right, and where it was read."""
    if case.question_type != "choice":
        return ""
    choice = answer.choice
    if choice is None or not is_usable(case, answer):
        why = html.escape(unusable_reason(case, answer))
        return f'<p class="rx-choice"><b>{tr("No usable choice")}</b>: {why}</p>'
    verdict = "" if case.correct is None else _VERDICTS[choice == case.correct]
    option = html.escape(option_with_letter(case.options[choice], choice))
    return f'<p class="rx-choice">{option}{verdict}{_read_html(answer)}</p>'


_VERDICTS: Final = {True: f"<b> {tr('– correct')}</b>", False: f"<b> {tr('– wrong')}</b>"}


def _read_html(answer: Answer) -> str:
    """Return where a choice was read, and from what; empty if it was given with the answer."""
    read = answer.choice_read
    if read is None:
        return ""
    words = " ".join((answer.text or "")[read.start : read.end].split())
    quoted = f"{words[:_QUOTED]}…" if len(words) > _QUOTED else words
    method = html.escape(METHODS[read.method])
    said = tr("read from the text: “{quoted}” ({method})")
    return f"<small>{said.format(quoted=html.escape(quoted), method=method)}</small>"


def choice_spans(answer: Answer) -> list[MarkedSpan]:
    """Return the words of an answer that its choice was read from, to be marked."""
    read = answer.choice_read
    if read is None:
        return []
    return [MarkedSpan(read.start, read.end, "rx-chosen", title=tr("The choice was read here"))]


def explanation_html(page: CasePage, answer: Answer) -> str:
    """Return a model's explanation of its choice; empty if its text already contains it."""
    text = (answer.explanation or "").strip()
    if _plain(text) in _plain(answer.text or ""):
        return ""
    words = markdown_html(text, link_spans(text, page))
    return f'<div class="rx-why"><b>{tr("Explanation")}</b> {words}</div>'


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())
