"""Taking back what a correction replaces: "left effusion, no, right effusion"."""

from __future__ import annotations

from typing import Final

from rexview.detect.findings.clauses import Clause, Draft
from rexview.detect.findings.discourse.context import Context
from rexview.detect.findings.lexicon import finding_info
from rexview.detect.findings.sentences import Sentence
from rexview.detect.findings.tokens import Tokens

_ALSO: Final = frozenset(
    ("also", "additionally", "second", "another", "too", "other", "both", "further", "well")
)
_MEMORY: Final = 40
"""Mentions that a correction looks back over."""


def correct(
    tokens: Tokens, sentence: Sentence, clauses: list[Clause], context: Context, found: list[Draft]
) -> None:
    """Take back what a correction replaces: "left effusion, no, right effusion".

    The last statement counts, and a corrected one may be corrected again. A sentence with "also" or
    "second" adds a finding and takes nothing back.
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
        # the sentence before ended in "Correction:"; what it corrects to stands in this one
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
    # "... no, the left": only a side, so the last finding with a side is meant
    if sides and target is not None and not any(c.has("normal", "own") for c in clauses):
        renewed = Draft(
            target.finding, target.status, target.start, target.end, sides[-1:], target.zone,
            target.sentence, target.section,
        )  # fmt: skip
        _supersede(renewed, earlier)
        found.append(renewed)


def _side_after(draft: Draft, at: int) -> bool:
    return bool(draft.sides) and all(start > at for _, start, _ in draft.sides)


def _supersede(draft: Draft, earlier: list[Draft]) -> None:
    """Take back earlier mentions of the same family on another side than ``draft``.

    One on the same side is no contradiction and stays.
    """
    family = finding_info(draft.finding).family
    sides = {side for side, _, _ in draft.sides}
    for other in earlier:
        if finding_info(other.finding).family == family and other.sides:
            other.superseded = other.superseded or {side for side, _, _ in other.sides} != sides
