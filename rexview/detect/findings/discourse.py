"""What sentences say of one another: headings, "it is on the left", corrections, quotations."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Final

from rexview.detect.findings.atoms import Atom, matters, scan
from rexview.detect.findings.clauses import Clause, Draft, Place, read_clauses
from rexview.detect.findings.layout import Sentence
from rexview.detect.findings.lexicon import finding_info
from rexview.detect.findings.mention import Side, Status
from rexview.detect.findings.side_words import clean_sides
from rexview.detect.findings.tokens import Tokens, words_of
from rexview.geometry import OTHER_SIDE

_ASKED: Final = re.compile(
    r"question|indication|clinical|history|reason|request|options?\b|choices|prompt|task|query"
)
_SECTION: Final = re.compile(
    r"findings?\b|impression|conclusion|summary|summari[sz]e|answer|final|overall|recommend|plan\b"
    r"|next step|diagnosis|opinion|assessment|comment|technique|comparison|report|explanation"
    r"|reasoning|result|discussion|interpretation|step \d|observations?|management|follow"
)
_LEADS: Final = re.compile(
    r"(?:so,? )?(?:the |my )?(?:in (?:conclusion|summary|short)|to (?:summari[sz]e|conclude)"
    r"|overall|in sum|final(?:ly)?|therefore|thus|hence|conclusion|impression|summary"
    r"|all in all|taken together)\b[,:]?",
    re.IGNORECASE,
)
_LEADING: Final = frozenset(
    words_of(
        "so the my in to overall final finally therefore thus hence conclusion impression summary "
        "all taken"
    )
)
"""Words that such a phrase starts with."""
_PENDING: Final = frozenset(
    ("side", "laterality", "location", "position", "site", "where", "region")
)
_ALSO: Final = frozenset(
    ("also", "additionally", "second", "another", "too", "other", "both", "further", "well")
)
_CONDITIONAL: Final = frozenset(
    words_of("should were had is are does do did was can could would has have")
)
"""At the start of a sentence: a question or a condition."""
_COMPARED: Final = frozenset(
    words_of(
        "also additionally second another too other both further larger smaller bigger "
        "unchanged stable than however whereas while similar new additional contralateral "
        "increased decreased improved worse worsened resolved persists remains now less more and"
    )
)
_HAS: Final = frozenset(("has", "have", "had", "is", "are"))
_GONE: Final = frozenset(("resolved", "cleared", "disappeared", "gone", "vanished"))
_PARTLY: Final = frozenset(
    words_of(
        "not n't never partly partially almost nearly mostly largely incompletely if should once "
        "when until may might could yet hardly barely somewhat slightly be"
    )
)
_MEMORY: Final = 40
"""Mentions that a correction looks back over."""
_BODY: Final = frozenset(
    words_of("finding findings impression report result answer chest comparison technique response")
)
_SOON: Final = 120
"""Tokens that a request or history may take before its findings."""
_MARKUP: Final = 8
"""Characters of markup that may stand between the start of a line and its first word."""
_FRAGMENT: Final = 7
_REFERS: Final = 4
_SOON_LINES: Final = 2
"""Lines after a finding in which a fragment with only a side may still be about it."""


@dataclass(slots=True)
class Scene:
    """What headings and earlier sentences say of the next one.

    ``topic`` is the side that a heading or label set, ``named`` the findings of a heading that has
    not been spoken of yet, ``last`` the findings of the last sentence that had any, ``pending`` a
    side that was given ahead of its finding. ``correcting`` waits for what a correction puts right,
    ``tentative`` says that a correction was met, which may be corrected in turn.
    """

    section: str | None = None
    status: Status | None = None
    status_line: int | None = None
    topic: Place | None = None
    topic_line: int | None = None
    named: list[Draft] = field(default_factory=list)
    last: list[Draft] = field(default_factory=list)
    last_line: int = -1
    pending: Place | None = None
    side: Side | None = None
    correcting: bool = False
    tentative: bool = False
    drafts: list[Draft] = field(default_factory=list)


def read_sentence(tokens: Tokens, sentence: Sentence, scene: Scene) -> list[Draft]:
    """Read one sentence in its scene, and change the scene for the next."""
    i = sentence.i
    if scene.topic_line is not None and sentence.line != scene.topic_line:
        scene.topic, scene.topic_line = None, None
    if scene.status_line is not None and sentence.i != scene.status_line:
        scene.status, scene.status_line = None, None
    if sentence.label or sentence.kind == "heading":
        i = _read_label(tokens, sentence, scene)
    leading = tokens.words[sentence.i] in _LEADING
    if leading and (lead := _LEADS.match(tokens.text, tokens.starts[sentence.i])):
        scene.section = lead[0].strip(" ,:").lower()
    atoms = scan(tokens, i, sentence.j)
    if _reply(tokens, i, sentence.j, atoms, scene):
        return []
    if not matters(atoms):
        _let_go(tokens, i, sentence.j, scene)
        return []
    cues = clean_sides(tokens, atoms, scene.side)
    scene.side = next((a.side for a in reversed(atoms) if a.side in OTHER_SIDE), scene.side)
    span = (tokens.starts[sentence.i], tokens.ends[sentence.j - 1])
    asked = sentence.asked or tokens.words[i] in _CONDITIONAL
    clauses = read_clauses(tokens, atoms, span, asked=asked)
    found: list[Draft] = []
    for clause in clauses:
        found += _in_scene(tokens, sentence, clause, scene, found)
    if found and not _COMPARED.isdisjoint(tokens.words[sentence.i : sentence.j]):
        for draft in found:
            draft.compared = True
    if scene.correcting or scene.tentative or "correction" in cues:
        _correct(tokens, sentence, clauses, scene, found)
    if found:
        scene.last, scene.last_line = found, sentence.line
    return found


def _reply(tokens: Tokens, i: int, j: int, atoms: list[Atom], scene: Scene) -> bool:
    """Take in the "yes" or "no" to a question about a finding; say whether that was all."""
    if i >= j or tokens.words[i] not in ("yes", "no") or not scene.last:
        return False
    asked = [draft for draft in scene.last if draft.asked and draft.status == "hypothetical"]
    short = i + 1 == j or tokens.words[i + 1] in (",", ".", "-", ":", "—", "–")
    if not asked or not short or any(atom.finding for atom in atoms):
        return False
    sided = any(atom.side for atom in atoms)
    for draft in asked:
        if tokens.words[i] == "no" or draft.sides or not sided:
            draft.status = "positive" if tokens.words[i] == "yes" else "negated"
    return not sided


def _read_label(tokens: Tokens, sentence: Sentence, scene: Scene) -> int:
    """Take in a heading or label; return the token at which the rest of the sentence starts."""
    end = sentence.i + sentence.label if sentence.label else sentence.j
    heading = sentence.kind == "heading"
    atoms = scan(tokens, sentence.i, end)
    clean_sides(tokens, atoms)
    clause = Clause(atoms)
    text = " ".join(tokens.words[sentence.i : end]).strip(" :")
    places = clause.places(tokens)
    named = any(atom.finding or atom.meaning.near for atom in atoms)
    if named:
        return end if heading and _name(tokens, sentence, clause, scene) else sentence.i
    if {place[0] for place in places} == {places[0][0]} if places else False:
        scene.topic = places[0]
        scene.topic_line = None if heading else sentence.line
        scene.named = []
        return end if heading else sentence.i
    if _SECTION.search(text) or _ASKED.search(text):
        scene.section = text
        scene.status = "hypothetical" if _ASKED.search(text) else None
        scene.status_line = None if heading or _goes_on_to_findings(tokens, end) else sentence.i
        scene.named, scene.topic, scene.topic_line = [], None, None
        return end
    scene.status = None
    if heading:
        scene.topic, scene.topic_line, scene.named = None, None, []
        return end
    return sentence.i


def _goes_on_to_findings(tokens: Tokens, k: int) -> bool:
    """Whether a label for the findings comes soon, so that all before it is the request."""
    words = tokens.words
    return any(
        words[n] == ":" and words[n - 1] in _BODY for n in range(k + 1, min(len(words), k + _SOON))
    )


def _name(tokens: Tokens, sentence: Sentence, clause: Clause, scene: Scene) -> bool:
    """Take in a heading that names a finding: what follows says whether and where it is."""
    span = (tokens.starts[sentence.i], tokens.ends[sentence.j - 1])
    drafts = [
        draft
        for part in read_clauses(tokens, clause.atoms, span, asked=False)
        for draft in part.drafts
    ]
    scene.named = drafts
    scene.topic, scene.topic_line = None, None
    scene.last, scene.last_line = drafts, sentence.line
    scene.drafts += drafts
    for draft in drafts:
        draft.section = scene.section
    return True


def _in_scene(
    tokens: Tokens, sentence: Sentence, clause: Clause, scene: Scene, found: list[Draft]
) -> list[Draft]:
    for draft in clause.drafts:
        draft.section = scene.section
        if scene.status is not None:
            draft.status = scene.status
        if draft.sides or not draft.sided or draft.status == "negated":
            continue
        if scene.topic is not None:
            draft.sides = [scene.topic]
        elif found == [] and _is_apposed(clause, draft, tokens) and len(_last_sides(scene)) == 1:
            draft.sides = _last_sides(scene)
        elif scene.pending is not None:
            draft.sides = [scene.pending]
    if clause.drafts:
        scene.pending = None
        if any(draft.status in ("positive", "uncertain") for draft in clause.drafts):
            scene.named = []
        return clause.drafts
    if not found:
        _let_go(tokens, clause.atoms[0].i, clause.atoms[-1].j, scene)
    _refer(tokens, sentence, clause, scene, found)
    return []


def _let_go(tokens: Tokens, i: int, j: int, scene: Scene) -> None:
    """Make past what was said before when a clause says that it is gone: "It has resolved"."""
    words = tokens.words[i : j + 2]
    if not words or words[0] not in ("it", "this", "these", "they", "both", "all", "which"):
        return
    if _HAS.isdisjoint(words[1:3]) or _GONE.isdisjoint(words) or not _PARTLY.isdisjoint(words):
        return
    for draft in scene.last:
        if draft.status in ("positive", "uncertain"):
            draft.status = "prior"


def _is_apposed(clause: Clause, draft: Draft, tokens: Tokens) -> bool:
    """Whether a sentence says what the last one was: "This represents pneumonia"."""
    first = clause.atoms[0]
    return tokens.words[first.i] in ("this", "it", "these", "which") and first.is_("it")


def _last_sides(scene: Scene) -> list[Place]:
    places = {
        place[0]: place
        for draft in scene.last
        for place in draft.sides
        if draft.status in ("positive", "uncertain")
    }
    return list(places.values())


def _refer(
    tokens: Tokens, sentence: Sentence, clause: Clause, scene: Scene, found: list[Draft]
) -> None:
    """Let a clause that names only a side complete the findings said before it."""
    places = clause.places(tokens)
    if not places or clause.has("correction", "own", "turned", "not_before"):
        return
    if all(place[0] == "midline" for place in places) or _only_normal(clause):
        return
    if clause.has("tip") and any(finding_info(d.finding).group == "device" for d in scene.last):
        return
    if scene.status is not None or sentence.asked:
        return
    first = clause.atoms[0].i
    short = sentence.j - sentence.i <= _FRAGMENT
    soon = bool(found) or sentence.line - scene.last_line <= _SOON_LINES
    refers = any(atom.is_("it") and atom.i - first <= _REFERS for atom in clause.atoms[:3])
    refers = refers or (clause.atoms[0].is_("where") and not clause.has("verb"))
    refers = refers or clause.has("affected") or tokens.words[sentence.i] == "yes"
    refers = refers or _says_where(tokens, clause)
    label = tokens.words[sentence.i] in _PENDING
    if short and not (refers or label or sentence.item) and _leads_line(tokens, sentence, clause):
        scene.topic, scene.topic_line = places[0], sentence.line
        return
    open_ones = [
        draft
        for draft in (found or scene.last)
        if draft.sided
        and not draft.sides
        and (draft.status in ("positive", "uncertain") or draft.asked)
    ]
    if open_ones and (refers or (short and soon) or sentence.item or label):
        for draft in open_ones:
            draft.sides = list(places)
            if draft.asked:
                draft.status = "positive"
    elif refers and any(d.asked and d.sides for d in scene.last):
        scene.drafts += [
            replace(draft, status="positive", sides=list(places), asked=False)
            for draft in scene.last
            if draft.asked and draft.sides
        ]
    elif label or clause.has("topic") or (short and not refers and not clause.has("verb")):
        scene.pending = places[0]


def _only_normal(clause: Clause) -> bool:
    """Whether a clause says that what its side names is normal: "right angle: clear"."""
    return clause.has("normal") and any(atom.place for atom in clause.atoms)


def _says_where(tokens: Tokens, clause: Clause) -> bool:
    """Whether a clause ends in "is where it lies"."""
    words = tokens.words[clause.atoms[0].i : clause.atoms[-1].j]
    return any(
        first == "where" and then in ("it", "this", "they") for first, then in pairwise(words)
    )


def _leads_line(tokens: Tokens, sentence: Sentence, clause: Clause) -> bool:
    """Whether a fragment opens a line as a heading would: "**Right pleural space.** No fluid."."""
    text, start = tokens.text, tokens.starts[sentence.i]
    opening = text[max(0, start - _MARKUP) : start].rsplit("\n", 1)
    first = start == 0 or (len(opening) == 2 and not opening[1].strip("*_# \t"))
    goes_on = sentence.j + 1 < len(tokens.words) and tokens.words[sentence.j + 1] != "\n"
    return first and goes_on and any(atom.place for atom in clause.atoms)


def _correct(
    tokens: Tokens, sentence: Sentence, clauses: list[Clause], scene: Scene, found: list[Draft]
) -> None:
    """Take back what a correction replaces: the last statement counts."""
    cues = [atom for clause in clauses for atom in clause.atoms if atom.is_("correction")]
    cue = cues[-1] if cues else None
    for draft in found:
        if draft.sides and draft.status in ("positive", "uncertain"):
            _supersede(
                draft,
                [d for d in (*scene.drafts[-_MEMORY:], *found) if d.tentative and d is not draft],
            )
    if cue is None:
        if scene.correcting:
            scene.correcting = False
            for draft in found:
                if draft.sides and draft.status in ("positive", "uncertain"):
                    _supersede(draft, scene.drafts[-_MEMORY:])
        return
    rest = [*tokens.words[sentence.i : cue.i], *tokens.words[cue.j : sentence.j]]
    if _ALSO & set(rest):
        return
    at = tokens.starts[cue.i]
    later = [draft for draft in found if draft.start > at or _side_after(draft, at)]
    earlier = [*scene.drafts[-_MEMORY:], *(draft for draft in found if draft not in later)]
    stated = [d for d in later if d.sides and d.status in ("positive", "uncertain")]
    if stated:
        for draft in stated:
            _supersede(draft, earlier)
            draft.tentative = scene.tentative = True
        return
    places = [place for clause in clauses for place in clause.places(tokens) if place[1] > at]
    scene.correcting = not places and not found
    target = next((draft for draft in reversed(earlier) if draft.sides), None)
    if places and target is not None and not any(c.has("normal", "own") for c in clauses):
        renewed = Draft(
            target.finding, target.status, target.start, target.end, places[-1:], target.zone,
            target.sentence, target.section,
        )  # fmt: skip
        _supersede(renewed, earlier)
        found.append(renewed)


def _side_after(draft: Draft, at: int) -> bool:
    return bool(draft.sides) and all(start > at for _, start, _ in draft.sides)


def _supersede(draft: Draft, earlier: list[Draft]) -> None:
    family = finding_info(draft.finding).family
    sides = {side for side, _, _ in draft.sides}
    for other in earlier:
        if finding_info(other.finding).family == family and other.sides:
            other.superseded = other.superseded or {side for side, _, _ in other.sides} != sides
