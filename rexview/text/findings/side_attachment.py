"""Attach sides of the patient to the findings of a sentence."""

from __future__ import annotations

from typing import Final

from rexview.text.findings.lexicon import Term, lexicon
from rexview.text.findings.mention import LexiconFinding
from rexview.text.findings.sentences import split_words
from rexview.text.findings.side_exclusions import SHIFTS
from rexview.text.phrases import word_set

# Sides in lists of notes: which one ends the statement on a finding.
#
# "Collapse right base, left drain": a comma may separate two findings, or two sides of one.


def gives_side(term: Term) -> bool:
    """True if a term gives a side that a finding may have."""
    return term.side is not None and not term.way and not term.clear


def closes_finding(terms: list[Term], k: int) -> bool:
    """True if the side before ``k`` belongs to a finding: "collapse right base, left drain"."""
    sided = False
    while k >= 0 and not terms[k].finding:
        aside = sided and terms[k].mark == ","
        if not (terms[k].side or terms[k].names_anatomy or aside):
            return False
        sided = sided or terms[k].side is not None
        k -= 1
    return k >= 0 and sided


def closes_with_side(terms: list[Term], k: int) -> bool:
    """True if only a side follows a comma: "effusion and thick pleura, left"."""
    if terms[k].mark != "," or k + 1 >= len(terms) or not gives_side(terms[k + 1]):
        return False
    rest = next((n for n in range(k + 2, len(terms)) if not terms[n].names_anatomy), len(terms))
    return rest == len(terms) or bool(terms[rest].mark)


def closes_statement(terms: list[Term], k: int) -> bool:
    """True if a side ends the statement on a finding: "a drain, right, and basal opacity"."""
    return (
        k > 1
        and terms[k - 1].mark == ","
        and terms[k - 2].finding is not None
        and k + 2 < len(terms)
        and "and" in terms[k + 1].cues
        and terms[k + 2].side is None
    )


def listed_next(terms: list[Term], k: int) -> int:
    """Return the finding after a comma behind the one at ``k``, in a list of notes; else 0."""
    for n in range(k + 1, len(terms)):
        if terms[n].is_("and", "with", "maybe_before", "apposed"):
            return 0
        if terms[n].finding:
            return n if any(term.mark == "," for term in terms[k + 1 : n]) else 0
    return 0


# Attachment of sides to the findings of a clause.
#
# Sides are before a finding ("right basal and left apical opacity"), after it ("opacity in the left
# base"), or with the subject ("the left base shows an opacity").

_REACH: Final = 5
"""Tokens without a meaning between a finding and its side."""
_MAYBE_ADJECTIVES: Final = word_set("sentence", "maybe_adjective")
_WALK: Final = 16
"""Terms examined before or after a finding; limits the time for odd sentences."""
_NONE: Final = frozenset(("none", "nil"))
"""Between a finding's side and the side without it: "on the right, none on the left"."""
_ATTACHED: Final = word_set("sentence", "attached")
_OUTSIDE: Final = frozenset(("neck", "arm", "extremity"))
"""Parts outside the chest through which a device enters, or in which a finding is."""
_ONWARD: Final = frozenset(
    split_words(
        "passes passing turns turning turned goes crosses crossing into traverses swings heads"
    )
    + split_words("runs travels cephalad loops kinks doubles over across enters entering through")
)
"""Between where a device enters and a place that it passes or ends in."""
_COPULAS: Final = frozenset(
    split_words("is are was were remains remain appears looks became becomes")
)
_LYING: Final = frozenset(
    (
        "stent",
        "bronchial_valve",
        "surgical_clips",
        "arthroplasty",
        "bone_hardware",
        "pacemaker",
        "stimulator",
        "loop_recorder",
        "port",
    )
)
_OVER: Final = frozenset(("projects", "projecting", "overlies", "overlying"))
_SINGULAR: Final = frozenset(("is", "has", "was", "shows", "appears"))
PARTS: Final = word_set("sentence", "part")


def attach_sides(
    words: list[str], terms: list[Term], sites: dict[int, list[tuple[str, int]]]
) -> dict[int, list[Term]]:
    """Assign sides to the findings of a clause.

    A side before a finding belongs to it first, because English puts adjectives there; then the
    sides after it, then the subject of the clause. A side that one finding owns belongs to no
    other. For findings that a word means together with parts of the body, ``sites`` maps the word's
    index to each finding and the index of its part.

    Returns
    -------
    Index of a finding's term to the side terms that belong to it (at most one for each side);
    findings without a side of their own are left out.
    """
    places = [k for k, term in enumerate(terms) if term.finding]
    known = lexicon().findings
    device = {k: _goes_in(known, terms[k].finding or "") for k in places}
    devices = any(device.values())
    for k, term in enumerate(terms):
        outside = term.entry and not _OUTSIDE.isdisjoint(words[term.j : term.j + 1])
        if outside and not (devices and device.get(k - 1, True)):
            term.entry = False  # nothing enters there: a shunt passes the neck on its side
    sided = [k for k, term in enumerate(terms) if gives_side(term)] or [len(terms)]
    first, last = sided[0], sided[-1]
    before = {
        k: _before(words, terms, k, k, device=device[k]) if k > first else []
        for k in places
        if terms[k].finding not in SHIFTS
    }
    for k, parts in sites.items():
        for _, part in parts:
            if terms[k].finding not in SHIFTS:
                known_sides = before.get(part) if part != k else None
                before[part] = known_sides or _before(words, terms, part, k, device=device[k])
    owned = {
        id(side)
        for k, sides in before.items()
        for side in sides
        if not any("with" in term.cues for term in terms[terms.index(side) + 1 : k])
    }  # "effusion on the right with adjacent atelectasis": both have the side
    owned |= {
        id(terms[k - 1])
        for k, term in enumerate(terms)
        if k and (term.finding in SHIFTS or not SHIFTS.isdisjoint(term.meaning.site_of))
        if terms[k - 1].is_("opposite") and terms[k - 1].j == term.i
    }  # "collapse of the right lung and contralateral shift"
    found: dict[int, list[Term]] = {}
    # shifts come last: their direction applies to a part of the body shared with another finding
    for k in sorted(places, key=lambda k: terms[k].finding in SHIFTS):
        if terms[k].finding in SHIFTS:
            ways = [a for a in terms if a.side and a.way]
            if ways:
                for _, part in sites.get(k, [("", k)]):
                    found[part] = ways[-1:]
            continue
        for part in {part for _, part in sites[k]} if k in sites else (k,):
            own = next((terms[n] for n in (k, part) if gives_side(terms[n])), None)
            sides = [own] if own is not None else before[part] or before[k]
            if not sides and _is_apposed(words, terms, k):
                named = [
                    part
                    for place in places
                    if place < k and terms[place].finding not in SHIFTS
                    for part in (place, *(part for _, part in sites.get(place, ())))
                    if part in found
                ]
                sides = found[named[-1]] if named else []
                sides = sides or _subject(words, terms, k, owned, device=device[k])
            if not sides and _is_predicate(words, terms, k):
                sides = _subject(words, terms, k, owned, device=device[k], ahead=False)
            if not sides and k < last and (then := listed_next(terms, k)):
                sides = _after(words, terms[:then], k, owned, device=device[k])
                sides = sides or _subject(words, terms, k, owned, device=device[k], ahead=False)
            if not sides and k < last:
                sides = _after(words, terms, k, owned, device=device[k])
            if not sides:
                sides = _subject(words, terms, k, owned, device=device[k])
            if sides:
                found[part] = sides
    return found


def _goes_in(known: dict[str, LexiconFinding], finding: str) -> bool:
    """True if a finding is a device with a tip in the chest; a shunt only passes through."""
    return known[finding].group == "device" and known[finding].family != "shunt"


def _is_tip(words: list[str], term: Term, finding: Term) -> bool:
    """True if a word is about the end of a device; one without an end only projects over things."""
    return "tip" in term.cues and not (finding.finding in _LYING and words[term.i] in _OVER)


def _is_apposed(words: list[str], terms: list[Term], k: int) -> bool:
    """True if a finding renames an earlier one: "density that may be a scar"."""
    for term in reversed(terms[max(0, k - 3) : k]):
        if term.mark or term.finding:
            closed = k + 1 < len(terms) and terms[k + 1].mark == ")"
            return term.mark == "=" or (term.mark == "(" and closed and term is terms[k - 1])
        if "apposed" in term.cues:
            return True
        if "maybe_before" in term.cues and words[term.i] not in _MAYBE_ADJECTIVES:
            return True
    return False


def _to_give(term: Term) -> bool:
    """True if a side can belong to another finding: that of "dextroscoliosis" cannot."""
    return gives_side(term) and (term.finding is None or "access" in term.cues)


def _before(
    words: list[str], terms: list[Term], f: int, finding: int, *, device: bool
) -> list[Term]:
    """Walk back from a finding at ``f`` (or its part of the body) to the sides that it has.

    ``finding`` is the finding's index. The walk ends where another statement starts.
    """
    found: list[Term] = []
    passed_and = shared = placed = attached = False
    last = terms[f].i
    k = f - 1
    while k >= max(0, f - _WALK):
        term = terms[k]
        if last - term.j > _REACH:
            break
        if _to_give(term):
            foreign = term.entry and not device
            if (found and not passed_and) or foreign:
                break
            if not attached and _belongs_to_earlier(terms, k, finding):
                break
            found.append(term)
            passed_and = False
        elif found and (term.is_site or not SHIFTS.isdisjoint(term.meaning.near)):
            break
        elif (
            term.mark == ","
            and found
            and k
            and terms[k - 1].j == term.i
            and terms[k - 1].side != "bilateral"  # "oedema, right more than left, left effusion"
            and (gives_side(terms[k - 1]) or terms[k - 1].names_anatomy)
            and not closes_finding(terms, k - 1)
        ):
            passed_and = True
        elif term.mark:
            break
        elif "and" in term.cues:
            if not found and not placed and not (k and terms[k - 1].finding):
                break
            if found and not (k and (gives_side(terms[k - 1]) or terms[k - 1].names_anatomy)):
                break
            if found and closes_finding(terms, k - 1):
                break
            passed_and = True
        elif term.finding:
            if found or not passed_and:
                break
            shared = True  # "right effusion and atelectasis": both have the side
        elif "with" in term.cues:
            if found or not _ATTACHED & set(words[term.j : terms[f].j]):
                break
            passed_and = attached = True  # it shares all sides of the finding that it accompanies
        elif "where" in term.cues:
            word = words[term.i]
            if found or word != "of" or not term.i or words[term.i - 1] not in PARTS:
                break
        elif attached and not found and term.cues == {"verb"}:
            pass  # "the left effusion is unchanged, with associated lower lobe collapse"
        elif term.is_("verb", "not_before", "but", "not_after", "normal") or (
            "maybe_before" in term.cues and words[term.i] not in _MAYBE_ADJECTIVES
        ):
            break
        elif term.names_anatomy:
            placed = True
        last = term.i
        k -= 1
    if found and (shared or attached):
        # "left effusion and opacity in the right base": a side after it precedes a shared side
        end = next(
            (
                k
                for k in range(f + 1, len(terms))
                if (terms[k].mark and not closes_with_side(terms, k))
                or (terms[k].finding and "and" not in terms[k - 1].cues)
            ),
            None,
        )
        return _after(words, terms[:end], f, set(), device=device) or found
    return found


def _belongs_to_earlier(terms: list[Term], k: int, finding: int) -> bool:
    """True if a side belongs to an earlier finding: "opacity in the [left] base and right ..."."""
    if closes_statement(terms, k):
        return True
    for back in range(k - 1, max(-1, k - 4), -1):
        earlier = terms[back]
        if "where" in earlier.cues:
            if back and "and" in terms[back - 1].cues:
                return False  # "resolution of oedema and of the right effusion"
            named = [n for n in range(max(0, k - _WALK), k) if terms[n].finding]
            return bool(named) and named[-1] != finding
        if not earlier.names_anatomy:
            break
    return False


def _after(
    words: list[str], terms: list[Term], f: int, owned: set[int], *, device: bool
) -> list[Term]:
    """Walk forward from a finding to the sides after it: "in the left base", "(right)".

    A side counts only if a preposition or mark leads to it or if it ends the clause; otherwise it
    starts the next statement.
    """
    found: list[Term] = []
    led = chained = joined = aside = False
    last = terms[f].j
    for k in range(f + 1, min(len(terms), f + _WALK)):
        term = terms[k]
        if term.i - last > _REACH + 1:
            break
        if _to_give(term):
            if id(term) in owned or (term.entry and not device) or (found and not chained):
                break
            if chained and _opens_clause(words, terms, k):
                break
            if device and found and not _ONWARD.isdisjoint(words[found[-1].j : term.i]):
                break
            entered = device and term.entry and term.i == terms[f].j
            if led or chained or entered or _ends_here(terms, k):
                found.append(term)
                chained = False
            else:
                break
        elif "where" in term.cues:
            led = True
        elif term.mark in ("(", ":", ",", "—", "–", "=", "["):
            led = joined = True
            chained = bool(found) and term.mark == ","
        elif term.mark in (")", "]"):
            if found:
                break
        elif term.mark:
            break
        elif term.is_("and", "with"):
            chained = bool(found) and "and" in term.cues
            joined = True
        elif term.finding:
            if found or not (joined or aside):
                break
        elif device and _is_tip(words, term, terms[f]):
            break
        elif ("not_before" in term.cues and words[term.i] == "without") or term.is_(
            "maybe_before", "apposed"
        ):
            aside = True
        elif term.is_("but", "normal", "not_before") or (
            found
            and words[term.i] in _NONE
            and not any("not_before" in earlier.cues for earlier in terms[:f])
        ):
            break
        last = term.j
    return found


def _opens_clause(words: list[str], terms: list[Term], k: int) -> bool:
    """True if a side after an "and" has a new subject: "and the right lung has herniated"."""
    if words[terms[k].i - 1] != "the":
        return False
    for later in terms[k + 1 : k + 4]:
        if later.mark or not (later.names_anatomy or "verb" in later.cues):
            return False
        if "verb" in later.cues:
            return words[later.i] in _SINGULAR
    return False


def _ends_here(terms: list[Term], k: int) -> bool:
    """True if no further finding follows to which the side at ``k`` could belong."""
    for later in terms[k + 1 :]:
        if later.mark or later.is_("verb", "and", "but", "not_before", "with"):
            return True
        if later.finding:
            return False
    return True


def _is_predicate(words: list[str], terms: list[Term], k: int) -> bool:
    """True if a finding is the predicate of its subject: "the left base is consolidated"."""
    before = terms[k].i - 1
    while before > 0 and words[before].endswith("ly"):
        before -= 1
    return before >= 0 and words[before] in _COPULAS


def _subject(
    words: list[str],
    terms: list[Term],
    f: int,
    owned: set[int],
    *,
    device: bool,
    ahead: bool = True,
) -> list[Term]:
    """Return the sides of the clause's subject: "the left base shows an opacity".

    The nearest before the finding; if there is none, the next after it (with ``ahead``) that no
    finding owns.
    """
    found: list[Term] = []
    chained = False
    for k in range(f - 1, max(-1, f - _WALK), -1):
        term = terms[k]
        if "normal" in term.cues and not found:
            return []
        if _to_give(term) and id(term) not in owned and (device or not term.entry):
            if found and not chained:
                break
            found.append(term)
            chained = False
        elif found:
            if "and" in term.cues or (term.mark == "," and gives_side(terms[k - 1])):
                chained = True
            elif not term.names_anatomy:
                break
    if found or not ahead:
        return found
    for term in terms[f + 1 : f + _WALK]:
        if term.finding or term.is_("normal", "but") or (device and _is_tip(words, term, terms[f])):
            break
        if _to_give(term) and id(term) not in owned and (device or not term.entry):
            return [term]
    return []
