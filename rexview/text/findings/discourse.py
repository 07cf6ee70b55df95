"""Relate sentences to one another, reading them one by one."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Final

from rexview.geometry import OTHER_SIDE
from rexview.text.findings.carried_sides import (
    add_second_side,
    assign_excepted_side,
    assign_lone_side,
    repeat_findings,
    repeats_finding,
)
from rexview.text.findings.clauses import (
    LASTING,
    Clause,
    MentionDraft,
    SentenceReading,
    SideSpan,
    read_alone,
)
from rexview.text.findings.lexicon import finding_info
from rexview.text.findings.mention import Side, Status
from rexview.text.findings.sentences import Sentence, Tokens
from rexview.text.findings.side_exclusions import PAIRED, SHIFTS
from rexview.text.phrases import list_alternatives, word_set

# State that earlier sentences leave for the next one.


@dataclass(slots=True)
class ReadingContext:
    """State from headings and earlier sentences that applies to the next one.

    ``section`` and ``status`` come from a heading ("Indication:" makes what follows hypothetical).
    ``topic`` is the side set by a heading or label, ``topic_indent`` the indent of a line that
    heads the lines below it. ``last`` are the findings of the last sentence that had any.
    ``pending`` is a side given before its finding. ``side`` is the last side of a finding
    (``side_is_told``) or, while none has one, the last side named, for "on the same side".
    ``correcting``: a correction waits for the corrected statement. ``tentative``: there was a
    correction, which may be corrected in turn.
    """

    section: str | None = None
    status: Status | None = None
    status_line: int | None = None
    topic: SideSpan | None = None
    topic_line: int | None = None
    topic_indent: int | None = None
    last: list[MentionDraft] = field(default_factory=list)
    last_line: int = -1
    pending: SideSpan | None = None
    side: Side | None = None
    side_is_told: bool = False
    correcting: bool = False
    tentative: bool = False
    drafts: list[MentionDraft] = field(default_factory=list)


# Retractions by a correction: "left effusion, no, right effusion".

_ALSO: Final = frozenset(
    ("also", "additionally", "second", "another", "too", "other", "both", "further", "well")
)
_MEMORY: Final = 40
"""Number of mentions before a correction that it can retract."""


def apply_correction(
    tokens: Tokens,
    sentence: Sentence,
    clauses: list[Clause],
    context: ReadingContext,
    found: list[MentionDraft],
) -> None:
    """Retract what a correction replaces: "left effusion, no, right effusion".

    The last statement counts, and a corrected one may be corrected again. A sentence with "also" or
    "second" adds a finding and retracts nothing.
    """
    cues = [term for clause in clauses for term in clause.terms if "correction" in term.cues]
    cue = cues[-1] if cues else None
    for draft in found:
        if draft.sides and draft.status in ("positive", "uncertain"):
            _supersede(
                draft,
                [d for d in (*context.drafts[-_MEMORY:], *found) if d.tentative and d is not draft],
            )
    if cue is None:
        # the sentence before ended in "Correction:", and this one contains the corrected statement
        if context.correcting:
            context.correcting = False
            for draft in found:
                if draft.sides and draft.status in ("positive", "uncertain"):
                    _supersede(draft, context.drafts[-_MEMORY:])
        return
    rest = [*tokens.words[sentence.i : cue.i], *tokens.words[cue.j : sentence.j]]
    if _ALSO & set(rest):
        return
    at = tokens.starts[cue.i]
    later = [draft for draft in found if draft.start > at or _side_after(draft, at)]
    earlier = [*context.drafts[-_MEMORY:], *(draft for draft in found if draft not in later)]
    stated = [d for d in later if d.sides and d.status in ("positive", "uncertain")]
    if stated:
        for draft in stated:
            _supersede(draft, earlier)
            draft.tentative = context.tentative = True
        return
    sides = [
        side
        for clause in clauses
        for side in clause.side_spans(tokens, 0)
        if side[1] > at
        and not tokens.text[: side[1]].rstrip().lower().endswith((" not", " not the"))
    ]
    context.correcting = not sides and not found
    target = next((draft for draft in reversed(earlier) if draft.sides), None)
    # "... no, the left": only a side, so it belongs to the last finding with a side
    if sides and target is not None and not any(c.has("normal", "own") for c in clauses):
        renewed = MentionDraft(
            target.finding, target.status, target.start, target.end, sides[-1:], target.zone,
            target.sentence, target.section,
        )  # fmt: skip
        _supersede(renewed, earlier)
        found.append(renewed)


def _side_after(draft: MentionDraft, at: int) -> bool:
    return bool(draft.sides) and all(start > at for _, start, _ in draft.sides)


def _supersede(draft: MentionDraft, earlier: list[MentionDraft]) -> None:
    """Retract earlier mentions of the same family on another side than ``draft``.

    One on the same side is no contradiction and is kept.
    """
    family = finding_info(draft.finding).family
    sides = {side for side, _, _ in draft.sides}
    for other in earlier:
        if finding_info(other.finding).family == family and other.sides:
            other.superseded = other.superseded or {side for side, _, _ in other.sides} != sides


# Lines that head others: headings without a mark, indents, boxes to tick.

_LINE_START: Final = 40
"""Characters in which the text of a line starts."""
_MARKUP: Final = 8
"""Characters of markup between the start of a line and its first word."""
_UNTICKED: Final = re.compile(r"[ \t]*(?:[-*+][ \t]*)?(?:\[[ \t]?\]|\([ \t]?\)|[☐□◻⬜])")
_BOXES: Final = " \t-*+[]()☐□◻⬜"
_BOX: Final = 6


def line_indent(tokens: Tokens, k: int) -> int:
    """Return the indent of the line of token ``k``, in characters."""
    text = tokens.text
    start = text.rfind("\n", 0, tokens.starts[k]) + 1
    return len(text[start : tokens.starts[k]]) - len(text[start : tokens.starts[k]].lstrip())


def leads_lines(tokens: Tokens, sentence: Sentence) -> int | None:
    """Return the indent of a line that heads lines with a larger indent; None for others."""
    text, end = tokens.text, tokens.ends[sentence.j - 1]
    stop = text.find("\n", end)
    line = text[text.rfind("\n", 0, end) + 1 : stop].strip()
    if stop > 0 and line.isupper() and not text[stop + 1 : stop + _LINE_START].isupper():
        return -1  # a line in capitals heads all that follow
    if stop < 0 or text[end:stop].strip(" \t:*_.") or not text[stop + 1 : stop + 2].isspace():
        return None
    after = text[stop + 1 : stop + _LINE_START]
    indent = line_indent(tokens, sentence.i)
    return indent if len(after) - len(after.lstrip(" \t")) > indent else None


def leads_line(tokens: Tokens, sentence: Sentence, clause: Clause) -> bool:
    """True if a fragment opens a line like a heading: "**Right pleural space.** No fluid."."""
    text, start = tokens.text, tokens.starts[sentence.i]
    opening = text[max(0, start - _MARKUP) : start].rsplit("\n", 1)
    first = start == 0 or (len(opening) == 2 and not opening[1].strip("*_# \t"))
    goes_on = sentence.j + 1 < len(tokens.words) and tokens.words[sentence.j + 1] != "\n"
    return first and goes_on and any(term.names_anatomy for term in clause.terms)


def is_independent(tokens: Tokens, sentence: Sentence) -> bool:
    """True if a sentence is alone on its line, with lines below."""
    text = tokens.text
    first, last = tokens.starts[sentence.i], tokens.ends[sentence.j - 1]
    before = text[text.rfind("\n", 0, first) + 1 : first]
    stop = text.find("\n", last)
    return stop >= 0 and not before.strip("*_#> \t") and not text[last:stop].strip("*_ \t")


def is_unticked(tokens: Tokens, sentence: Sentence) -> bool:
    """True if the box before a sentence is empty: "[ ] Effusion"."""
    text, start = tokens.text, tokens.starts[sentence.i]
    line = text.rfind("\n", 0, start) + 1
    return _UNTICKED.match(text, line, start + _BOX) is not None and not text[line:start].strip(
        _BOXES
    )


# Headings, labels and questions that set the topic of the sentences after them.

_WEIGHED: Final = re.compile(list_alternatives("heading", "weighed"))
_ASKED: Final = re.compile(
    f"{list_alternatives('heading', 'weighed')}|{list_alternatives('heading', 'asked')}"
)
_SECTION: Final = re.compile(list_alternatives("heading", "section"))
_BODY: Final = word_set("sentence", "body")
_SOON: Final = 120
"""Tokens of a request or history before its findings."""
SHORT: Final = 7
"""Maximum tokens of a fragment, such as "Left side."."""
_ALL_WELL: Final = frozenset(("normal", "clear", "unremarkable", "fine", "ok"))


def read_label(tokens: Tokens, sentence: Sentence, context: ReadingContext) -> int:
    """Process a heading or label; return the token at which the rest of the sentence starts."""
    end = sentence.i + sentence.label if sentence.label else sentence.j
    heading = sentence.kind == "heading"
    said, first = read_alone(tokens, sentence.i, end, begin=sentence.i)
    text = " ".join(tokens.words[sentence.i : end]).strip(" :")
    places = Clause(said.terms).side_spans(tokens, first)
    if said.named:  # a heading gives the topic of what follows; a label is part of the sentence
        if not heading:
            return sentence.i
        _read_finding_heading(tokens, first, sentence, said, context)
        return end
    if {place[0] for place in places} == {places[0][0]} if places else False:
        context.topic = places[0]
        context.topic_line = None if heading else sentence.line
        return end if heading else sentence.i
    if _SECTION.search(text) or _ASKED.search(text):
        context.section = text
        context.status = "hypothetical" if _ASKED.search(text) else None
        # "Request: effusion? Findings: ..." on one line: the request ends at the next label
        context.status_line = None if heading or _goes_on_to_findings(tokens, end) else sentence.i
        context.topic, context.topic_line = None, None
        return end
    context.status = None
    if heading:
        context.topic, context.topic_line = None, None
        return end
    return sentence.i


def _goes_on_to_findings(tokens: Tokens, k: int) -> bool:
    """True if a label for the findings comes soon, so that all text before it is the request."""
    words = tokens.words
    return any(
        words[n] == ":" and words[n - 1] in _BODY for n in range(k + 1, min(len(words), k + _SOON))
    )


def _read_finding_heading(
    tokens: Tokens, first: int, sentence: Sentence, said: SentenceReading, context: ReadingContext
) -> None:
    """Process a heading that names a finding: the text after it gives presence and position."""
    span = (tokens.starts[sentence.i], tokens.ends[sentence.j - 1])
    drafts = [draft for clause in said.clauses for draft in clause.drafts(tokens, first, span)]
    context.topic, context.topic_line = None, None
    context.last, context.last_line = drafts, sentence.line
    context.drafts += drafts
    for draft in drafts:
        draft.section = context.section


def introduces_weighing(tokens: Tokens, sentence: Sentence) -> bool:
    """True if a question alone on its line heads mere considerations: "Why not ...?"."""
    words = " ".join(tokens.words[sentence.i : sentence.j])
    return is_independent(tokens, sentence) and _WEIGHED.search(words) is not None


def called_normal_next(tokens: Tokens, sentence: Sentence) -> bool:
    """True if a side only heads a normal statement: "Left side. Normal.", "Left: clear."."""
    word = next((one for one in tokens.words[sentence.j : sentence.j + 3] if one.isalpha()), "")
    return sentence.j - sentence.i <= SHORT and word in _ALL_WELL


# Relations between sentences: headings, "it is on the left", corrections, answers.
#
# A finding and its side are often in different sentences. A :class:`ReadingContext` holds the state
# from earlier sentences: each sentence is read with it and changes it.

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
"""Tokens of a "no" with its dash."""
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
"""Before a conclusion about the place: "it hides the heart border, so lingular"."""
_POINTS_BACK: Final = 4
"""Tokens from the start of a clause in which an "it" still points back."""
_SOON_LINES: Final = 2
"""Lines after a finding in which a fragment with only a side may still belong to it."""


def read_sentence(
    tokens: Tokens, sentence: Sentence, context: ReadingContext
) -> list[MentionDraft]:
    """Read one sentence in its context, and update the context for the next."""
    i = sentence.i
    if context.topic_indent is not None and line_indent(tokens, sentence.i) <= context.topic_indent:
        context.topic, context.topic_indent = None, None
    # a label within a line ("Left: ...") applies to the end of its line only
    if context.topic_line is not None and sentence.line != context.topic_line:
        context.topic, context.topic_line = None, None
    if context.status_line is not None and sentence.i != context.status_line:
        context.status, context.status_line = None, None
    if sentence.label or sentence.kind == "heading":
        i = read_label(tokens, sentence, context)
    leading = tokens.words[sentence.i] in _LEADING
    if leading and (lead := _LEADS.match(tokens.text, tokens.starts[sentence.i])):
        context.section = lead[0].strip(" ,:").lower()
    if sentence.asked and introduces_weighing(tokens, sentence):
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
    found: list[MentionDraft] = []
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
                assign_excepted_side(tokens, first, said, clause, drafts)
            _give_context(drafts, clause, opening, context, found, near=near)
            found += drafts
            continue
        part = tokens.part(first, sentence.j + PAIRED)
        if not found:
            _mark_resolved(part.words[clause.terms[0].i : clause.terms[-1].j + 2], context)
        _complete_earlier(part, sentence.moved(-first), clause, context, found)
    if found:
        assign_lone_side(tokens, first, said, found)
        found += add_second_side(tokens, first, said, found)
    # "the right one is larger": a second finding beside the first, not the first on another side
    if found and not _COMPARED.isdisjoint(tokens.words[sentence.i : sentence.j]):
        for draft in found:
            draft.compared = True
    if context.correcting or context.tentative or "correction" in said.cues:
        part = tokens.part(first, sentence.j + PAIRED)
        apply_correction(part, sentence.moved(-first), said.clauses, context, found)
    if found:
        context.last, context.last_line = found, sentence.line
        _keep_side(found, context)
    return found


def _keep_side(found: list[MentionDraft], context: ReadingContext) -> None:
    """Record the side of the last finding that is there; "the same side" points back to it."""
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
    """Return where a doubt at the end of a statement starts: "calcified pleura, asbestos?"."""
    words = tokens.words[sentence.i : sentence.j]
    if "," not in words or words[0] in _CONDITIONAL or words[0] in _WH:
        return None
    last = len(words) - 1 - words[::-1].index(",")
    return sentence.i + last if len(words) - last <= _DOUBT and last > 1 else None


def _reply(
    tokens: Tokens,
    i: int,
    sentence: Sentence,
    said: SentenceReading,
    first: int,
    context: ReadingContext,
) -> bool:
    """Process the "yes" or "no" to a question about a finding; return True if that was all."""
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
    """True if a sentence answers the previous question by "no", then reports what is there."""
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
    drafts: list[MentionDraft],
    clause: Clause,
    opening: str,
    context: ReadingContext,
    found: list[MentionDraft],
    *,
    near: bool,
) -> None:
    """Apply the context to the findings of a clause that opens with the word ``opening``.

    A finding without a side takes the side of the heading. Otherwise it takes that of the finding
    it renames ("this represents pneumonia") if that is ``near``, in the same paragraph; otherwise
    the side given before it. A denied finding takes none.
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


def _mark_resolved(words: list[str], context: ReadingContext) -> None:
    """Set earlier findings to the status ``prior`` if a clause states "it has resolved"."""
    if not words or words[0] not in ("it", "this", "these", "they", "both", "all", "which"):
        return
    if _HAS.isdisjoint(words[1:3]) or _RESOLVED.isdisjoint(words) or not _PARTLY.isdisjoint(words):
        return
    for draft in context.last:
        if draft.status in ("positive", "uncertain"):
            draft.status = "prior"


def _is_apposed(clause: Clause, opening: str) -> bool:
    """True if a sentence renames the last finding: "This represents pneumonia"."""
    return opening in ("this", "it", "these", "which") and "it" in clause.terms[0].cues


def _last_sides(context: ReadingContext) -> list[SideSpan]:
    places = {
        place[0]: place
        for draft in context.last
        if draft.finding not in SHIFTS  # "displaced to the left. This is a pneumothorax"
        for place in draft.sides
        if draft.status in ("positive", "uncertain")
    }
    return list(places.values())


def _complete_earlier(
    tokens: Tokens,
    sentence: Sentence,
    clause: Clause,
    context: ReadingContext,
    found: list[MentionDraft],
) -> None:
    """Let a clause that names only a side complete the findings before it: "It lies on the left".

    Only if it clearly points back: by a pronoun, "affected", a label such as "Side:", as a list
    item, or as a fragment that follows at once. Otherwise a side may as well introduce what comes
    next.
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
    # the side where a device's tip ends is not the side of the device
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
    # a short line of its own is a heading for what follows, not a comment on what came before
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
    # asked about one side, answered for another: the question is unchanged, the answer is new
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
    elif not open_ones and repeats_finding(tokens, sentence, clause):
        context.drafts += repeat_findings(found or context.last, places, clause)
    # no earlier finding lacks a side, so it is the side of what comes next: "Side: left."
    elif label or clause.has("topic") or (short and not refers and not clause.has("verb")):
        context.pending = places[0]


def _is_open(draft: MentionDraft) -> bool:
    """True if a question about a finding has had no yes or no."""
    return draft.asked and draft.status == "hypothetical"


def _lies_elsewhere(
    tokens: Tokens, clause: Clause, last: list[MentionDraft], places: list[SideSpan]
) -> bool:
    """True if a finding absent on one side is on the other: "it's on the left, as I see it".

    The last statement about it is that it is not there, was there, or would be.
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
    """True if a clause calls normal what its side names: "right angle: clear"."""
    return clause.has("normal") and any(
        term.names_anatomy
        or term.is_("opposite", "same")
        or term.mark == ":"
        or (term.mark == "," and not clause.has("it"))
        for term in clause.terms
    )


def _speaks_of_place(clause: Clause) -> bool:
    """True if the subject of a clause is a part of the body: "the right lung shows little"."""
    for term in clause.terms:
        if "verb" in term.cues:
            return False
        if term.names_anatomy:
            return clause.has("verb")
    return False


def _goes_on_to_more(tokens: Tokens, sentence: Sentence, clause: Clause) -> bool:
    """True if an unread word follows a place: "resolving left lower lobe process"."""
    last = clause.terms[-1]
    after = tokens.words[last.j : min(sentence.j, last.j + 1)]
    named = last.side is not None and last.meaning.zone is not None
    return named and bool(after) and after[0].isalpha()


def _says_where(tokens: Tokens, clause: Clause) -> bool:
    """True if a clause ends in "is where it lies"."""
    words = tokens.words[clause.terms[0].i : clause.terms[-1].j]
    return any(
        first == "where" and then in ("it", "this", "they") for first, then in pairwise(words)
    )
