"""What sentences say of one another: headings, "it is on the left", corrections, answers.

A finding and its side often stand in different sentences. What earlier ones leave for the next is
kept in a :class:`Context`: each sentence is read with it and changes it.
"""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise
from typing import Final

from rexview.detect.findings.clauses import LASTING, Clause, Draft, SideSpan
from rexview.detect.findings.discourse.context import Context
from rexview.detect.findings.discourse.corrections import correct
from rexview.detect.findings.discourse.headings import (
    SHORT,
    called_normal_next,
    heads_what_is_weighed,
    read_label,
)
from rexview.detect.findings.discourse.layout import (
    indent_of,
    is_unticked,
    leads_line,
    leads_lines,
)
from rexview.detect.findings.discourse.more_sides import (
    again,
    give_excepted,
    give_lone_side,
    says_again,
    with_second_side,
)
from rexview.detect.findings.lexicon import finding_info
from rexview.detect.findings.sentence_alone import Reading, read_alone
from rexview.detect.findings.sentences import Sentence
from rexview.detect.findings.sides.cleaning import PAIRED, SHIFTS
from rexview.detect.findings.tokens import Tokens
from rexview.detect.phrases import word_set
from rexview.geometry import OTHER_SIDE

_LEADS: Final = re.compile(
    r"(?:so,? )?(?:the |my )?(?:in (?:conclusion|summary|short)|to (?:summari[sz]e|conclude)"
    r"|overall|in sum|final(?:ly)?|therefore|thus|hence|conclusion|impression|summary"
    r"|all in all|taken together)\b[,:]?",
    re.IGNORECASE,
)
_LEADING: Final = word_set("sentence", "leading")
_YES: Final = "yes"
_REPLIES: Final = (_YES, "no", "none", "nil")
_PAST: Final = frozenset(("was", "were", "had", "if", "would", "could", "may", "might", "should"))
_DENYING: Final = ("normal", "not_before", "not_after", "own", "tip")
_NO_LENGTH: Final = 2
"""Tokens of a "no" with the dash after it."""
_PENDING: Final = frozenset(
    ("side", "laterality", "location", "position", "site", "where", "region")
)
_CONDITIONAL: Final = word_set("sentence", "conditional")
_COMPARED: Final = word_set("sentence", "compared")
_HAS: Final = frozenset(("has", "have", "had", "is", "are"))
_RESOLVED: Final = frozenset(("resolved", "cleared", "disappeared", "gone", "vanished"))
_PARTLY: Final = word_set("sentence", "partly")
_WH: Final = frozenset(
    ("what", "which", "where", "who", "why", "how", "when", "whether", "any", "if")
)
_DOUBT: Final = 5
"""Tokens of a doubt at the end of a statement, its comma and question mark included."""
_HENCE: Final = frozenset(("so", "therefore", "hence", "thus"))
"""Before the place that follows from what was said: "it hides the heart border, so lingular"."""
_POINTS_BACK: Final = 4
"""Tokens from the start of a clause within which an "it" still points back."""
_SOON_LINES: Final = 2
"""Lines after a finding in which a fragment with only a side may still be about it."""


def read_sentence(tokens: Tokens, sentence: Sentence, context: Context) -> list[Draft]:
    """Read one sentence in its context, and change the context for the next."""
    i = sentence.i
    if context.topic_indent is not None and indent_of(tokens, sentence.i) <= context.topic_indent:
        context.topic, context.topic_indent = None, None
    # what a label in the midst of text set ("Left: ...") holds to the end of its line only
    if context.topic_line is not None and sentence.line != context.topic_line:
        context.topic, context.topic_line = None, None
    if context.status_line is not None and sentence.i != context.status_line:
        context.status, context.status_line = None, None
    if sentence.label or sentence.kind == "heading":
        i = read_label(tokens, sentence, context)
    leading = tokens.words[sentence.i] in _LEADING
    if leading and (lead := _LEADS.match(tokens.text, tokens.starts[sentence.i])):
        context.section = lead[0].strip(" ,:").lower()
    if sentence.asked and heads_what_is_weighed(tokens, sentence):
        context.status, context.status_line = "hypothetical", None
    asked = sentence.asked or (i < sentence.j and tokens.words[i] in _CONDITIONAL)
    queried = _queried_from(tokens, sentence) if sentence.asked else None
    asked = asked and queried is None
    before = context.topic[0] if context.topic is not None else context.side
    said, first = read_alone(tokens, i, sentence.j, begin=sentence.i, asked=asked, before=before)
    if (
        i < sentence.j
        and tokens.words[i] in _REPLIES
        and _reply(tokens, i, sentence, said, first, context)
    ):
        return []
    if _says_no_first(tokens, i, sentence):  # "Effusion? No - left basal atelectasis."
        i += _NO_LENGTH
        said, first = read_alone(
            tokens, i, sentence.j, begin=sentence.i, asked=asked, before=before
        )
    if not said.matters:
        _mark_resolved(tokens.words[i : sentence.j + 2], context)
        return []
    if not context.side_is_told:
        context.side = said.side or context.side
    if context.topic is not None and context.topic_line is not None and i == sentence.i:
        named = {term.side for term in said.terms if term.side is not None}
        if named and not sentence.label and context.topic[0] not in named:
            context.topic, context.topic_line = None, None
    span = (tokens.starts[sentence.i], tokens.ends[sentence.j - 1])
    found: list[Draft] = []
    unticked = is_unticked(tokens, sentence)
    doubtful = len(tokens.text) if queried is None else tokens.starts[queried]
    for clause in said.clauses:
        drafts = clause.drafts(tokens, first, span)
        for draft in drafts:
            if draft.start >= doubtful and draft.status == "positive":
                draft.status = "uncertain"
        if unticked:
            drafts = [replace(draft, status="negated") for draft in drafts]
        if drafts:
            opening = tokens.words[first + clause.terms[0].i]
            near = sentence.line - context.last_line < _SOON_LINES
            if not found:
                give_excepted(tokens, first, said, clause, drafts)
            _give_context(drafts, clause, opening, context, found, near=near)
            found += drafts
            continue
        part = tokens.part(first, sentence.j + PAIRED)
        if not found:
            _mark_resolved(part.words[clause.terms[0].i : clause.terms[-1].j + 2], context)
        _complete_earlier(part, sentence.moved(-first), clause, context, found)
    if found:
        give_lone_side(tokens, first, said, found)
        found += with_second_side(tokens, first, said, found)
    # "the right one is larger": a second finding beside the first, not the first on another side
    if found and not _COMPARED.isdisjoint(tokens.words[sentence.i : sentence.j]):
        for draft in found:
            draft.compared = True
    if context.correcting or context.tentative or "correction" in said.cues:
        part = tokens.part(first, sentence.j + PAIRED)
        correct(part, sentence.moved(-first), said.clauses, context, found)
    if found:
        context.last, context.last_line = found, sentence.line
        _keep_side(found, context)
    return found


def _keep_side(found: list[Draft], context: Context) -> None:
    """Keep the side of the last finding that is there, to which "the same side" points back."""
    sides = [
        side
        for draft in found
        if draft.status in ("positive", "uncertain") and draft.finding not in SHIFTS
        for side, _, _ in draft.sides
        if side in OTHER_SIDE
    ]
    if sides:
        context.side, context.side_is_told = sides[-1], True


def _queried_from(tokens: Tokens, sentence: Sentence) -> int | None:
    """Return where a doubt begins at the end of a statement: "calcified pleura, asbestos?"."""
    words = tokens.words[sentence.i : sentence.j]
    if "," not in words or words[0] in _CONDITIONAL or words[0] in _WH:
        return None
    last = len(words) - 1 - words[::-1].index(",")
    return sentence.i + last if len(words) - last <= _DOUBT and last > 1 else None


def _reply(
    tokens: Tokens, i: int, sentence: Sentence, said: Reading, first: int, context: Context
) -> bool:
    """Take in the "yes" or "no" to a question about a finding; say whether that was all."""
    asked = [draft for draft in context.last if draft.asked and draft.status == "hypothetical"]
    short = i + 1 == sentence.j or tokens.words[i + 1] in (",", ".", "-", ":", "—", "–")
    if not asked or not short or said.finding:
        return False
    for draft in asked:
        if tokens.words[i] != _YES or draft.sides or not said.sided:
            draft.status = "positive" if tokens.words[i] == _YES else "negated"
    denied = any(term.is_(*_DENYING) for term in said.terms[1:])
    if tokens.words[i] != _YES and said.sided and not denied:
        places = [place for clause in said.clauses for place in clause.side_spans(tokens, first)]
        if len({side for side, _, _ in places}) == 1:  # "In both? No, only on the right."
            context.drafts += [
                replace(draft, status="positive", sides=places[:1], asked=False) for draft in asked
            ]
            return True
    return not said.sided


def _says_no_first(tokens: Tokens, i: int, sentence: Sentence) -> bool:
    """Whether a sentence says no to the question before it, and then what there is instead."""
    words = tokens.words
    return (
        i + _NO_LENGTH < sentence.j
        and words[i] == "no"
        and words[i + 1] in ("-", "—", "–")
        and tokens.text[tokens.ends[i] : tokens.starts[i + 1]] == " "
        and i > 0
        and words[i - 1] == "?"
    )


def _give_context(
    drafts: list[Draft],
    clause: Clause,
    opening: str,
    context: Context,
    found: list[Draft],
    *,
    near: bool,
) -> None:
    """Give the findings of a clause, whose first term opens with a word, what the context says.

    A finding without a side takes the heading's, else that of what it is another name for ("this
    represents pneumonia") where that stands ``near``, in the same paragraph, else the side that was
    given ahead. One that is denied takes none.
    """
    for draft in drafts:
        draft.section = context.section
        if context.status is not None and not (
            context.status == "prior" and draft.finding in LASTING
        ):
            draft.status = context.status
        if draft.sides or not draft.sided or draft.status == "negated":
            continue
        if context.topic is not None and draft.finding not in SHIFTS:
            draft.sides = [context.topic]
        elif (
            not found
            and near
            and draft.finding not in SHIFTS  # "it pushes the heart away": not to its own side
            and _is_apposed(clause, opening)
            and len(_last_sides(context)) == 1
        ):
            draft.sides = _last_sides(context)
        elif context.pending is not None:
            draft.sides = [context.pending]
    context.pending = None


def _mark_resolved(words: list[str], context: Context) -> None:
    """Give earlier findings the status ``prior`` when a clause says "it has resolved"."""
    if not words or words[0] not in ("it", "this", "these", "they", "both", "all", "which"):
        return
    if _HAS.isdisjoint(words[1:3]) or _RESOLVED.isdisjoint(words) or not _PARTLY.isdisjoint(words):
        return
    for draft in context.last:
        if draft.status in ("positive", "uncertain"):
            draft.status = "prior"


def _is_apposed(clause: Clause, opening: str) -> bool:
    """Whether a sentence says what the last one was: "This represents pneumonia"."""
    return opening in ("this", "it", "these", "which") and "it" in clause.terms[0].cues


def _last_sides(context: Context) -> list[SideSpan]:
    places = {
        place[0]: place
        for draft in context.last
        if draft.finding not in SHIFTS  # "displaced to the left. This is a pneumothorax"
        for place in draft.sides
        if draft.status in ("positive", "uncertain")
    }
    return list(places.values())


def _complete_earlier(
    tokens: Tokens, sentence: Sentence, clause: Clause, context: Context, found: list[Draft]
) -> None:
    """Let a clause that names only a side complete the findings before it: "It lies on the left".

    Only where it clearly points back (a pronoun, "affected", a label such as "Side:", a list item
    or a fragment that follows at once); a side may as well open what comes next.
    """
    places = clause.side_spans(tokens, 0)
    if not places or clause.has("correction", "turned", "not_before", "not_after"):
        return
    if any("own" in term.cues and tokens.words[term.i] != "now" for term in clause.terms):
        return
    if all(place[0] == "midline" for place in places) or _only_normal(clause):
        return
    if called_normal_next(tokens, sentence):
        return
    # where the tip of a device ends says nothing of the side on which the device lies
    if clause.has("tip") and any(finding_info(d.finding).group == "device" for d in context.last):
        return
    if context.status is not None or sentence.asked:
        return
    first = clause.terms[0].i
    short = sentence.j - sentence.i <= SHORT
    if short and not found and len({place[0] for place in places}) == 1:
        indent = leads_lines(tokens, sentence)
        if indent is not None and not clause.has("it", "affected"):
            context.topic, context.topic_line = places[0], None
            context.topic_indent = indent if indent >= 0 else None
            return
    soon = bool(found) or sentence.line - context.last_line <= _SOON_LINES
    refers = any("it" in term.cues and term.i - first <= _POINTS_BACK for term in clause.terms[:3])
    refers = refers or ("where" in clause.terms[0].cues and not clause.has("verb"))
    refers = refers or clause.has("affected") or tokens.words[sentence.i] == _YES
    refers = refers or (bool(found) and tokens.words[first] in _HENCE)
    refers = refers or _says_where(tokens, clause)
    label = tokens.words[sentence.i] in _PENDING
    # a short line of its own is a heading for what follows, not a word on what came before
    if short and not (refers or label or sentence.item) and leads_line(tokens, sentence, clause):
        context.topic, context.topic_line = places[0], sentence.line
        return
    placed = {draft.finding for draft in found or context.last if draft.sides}
    open_ones = [
        draft
        for draft in (found or context.last)
        if draft.sided
        and not draft.sides
        and draft.finding not in placed
        and (draft.status in ("positive", "uncertain") or _is_open(draft))
    ]
    fragment = ((short and soon) or sentence.item) and not (
        _speaks_of_place(clause) or _goes_on_to_more(tokens, sentence, clause)
    )
    if open_ones and (refers or label or fragment):
        for draft in open_ones:
            draft.sides = list(places)
            if draft.asked:
                draft.status = "positive"
    # asked about one side, answered for another: the question stays as it was, the answer is new
    elif refers and any(d.asked and d.sides for d in context.last):
        context.drafts += [
            replace(draft, status="positive", sides=list(places), asked=False)
            for draft in context.last
            if draft.asked and draft.sides
        ]
    elif refers and _lies_elsewhere(tokens, clause, found or context.last, places):
        context.drafts += [
            replace(draft, status="positive", sides=places[:1], compared=True)
            for draft in found or context.last
        ]
    elif not open_ones and says_again(tokens, sentence, clause):
        context.drafts += again(found or context.last, places, clause)
    # nothing before it lacks a side, so it is the side of what comes next: "Side: left."
    elif label or clause.has("topic") or (short and not refers and not clause.has("verb")):
        context.pending = places[0]


def _is_open(draft: Draft) -> bool:
    """Whether a finding was asked about and no yes or no has come."""
    return draft.asked and draft.status == "hypothetical"


def _lies_elsewhere(
    tokens: Tokens, clause: Clause, last: list[Draft], places: list[SideSpan]
) -> bool:
    """Whether a finding that is not on one side is on the other: "it's on the left, as I see it".

    What was said last of it is that it is not there, was there, or would be.
    """
    words = tokens.words[clause.terms[0].i : clause.terms[-1].j]
    if not last or clause.has("normal", "tip", "than") or not _PAST.isdisjoint(words):
        return False
    if any(term.names_anatomy for term in clause.terms) and not clause.has("where"):
        return False  # "no right effusion; this is the left lung"
    if len({draft.finding for draft in last}) > 1 or len({side for side, _, _ in places}) > 1:
        return False
    return all(
        draft.status in ("negated", "prior", "hypothetical")
        and not draft.asked
        and {OTHER_SIDE.get(side) for side, _, _ in draft.sides} == {places[0][0]}
        for draft in last
    )


def _only_normal(clause: Clause) -> bool:
    """Whether a clause says that what its side names is normal: "right angle: clear"."""
    return clause.has("normal") and any(
        term.names_anatomy
        or term.is_("opposite", "same")
        or term.mark == ":"
        or (term.mark == "," and not clause.has("it"))
        for term in clause.terms
    )


def _speaks_of_place(clause: Clause) -> bool:
    """Whether a clause has a part of the body as its subject: "the right lung shows little"."""
    for term in clause.terms:
        if "verb" in term.cues:
            return False
        if term.names_anatomy:
            return clause.has("verb")
    return False


def _goes_on_to_more(tokens: Tokens, sentence: Sentence, clause: Clause) -> bool:
    """Whether a word that is not read follows a place: "resolving left lower lobe process"."""
    last = clause.terms[-1]
    after = tokens.words[last.j : min(sentence.j, last.j + 1)]
    named = last.side is not None and last.meaning.zone is not None
    return named and bool(after) and after[0].isalpha()


def _says_where(tokens: Tokens, clause: Clause) -> bool:
    """Whether a clause ends in "is where it lies"."""
    words = tokens.words[clause.terms[0].i : clause.terms[-1].j]
    return any(
        first == "where" and then in ("it", "this", "they") for first, then in pairwise(words)
    )
