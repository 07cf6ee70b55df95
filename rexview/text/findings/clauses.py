"""Read one sentence: its clauses, the findings in each, their sides and status."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Final, NamedTuple

from rexview.geometry import OTHER_SIDE
from rexview.text.findings.lexicon import Term, TermSummary, find_terms, lexicon, summarize_terms
from rexview.text.findings.mention import Mention, Side, Status
from rexview.text.findings.sentences import Tokens, split_words
from rexview.text.findings.side_attachment import PARTS, attach_sides
from rexview.text.findings.side_exclusions import PAIRED, clean_sides
from rexview.text.findings.status import AFTERWARDS, EARLIER, SINCE, mention_status

# Words that mean a finding only with a part of the body: "fracture" of which bone.

_NEAR: Final = 14
"""Tokens between a word such as "fracture" and its part of the body."""
_LIST: Final = 12
"""Terms after a part of the body in which further parts are listed."""
_FLUID: Final = "pleural_effusion"
_SIDE_ENOUGH: Final = frozenset(("pleural_effusion/2",))
"""Findings for which a side is enough, without a part of the body."""


def resolve_body_parts(terms: list[Term]) -> dict[int, list[tuple[str, int]]]:
    """Resolve words that mean a finding only together with a part of the body.

    Returns
    -------
    dict
        For the index of such a word, the findings it means, each with the index of its part:
        "fractures of the left clavicle and the right third rib".
    """
    sites: dict[int, list[tuple[str, int]]] = {}
    for k, term in enumerate(terms):
        if not term.meaning.near or _sizes_next(terms, k):
            continue
        chosen: dict[str, int] = {}
        first, last = max(0, k - 8), min(len(terms), k + 9)
        for n in _nearest(terms, k, range(first, last)):
            other = terms[n]
            gap = other.i - term.j if other.i > term.i else term.i - other.j
            names = other.meaning.site_of
            if n == k or gap > _NEAR or not names or _parted(terms, k, n):
                continue
            for name in term.meaning.near:
                if name in names:
                    chosen.setdefault(name.partition("/")[0], n)
        if not chosen and not _SIDE_ENOUGH.isdisjoint(term.meaning.near) and _is_all(terms, k):
            term.finding = _FLUID  # "the fluid is on the right"
            sites[k] = [(_FLUID, k)]
        if chosen:
            term.finding = next(iter(chosen))
            found = list(chosen.items())
            found += [
                (name, further)
                for name, part in chosen.items()
                for further in _further_parts(terms, k, part, name)
            ]
            for _, part in found:
                terms[part].is_site = True
            sites[k] = found
    return sites


def _sizes_next(terms: list[Term], k: int) -> bool:
    """True if a size belongs to what follows: "shift of the heart, a large effusion"."""
    if "size" not in terms[k].cues:
        return False
    for n in range(k + 1, len(terms)):
        if terms[n].i != terms[n - 1].j:
            return False
        if terms[n].finding:
            return True
        if terms[n].side is None and not terms[n].names_anatomy:
            return False
    return False


def _nearest(terms: list[Term], k: int, places: range) -> list[int]:
    """Return indices by distance, those beyond a mark last.

    After "fracture of", the following ones come first.
    """
    marks = [n for n in places if terms[n].mark]
    far = {n for n in places if any(min(n, k) < mark < max(n, k) for mark in marks)}
    leads = k + 1 < len(terms) and "where" in terms[k + 1].cues and terms[k + 1].i == terms[k].j
    if not leads:
        return sorted(places, key=lambda n: (n in far, abs(n - k)))
    return sorted(places, key=lambda n: (n < k and terms[n].j != terms[k].i, n in far, abs(n - k)))


def _is_all(terms: list[Term], k: int) -> bool:
    """True if a clause has a side and no finding except the word at ``k``."""
    return any(term.side in ("right", "left") for term in terms) and not any(
        term.finding for n, term in enumerate(terms) if n != k
    )


def _further_parts(terms: list[Term], k: int, part: int, name: str) -> list[int]:
    """Return further parts of one kind with a side: "of the right third rib and the left fifth".

    They follow the word at ``k`` and the first part, up to another finding or statement.
    """
    found: list[int] = []
    if part < k:
        return found
    for n in range(part + 1, min(len(terms), part + _LIST)):
        term = terms[n]
        if term.finding or term.is_("verb", "but", "not_before", "normal"):
            break
        if any(name == one.partition("/")[0] for one in term.meaning.site_of) and any(
            one.side is not None for one in terms[n - 1 : n + 1]
        ):
            found.append(n)
    return found


def _parted(terms: list[Term], k: int, n: int) -> bool:
    """True if another finding is between a word and a part of the body."""
    between = terms[min(k, n) + 1 : max(k, n)]
    return any(term.finding and not term.meaning.near for term in between)


_BEFORE: Final = 4
"""Words before a finding that show that it is known: "the", "in the"."""
_AROUND: Final = 8
"""Terms around a finding and its sides in which its zone is searched for."""
_RELATIVE: Final = ("same", "opposite")
"""Cues for a side that is defined by an earlier one."""
WITHIN: Final = frozenset(("in", "on", "at", "within", "over", "overlying", "along", "near"))
LASTING: Final = frozenset(
    (
        "mastectomy",
        "pneumonectomy",
        "sternotomy",
        "arthroplasty",
        "bone_hardware",
        "surgical_clips",
        "granuloma",
    )
)
"""Done or implanted long ago, and still visible."""
_IN_VEINS: Final = ("central_line", "picc", "port", "pacemaker", "pacing_lead", "stent")
_INTO: Final = frozenset(("into", "in", "via", "through", "within", "from", "toward", "towards"))
_PART: Final = "pacing_lead"
_BARE_PARTS: Final = frozenset(("lead", "leads", "wire", "wires"))
_WHOLE: Final = ("pacemaker", "stimulator", "loop_recorder")
"""Devices with leads; the leads go elsewhere than the device."""
_PARTING: Final = ("verb", "not_before", "not_after", "but")
"""Without one of these cues a sentence is one clause, unless it has a semicolon."""
_JOINING: Final = frozenset(("and", "plus", "&"))
_ONLY_AFTER: Final = frozenset(("there", "only"))
_BROKEN: Final = "fracture"
"""A fracture of no named bone."""
_BROKEN_WIRE: Final = "broken_wire"
_WIRES: Final = frozenset(split_words("wire wires lead leads cerclage"))
_REMAINING: Final = frozenset(("remains", "persists", "stays"))
_NO_SIDES: Final[list[Term]] = []
SideSpan = tuple[Side, int, int]
"""A side and where it was read: offsets into the text."""


_NOWHERE: Final[list[tuple[None, None, None]]] = [(None, None, None)]


@dataclass(slots=True, eq=False)
class MentionDraft:
    """A mention while the text is still being read."""

    finding: str
    status: Status
    start: int
    end: int
    sides: list[SideSpan]
    zone: str | None
    sentence: tuple[int, int]
    section: str | None = None
    superseded: bool = False
    refers_back: bool = False
    image_side: bool = False
    definite: bool = False
    compared: bool = False
    structured: bool = False
    asked: bool = False
    tentative: bool = False
    sided: bool = True

    def mentions(self) -> list[Mention]:
        """Return one mention for each side, or one without a side."""
        sides = self.sides if len(self.sides) < 2 else _each_once(self.sides)
        return [
            Mention(
                self.finding,
                side,
                self.zone and _lobe(self.zone, side),
                self.status,
                self.start,
                self.end,
                first,
                last,
                self.sentence,
                self.section,
                self.superseded,
                self.refers_back,
                self.image_side,
                self.definite,
                self.compared,
                self.structured,
            )
            for side, first, last in sides or _NOWHERE
        ]


def _each_once(sides: list[SideSpan]) -> list[SideSpan]:
    """Keep the first place of each side; if one place names both sides, only that one."""
    places: dict[str, SideSpan] = {}
    for side in sides:
        places.setdefault(side[0], side)
    both = places.get("bilateral")
    return [both] if both is not None else list(places.values())


def _lobe(zone: str, side: Side | None) -> str:
    if zone.endswith(" lobe"):
        if side in ("right", "left"):
            return f"{side[0].upper()}{zone[0].upper()}L"
        return zone.removesuffix(" lobe")
    return zone


class Statement(NamedTuple):
    """A finding of a clause as read from its sentence alone; positions are tokens."""

    finding: str
    status: Status
    i: int
    j: int
    sides: list[SideSpan]
    zone: str | None
    refers_back: bool
    image_side: bool
    definite: bool
    asked: bool
    sided: bool

    def draft(self, tokens: Tokens, first: int, span: tuple[int, int]) -> MentionDraft:
        """Convert it to a draft; its positions count from token ``first``."""
        starts, ends = tokens.starts, tokens.ends
        return MentionDraft(
            self.finding,
            self.status,
            starts[first + self.i],
            ends[first + self.j - 1],
            [(side, starts[first + i], ends[first + j - 1]) for side, i, j in self.sides],
            self.zone,
            span,
            refers_back=self.refers_back,
            image_side=self.image_side,
            definite=self.definite,
            asked=self.asked,
            sided=self.sided,
        )


@dataclass(slots=True)
class Clause:
    """Part of a sentence with one statement, and the findings that it states."""

    terms: list[Term]
    statements: list[Statement] = field(default_factory=list)

    def drafts(self, tokens: Tokens, first: int, span: tuple[int, int]) -> list[MentionDraft]:
        """Return drafts of its findings; ``span`` is the sentence's.

        Positions in the clause count from token ``first``.
        """
        return [statement.draft(tokens, first, span) for statement in self.statements]

    def side_spans(self, tokens: Tokens, first: int) -> list[SideSpan]:
        """Return the sides that the clause names, in order."""
        return [
            (term.side, tokens.starts[first + term.i], tokens.ends[first + term.j - 1])
            for term in self.terms
            if term.side is not None and not term.way and not term.clear
        ]

    def has(self, *cues: str) -> bool:
        """True if the clause contains a cue of one of these kinds."""
        return any(term.is_(*cues) for term in self.terms)


def read_clauses(
    words: list[str], terms: list[Term], said: TermSummary, *, asked: bool
) -> list[Clause]:
    """Split the terms of a sentence into clauses and read the findings of each.

    ``said`` is the outline of the terms before sides were removed.
    """
    parts = _split(words, terms, said.cues)
    if len(parts) == 1 and len(parts[0]) == len(terms):
        return [Clause(terms, _statements(words, terms, said, asked=asked))]
    return [
        Clause(part, _statements(words, part, summarize_terms(part), asked=asked)) for part in parts
    ]


def _split(words: list[str], terms: list[Term], cues: set[str]) -> list[list[Term]]:
    """Split at semicolons, at "but", and at a comma or "and" between two whole statements.

    "Effusion on the right and no pneumothorax is seen" is two clauses, so the "no" does not apply
    to the effusion. "Effusion and pneumothorax on the right" is one, so the side applies to both.
    """
    if not terms:
        return []
    marks = {term.mark for term in terms}
    if ";" not in marks:
        if cues.isdisjoint(_PARTING):
            return [terms]
        joined = "," in marks or not _JOINING.isdisjoint([words[term.i] for term in terms])
        if not joined and "but" not in cues:
            return [terms]
    clauses: list[list[Term]] = [[]]
    for k, term in enumerate(terms):
        if term.mark == ";":
            clauses.append([])
            continue
        if "but" in term.cues and not term.finding:
            # some start a clause only after a finding: not "on the left there is only fluid"
            if words[term.i] not in _ONLY_AFTER or any(_is_statement(item) for item in clauses[-1]):
                clauses.append([term])
                continue
        elif (
            (term.mark == "," or words[term.i] in _JOINING)
            and _is_whole(clauses[-1])
            and (_is_whole(part := _until_break(terms, k + 1)) or _tells_of_one(words, part))
        ):
            clauses.append([])
            continue
        clauses[-1].append(term)
    return [clause for clause in clauses if clause]


def _is_statement(term: Term) -> bool:
    """True if a clause can be about the term: a finding, or that everything is normal."""
    return term.finding is not None or bool(term.meaning.near) or "normal" in term.cues


def _is_whole(terms: list[Term]) -> bool:
    """True if the terms can form a clause: they state something about a finding."""
    return any(a.is_("verb", "not_before", "not_after") for a in terms) and any(
        map(_is_statement, terms)
    )


def _tells_of_one(words: list[str], terms: list[Term]) -> bool:
    """True if the terms describe another of the same findings: "there may be a small one".

    Or one that remains: "the left drain was removed, the right remains".
    """
    said = [words[term.i] for term in terms]
    if said[:1] == ["there"]:
        return "one" in said
    return is_size_and_side(words, terms) or is_left_over(words, terms)


def is_size_and_side(words: list[str], terms: list[Term]) -> bool:
    """True if the terms are only a size and a side: "small (one) on the left"."""
    sides = [term for term in terms if term.side in ("right", "left")]
    others = [term for term in terms if term.side is None]
    return (
        len(sides) == 1
        and not sides[0].meaning.zone
        and any("size" in term.cues for term in others)
        and all(
            term.is_("size", "where") or term.mark == "," or words[term.i] == "one"
            for term in others
        )
    )


def is_left_over(words: list[str], terms: list[Term]) -> bool:
    """True if the terms state that a side's finding is still there: "the right remains"."""
    if not terms or terms[0].side not in ("right", "left") or terms[0].meaning.zone:
        return False
    i, j = terms[0].i, terms[0].j
    return words[max(0, i - 1) : i] == ["the"] and not _REMAINING.isdisjoint(words[j : j + 1])


def _until_break(terms: list[Term], k: int) -> list[Term]:
    for last in range(k, min(len(terms), k + 12)):
        if terms[last].mark in (",", ";") or terms[last].is_("but", "and"):
            return terms[k:last]
    return terms[k : k + 12]


def _statements(
    words: list[str], terms: list[Term], said: TermSummary, *, asked: bool
) -> list[Statement]:
    sites = resolve_body_parts(terms) if said.near else {}
    if not said.finding and not sites:
        return []
    cues, zoned = said.cues, said.zone
    sided = said.side or not cues.isdisjoint(_RELATIVE)
    owners = attach_sides(words, _without_parts(words, terms), sites) if sided else {}
    pointing = "this" in cues
    definite = "the" in words[max(0, terms[0].i - _BEFORE) : terms[-1].i]
    known = lexicon().findings
    stated = []
    for f, term in enumerate(terms):
        if term.finding is None:
            continue
        name = _BROKEN_WIRE if _is_of_wire(words, terms, f) else term.finding
        status = mention_status(words, terms, f, cues, asked=asked)
        # "status post sternotomy": the result is still visible now
        if status == "prior" and term.finding in LASTING:
            status = "positive"
        # "after thoracotomy, with part of the rib resected"
        if status == "negated" and term.finding in LASTING and "not_before" not in cues:
            status = "positive"
        back = pointing and any("this" in a.cues for a in terms[max(0, f - 3) : f])
        for finding, site in sites.get(f, [(name, f)]):
            if site != f and status == "positive" and _is_normal(words, terms, f, site):
                continue
            lateral = known[finding].sided
            sides = owners.get(site, _NO_SIDES) if lateral else _NO_SIDES
            stated.append(
                Statement(
                    finding,
                    status,
                    term.i,
                    term.j,
                    [(side.side, side.i, side.j) for side in sides if side.side],
                    _zone(terms, site, sides) if zoned else None,
                    back,
                    bool(sides) and any(side.image_side for side in sides),
                    definite and _is_definite(words, terms, f, sides),
                    asked,
                    lateral,
                )
            )
    return stated


def _is_of_wire(words: list[str], terms: list[Term], f: int) -> bool:
    """True if what is broken is a wire or a lead: "fracture of the superior sternal wire"."""
    if terms[f].finding != _BROKEN:
        return False
    named = {word for term in terms if term.finding for word in words[term.i : term.j]}
    return not _WIRES.isdisjoint(named.union(words[terms[f].j : terms[-1].j + 1]))


def drop_access(words: list[str], terms: list[Term]) -> None:
    """Keep a vein as a line only where it denotes one: "left IJ, tip in SVC".

    Not next to a device in a vein, nor where something leads into the vein.
    """
    known = lexicon().findings
    devices = {
        known[term.finding].family for term in terms if term.finding and "access" not in term.cues
    }
    beside = not devices.isdisjoint(_IN_VEINS)
    for term in terms:
        if "access" in term.cues:
            before = words[max(0, term.i - _BEFORE) : term.i]
            if beside or not _INTO.isdisjoint(before):
                term.finding = None


def _without_parts(words: list[str], terms: list[Term]) -> list[Term]:
    """Leave out the parts of a device that is also named: "pacer box left leads RA RV"."""
    named = {term.finding for term in terms}
    if _PART not in named or named.isdisjoint(_WHOLE):
        return terms
    return [
        replace(term, finding=None)
        if term.finding == _PART and words[term.i] in _BARE_PARTS
        else term
        for term in terms
    ]


def _is_definite(words: list[str], terms: list[Term], f: int, sides: list[Term]) -> bool:
    """True if a finding is mentioned as known: "the (right basal) opacity"."""
    first = terms[f].i
    side = min((side.i for side in sides), default=first) if sides else first
    if side < first and not any(
        side < term.i < first and term.is_("verb", "but") for term in terms[:f]
    ):
        first = side
    before_it = words[max(0, first - _BEFORE) : first]
    return "the" in before_it[-3:] and WITHIN.isdisjoint(before_it[: before_it.index("the")])


def _is_normal(words: list[str], terms: list[Term], f: int, site: int) -> bool:
    """True if a part is called normal, so that a word refers to another part than this one.

    Examples: "Prominent vessels with a normal cardiac silhouette", "the heart is normal with
    prominent hila".
    """
    first = site if site < f else f + 1
    normal = [n for n in range(max(0, first - 1), max(site, f)) if "normal" in terms[n].cues]
    if site > f:
        return bool(normal) and normal[-1] == site - 1 and terms[site - 1].j == terms[site].i
    return bool(normal) and "with" in words[terms[normal[-1]].j : terms[f].i]


def _zone(terms: list[Term], f: int, sides: list[Term]) -> str | None:
    for side in sides:
        if side.meaning.zone:
            return side.meaning.zone
    zoned = [k for k, term in enumerate(terms) if term.meaning.zone and term.meaning.side is None]
    if not zoned:
        return None
    nearest = zoned[0]
    if len(zoned) > 1 or len(terms) > _AROUND:
        places = [*(terms.index(side) for side in sides), f]
        far = [min(abs(k - place) for place in places) for k in range(len(terms))]
        nearest = min(zoned, key=far.__getitem__)
        if nearest not in sorted(range(len(terms)), key=far.__getitem__)[:_AROUND]:
            return None
    meaning = terms[nearest].meaning
    return f"{meaning.zone} lobe" if meaning.lobe else meaning.zone


# Readings of single sentences; equal sentences are read once.
#
# The rules for one sentence see its words without their positions in the text, and of the words
# around it only those that a rule uses. The result depends on nothing else, so it is cached.

_REMEMBERED: Final = 16_384
"""Number of cached readings, which take some thirty megabytes."""
_SENTENCE_ALONE_BEFORE: Final = WITHIN | {"the", "not"}
_BEHIND: Final = (
    _SENTENCE_ALONE_BEFORE,
    _SENTENCE_ALONE_BEFORE,
    _SENTENCE_ALONE_BEFORE | SINCE,
    _SENTENCE_ALONE_BEFORE | SINCE | PARTS | {"no"},
)
"""Words before a sentence that rules use: among the last four tokens, by position."""
_SEEN_BEHIND: Final = len(_BEHIND)
_EVER_BEHIND: Final = frozenset().union(*_BEHIND)
_ENDS: Final = frozenset(".;,\n")
_AHEAD: Final = AFTERWARDS | EARLIER | {"a", "an", "and", "its", "the", "where"}
"""Words after a sentence that rules use."""
_PAST_END: Final = EARLIER | {"where"}
"""Words that rules use after the end of the sentence."""
_JUST_PAST: Final = 3
"""Tokens after the end of a sentence in which rules search."""
_UNSEEN: Final = [""] * _JUST_PAST

_LETTERS: Final = ("r", "l")
"""Letters for sides."""


class SentenceReading(NamedTuple):
    """Reading of a sentence by itself; positions are tokens of the part that was read.

    ``named``: a term is a finding, or may be one with a part of the body. ``sided``: a term names a
    side, before sides that belong to no finding were removed. ``side`` is the last side that
    remains. ``relative``: the result depends on the side of an earlier sentence.
    """

    terms: list[Term]
    clauses: list[Clause]
    cues: set[str]
    matters: bool
    finding: bool
    named: bool
    sided: bool
    side: Side | None
    relative: bool


def read_alone(
    tokens: Tokens, i: int, j: int, *, begin: int, asked: bool = False, before: Side | None = None
) -> tuple[SentenceReading, int]:
    """Read tokens ``i`` to ``j``, a sentence or its label.

    ``begin`` is the start of the whole sentence, ``asked`` marks a question, and ``before`` is the
    last side in the sentences before.

    Returns
    -------
    Reading, int
        The reading, and the token from which its positions count.
    """
    first = min(begin, max(0, i - _SEEN_BEHIND))
    words = tokens.words[first : j + PAIRED]
    alike = tokens.alike[i:j]
    letters: tuple[tuple[int, bool], ...] = ()
    if "r" in alike or "l" in alike:
        letters = tuple((k - first, upper) for k, upper in tokens.side_letters(i, j).items())
    i, j = i - first, j - first
    key = (*_before(words, i), *alike, *_after(words, j))
    found = _read(key, i, j, letters, asked, None)
    if found.relative and before is not None:
        found = _read(key, i, j, letters, asked, before)
    return found, first


def _before(words: list[str], i: int) -> list[str]:
    """Return the words before token ``i`` that rules use; others are empty."""
    near = words[max(0, i - _SEEN_BEHIND) : i]
    letter = i < len(words) and words[i] in _LETTERS
    if not letter and _EVER_BEHIND.isdisjoint(near):
        return [""] * i
    asked_for = _BEHIND[_SEEN_BEHIND - len(near) :]
    shown = [word if word in some else "" for word, some in zip(near, asked_for, strict=True)]
    if near and letter:
        shown[-1] = words[i - 1]  # "apical r": a letter is a side next to the name of a place
    return shown if i <= _SEEN_BEHIND else [""] * (i - _SEEN_BEHIND) + shown


def _after(words: list[str], j: int) -> list[str]:
    """Return the words from token ``j`` that rules use, and the kind of the others."""
    shown: list[str] = []
    for n, word in enumerate(words[j:], j):
        if word in _ENDS:
            past = words[n + 1 : n + 1 + _JUST_PAST]
            if _PAST_END.isdisjoint(past):
                return [*shown, word, *_UNSEEN[: len(past)]]
            return [*shown, word, *[word if word in _PAST_END else "" for word in past]]
        shown.append(word if word in _AHEAD else _kind(word))
    return shown


@lru_cache(maxsize=_REMEMBERED)
def _kind(word: str) -> str:
    """Return a word equivalent for the rules: alphabetic or not, plural or not."""
    return ("word" if word.isalnum() else "'") + ("s" if word.endswith("s") else "")


@lru_cache(maxsize=_REMEMBERED)
def _read(
    words: tuple[str, ...],
    i: int,
    j: int,
    side_letters: tuple[tuple[int, bool], ...],
    asked: bool,
    before: Side | None,
) -> SentenceReading:
    given = list(words)
    terms = find_terms(given, i, j, dict(side_letters))
    if any("access" in term.cues for term in terms):
        drop_access(given, terms)
    said = summarize_terms(terms)
    named = said.finding or said.near
    if not said.matters:
        return SentenceReading(terms, [], said.cues, False, False, False, False, None, False)
    clean_sides(given, terms, said, before)
    sides = (
        term.side
        for term in reversed(terms)
        if term.side in OTHER_SIDE and "opposite" not in term.cues
    )  # "on the other side" twice is one side
    side = next(sides, None)
    clauses = read_clauses(given, terms, said, asked=asked)
    relative = "same" in said.cues or "opposite" in said.cues
    return SentenceReading(
        terms, clauses, said.cues, True, said.finding, named, said.side, side, relative
    )


forget_sentences: Final = _read.cache_clear
"""Clears the cache of sentences."""
