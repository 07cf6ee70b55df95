"""Exclude sides that belong to no finding: of the heart, a view, a direction, the picture.

They are removed, reversed or merged before sides are assigned to findings.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise, takewhile
from typing import Final

from rexview.geometry import OTHER_SIDE
from rexview.text.findings.lexicon import Meaning, Term, TermSummary, lexicon, misplaced_devices
from rexview.text.findings.mention import Side
from rexview.text.findings.sentences import split_words
from rexview.text.phrases import word_set

# The words right and left where they name no side: "right above it", "little of it is left".

_JUST: Final = frozenset(
    split_words("above below beneath under underneath next beside where here there")
)
"""After a "right" that means "just"."""
_REMAINS: Final = frozenset(split_words("is are was were remains"))
_LITTLE: Final = frozenset(split_words("only little nothing some just anything what all much"))


def is_no_side(words: list[str], term: Term) -> bool:
    """True if a word for a side means "just" or "remaining"."""
    return _is_exactly(words, term) or _is_remaining(words, term)


def _is_exactly(words: list[str], term: Term) -> bool:
    """True if "right" means "just": "the lung right above it"."""
    if words[term.i : term.j] != ["right"] or term.j >= len(words):
        return False
    before = words[term.i - 1] if term.i else ""
    return words[term.j] in _JUST and before not in ("the", "on", "at", "to", "is", ":", "and")


def _is_remaining(words: list[str], term: Term) -> bool:
    """True if "left" means what remains: "only a strand is left"."""
    if words[term.i : term.j] != ["left"] or not term.i or words[term.i - 1] not in _REMAINS:
        return False
    ends = term.j >= len(words) or not words[term.j].isalnum()
    return ends and not _LITTLE.isdisjoint(words[: term.i])


# Slips of the tongue within a sentence: "in the left correction right upper lobe".

_PUT_RIGHT: Final = frozenset(
    split_words(
        "correction correct corrected sorry scratch strike mean meant actually wait rather er"
    )
    + split_words("oops delete apologies pardon erratum no")
)
"""Between a side given by mistake and the correct one."""
_SLIPS: Final = _PUT_RIGHT | set(
    split_words("i that is make should be the on in at of to side it , . - — – ( … not um uh a")
)
_SLIP: Final = 8
"""Tokens of a slip and its correction between two sides."""
_MARKS: Final = frozenset(",-—–")
_SPENT: Final = Meaning()


def drop_corrected(words: list[str], terms: list[Term]) -> None:
    """Drop the side before the correction of a slip: "left correction right"."""
    sides = [term for term in terms if term.side in OTHER_SIDE]
    for slip, side in pairwise(sides):
        between = words[slip.j : side.i]
        if slip.side == side.side or not 0 < len(between) <= _SLIP:
            continue
        told = _PUT_RIGHT.intersection(between)
        if told == {"no"}:  # "on the left, no, on the right", but "on the left, no right effusion"
            told &= {"no"} if between[-1] in _MARKS or "the" in between else set()
        if told and _SLIPS.issuperset(between):
            slip.side = None
            for term in terms[terms.index(slip) + 1 : terms.index(side)]:
                term.meaning, term.cues = _SPENT, _SPENT.cues


SHIFTS: Final = frozenset({"mediastinal_shift", "tracheal_deviation"})
"""Findings whose side is the direction of a shift."""
_DASH: Final = "-"
_OF_FILMS: Final = frozenset(
    split_words(
        "projections views films images radiographs studies occasions scans examinations exams"
    )
    + split_words("dates readers cases times of")
)
"""After a "both" that does not refer to the body."""
_FILMS: Final = frozenset(split_words("film radiograph xray ray cxr scan plate"))
_EITHER: Final = frozenset(("each", "either"))
_BORDERS: Final = frozenset(("border", "borders", "margin", "margins", "contour"))
_QUADRANTS: Final = frozenset(("ruq", "luq"))
_ABDOMINAL: Final = "abdominal_clips"
_IN_BRONCHI: Final = frozenset(("stent", "foreign_body", "mass", "nodule", "bronchiectasis"))
_OF_TWO: Final = frozenset(
    split_words(
        "higher hazier denser whiter darker blacker brighter lighter lucent cloudier greyer"
    )
)
"""Before a "than" that compares one side with the other, which has nothing."""
_VIEWS: Final = frozenset(
    split_words("pa ap view views frontal film radiograph projection decubitus two")
)
_BEEN: Final = frozenset(split_words("been previously formerly earlier was were before initially"))
_DESCRIBED: Final = frozenset(split_words("described reported stated dictated labelled labeled"))
_IS: Final = frozenset(split_words("is are lies sits"))
_NOW: Final = frozenset(split_words("now currently today instead"))
_SHADOWS: Final = frozenset(("airspace_opacity", "atelectasis", "nodule"))
_HIDES: Final = (
    "obscur",
    "silhouet",
    "blur",
    "effac",
    "indistinct",
    "hid",
    "eras",
    "los",
    "abut",
    "adjac",
)
_IMAGE_PARTS: Final = word_set("sentence", "image_part")
_MORE: Final = frozenset(split_words("greater worse greatest worst more larger"))
_COMPARED: Final = 4
"""Words between a side and the word that compares it."""
PAIRED: Final = 9
"""Words after "both" in which the second of two things must be named."""
_CHAMBERS: Final = frozenset(split_words("atrial ventricular atrium ventricle cardiac heart"))
_ON_THE_WAY: Final = frozenset(
    split_words("anterior posterior basal mid upper lower and to through")
    + split_words(
        "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth"
    )
)
"""Directions and ordinals between "lateral" and the place that it describes."""
_WALL: Final = "wall"
_BETWEEN: Final = 4
"""Maximum number of these words, and of numbers, between them."""
_BEFORE_CLEAR: Final = ("verb", "and", "own", "where", "entry", "size", "it")
"""Possible words between a side and the word that calls it normal: "the right one is clean"."""
_DROPPING: Final = frozenset(
    (
        "anything but",
        "far from",
        "not",
        "rather than",
        "instead of",
        "as opposed to",
        "is not",
        "are not",
        "was not",
        "never",
    )
)


def clean_sides(
    words: list[str], terms: list[Term], said: TermSummary, before: Side | None = None
) -> None:
    """Remove, reverse or merge the sides in a sentence that belong to no finding.

    ``said`` is the outline of the terms. ``before`` is the last side in the sentences before, for
    "on the same side".
    """
    cues = said.cues
    relative = "same" in cues or "opposite" in cues
    if not said.side and not relative:
        return
    normal = "normal" in cues
    pictured = "picture" in cues
    for k, term in enumerate(terms):
        if relative and term.is_("same", "opposite"):
            said_before = (a for a in reversed(terms[:k]) if a.side and not _is_beside(words, a))
            last = next((a.side for a in said_before), before)
            if last in OTHER_SIDE:
                term.side = last if "same" in term.cues else OTHER_SIDE[last]
        if term.side is None:
            continue
        term.clear = normal and _is_clear(words, terms, k)
        if _was_there(words, terms, k):
            term.side = None
            continue
        if words[term.i] in _QUADRANTS:
            term.entry = True
            if not _of_abdomen(terms):
                term.side = None
            continue
        if term.meaning.zone:
            if k and terms[k - 1].meaning.side and terms[k - 1].j == term.i:
                term.side = None  # "left middle lobe": the explicit side counts
            continue
        following = terms[k + 1] if k + 1 < len(terms) else None
        earlier = terms[k - 1] if k else None
        if earlier and earlier.is_("compare", "called") and term.i - earlier.j <= 2:
            if "compare" in earlier.cues and _leads_on(words, term):
                continue
            if "compare" in earlier.cues or any(a.side for a in terms[k + 1 :]):
                term.side = None
            continue
        if pictured and _is_image_side(words, terms, k):
            term.image_side = True
            term.side = OTHER_SIDE.get(term.side, term.side)
        elif following and "own" in following.cues and following.i == term.j:
            if words[following.i] == "now" and words[term.i - 1] in ("the", "on"):
                continue  # "it is on the left now", but "has left now"
            if _is_misplaced(following.meaning.site_of) and _bronchial(terms):
                continue
            if words[following.j - 1] in _BORDERS and _is_hidden(words, terms):
                continue
            if words[following.j - 1] == "quadrant" and _of_abdomen(terms):
                term.entry = True
                continue
            if not (_place_follows(words, terms, k + 1) or _is_outer(words, terms, k)):
                term.side = None
        elif is_no_side(words, term):
            term.side = None
        elif words[term.i].endswith(("ward", "wards")) or _is_way(words, terms, k):
            term.way = True
        elif following and following.i - term.j <= 1 and "entry" in following.cues:
            term.entry = words[following.j : following.j + 1] != ["of"]  # "R neck of humerus"
        elif term.j - term.i == 1 and words[term.i] in _EITHER:
            if following is None or following.i > term.j or not following.names_anatomy:
                term.side = None  # "either atelectasis or pneumonia", "each of these"
        elif words[term.i : term.j] == ["both"] and (
            _on_one_side(terms, k)
            or not _both_of_something(words, terms, k)
            or (following is not None and "and" in words[following.i : following.j])
        ):
            term.side = None
    if "picture" in cues:
        _trust_patient(terms)
    if "than" in cues or "more" in cues:
        _merge_compared(words, terms)
    if "not_before" in cues or "not_after" in cues:
        _drop_denied(words, terms)
    drop_corrected(words, terms)


def _is_beside(words: list[str], term: Term) -> bool:
    """True if a side is only the other side in a comparison: "darker than (on) the right"."""
    return "than" in words[max(0, term.i - 3) : term.i]


def _bronchial(terms: list[Term]) -> bool:
    """True if the terms include a tube, a stent or the like, whose side is that of its bronchus."""
    return any(_is_misplaced(term.meaning.near) or term.finding in _IN_BRONCHI for term in terms)


def _is_misplaced(findings: Iterable[str]) -> bool:
    """True if one of some findings is a device in the wrong place, where it has its side."""
    return any(misplaced_devices(finding) for finding in findings)


def _of_abdomen(terms: list[Term]) -> bool:
    """True if the terms include clips of the abdomen, whose side is that of its quadrant."""
    return any(_ABDOMINAL in term.meaning.near or term.finding == _ABDOMINAL for term in terms)


def _is_outer(words: list[str], terms: list[Term], k: int) -> bool:
    """True if "left lateral" is a place, not a view: at the end, after a finding or a part."""
    if words[terms[k].j : terms[k + 1].j] != ["lateral"] or not _VIEWS.isdisjoint(words):
        return False
    after = words[terms[k + 1].j] if terms[k + 1].j < len(words) else ""
    return not after.isalpha() and any(
        term.finding or term.meaning.near or term.names_anatomy for term in terms[:k]
    )


def _was_there(words: list[str], terms: list[Term], k: int) -> bool:
    """True if it is only a finding's former side: "had been on the right, is now on the left"."""
    before = words[max(0, terms[k].i - _COMPARED) : terms[k].i]
    if _BEEN.isdisjoint(before) and _DESCRIBED.isdisjoint(before):
        return False
    later = next((term for term in terms[k + 1 : k + 6] if term.side in OTHER_SIDE), None)
    if later is None or later.side == terms[k].side:
        return False
    between = words[terms[k].j : later.i]
    said = not _DESCRIBED.isdisjoint(before) and not _IS.isdisjoint(between)
    return said or not _NOW.isdisjoint(between)


def _is_hidden(words: list[str], terms: list[Term]) -> bool:
    """True if a shadow hides a border of the heart, so that it is on the border's side."""
    shadow = any(
        term.finding and lexicon().findings[term.finding].family in _SHADOWS for term in terms
    )
    return shadow and any(word.startswith(_HIDES) for word in words)


def _is_clear(words: list[str], terms: list[Term], k: int) -> bool:
    """True if what a side names is called normal: "the left lung and pleura are clear".

    False if a change is named with the side: "the right lung is hyperexpanded and clear".
    """
    if terms[k].finding:
        return False
    if k and "normal" in terms[k - 1].cues and terms[k].i - terms[k - 1].j <= 3:
        return not any(term.finding for term in terms[k + 1 : k + 3])
    for later in terms[k + 1 : k + 7]:
        if _DASH in words[terms[k].j : later.i]:
            return False
        if "normal" in later.cues:
            return True
        if later.finding or later.mark or later.meaning.near or later.side:
            return False
        if not (later.names_anatomy or later.is_(*_BEFORE_CLEAR)):
            return False
    return False


def _trust_patient(terms: list[Term]) -> None:
    """If a sentence has "the patient's left", drop the sides of the picture."""
    sides = [(k, term) for k, term in enumerate(terms) if term.side in OTHER_SIDE]
    sure = {
        k
        for k, term in sides
        if any(
            "patient" in earlier.cues
            for earlier in takewhile(lambda a: not a.side, terms[:k][:-6:-1])
        )
    }
    if sure:
        for k, term in sides:
            if k not in sure and not term.meaning.zone:
                term.side = None


def _place_follows(words: list[str], terms: list[Term], k: int) -> bool:
    """True if "lateral" and the like only describe a place: "left lateral (7th) rib"."""
    if words[terms[k].j : terms[k].j + 1] == [_WALL]:
        return True
    after = next((a for a in terms[k + 1 :] if words[a.i] not in _ON_THE_WAY), None)
    if after is None or words[terms[k].i] in _CHAMBERS:
        return False
    between = words[terms[k].j : after.i]
    return (
        all(word[:1].isdigit() or word in _ON_THE_WAY for word in between)
        and len(between) <= _BETWEEN
        and not after.is_("picture", "own")
        and (after.names_anatomy or after.finding is not None)
    )


def _is_image_side(words: list[str], terms: list[Term], k: int) -> bool:
    term = terms[k]
    if k and "picture" in terms[k - 1].cues and terms[k - 1].j == term.i:
        return words[term.i - 1] not in _FILMS  # "image left", but "post op film right base ..."
    if k and "picture" in terms[0].cues and words[terms[0].i] == "as":  # "As displayed, ..."
        return not any(earlier.mark == ";" or "patient" in earlier.cues for earlier in terms[1:k])
    linked = any(word in ("of", "in", "on") for word in words[term.i : term.j])
    for later in terms[k + 1 : k + 6]:
        between = words[term.j : later.i]
        if "picture" in later.cues:
            adjoining = all(word in _IMAGE_PARTS for word in between)
            return adjoining and (linked or any(word in ("of", "in", "on") for word in between))
    return False


def _is_way(words: list[str], terms: list[Term], k: int) -> bool:
    """True if the side is the direction of a shift: "shifted to the (patient's) right"."""
    leads = k - 1
    if leads > 0 and "patient" in terms[leads].cues:
        leads -= 1
    if leads < 0 or "way" not in terms[leads].cues or terms[k].i - terms[leads].j > 1 + k - leads:
        return False
    around = (*terms[max(0, leads - 5) : k], *terms[k + 1 : k + 2])
    if any("turned" in other.cues or other.finding in SHIFTS for other in around):
        return True
    placed = k + 1 < len(terms) and terms[k + 1].names_anatomy and terms[k + 1].i == terms[k].j
    if not placed and words[terms[leads].i] in ("toward", "towards"):
        return True
    if placed and words[terms[leads].i] == "to":
        return False  # "fullness to the left hilum"
    return any(other.meaning.near for other in around)


def _both_of_something(words: list[str], terms: list[Term], k: int) -> bool:
    j = terms[k].j
    if _pairs(words, j) or (j < len(words) and words[j] in _OF_FILMS):
        return False
    for later in terms[k + 1 : k + 4]:
        if later.names_anatomy or "where" in later.cues:
            return True
        if later.finding is not None:
            after = terms[k + 2 : k + 5]
            return not any("and" in item.cues for item in after)
    return k == len(terms) - 1


def _on_one_side(terms: list[Term], k: int) -> bool:
    """True if "both" means two findings on one side: "both on the left"."""
    following = terms[k + 1 : k + 6]
    if following and following[0].finding and following[0].i == terms[k].j:
        following = following[1:]  # "both drains lie on the left"
    for later in following:
        if "more" in later.cues:
            return False
        if later.side in OTHER_SIDE and "where" in terms[terms.index(later) - 1].cues:
            return True
        if later.mark or later.finding or later.names_anatomy or later.side:
            return False
    return False


def _pairs(words: list[str], i: int) -> bool:
    """True if "both" only joins two things that follow: "both the angle and the dome"."""
    words = words[i : i + PAIRED]
    for k, word in enumerate(words[:-1]):
        if word in (",", ".", ";", "\n"):
            return False
        if word == "and":
            first = words[:k]
            same = words[0] in ("the", "a", "an", "its") and words[k + 1] == words[0]
            return same and not any(one.endswith("s") for one in first[-1:])
    return False


def _merge_compared(words: list[str], terms: list[Term]) -> None:
    """Read "right greater than left" as both sides, "larger on the left" as one of two."""
    for k, term in enumerate(terms):
        if "than" not in term.cues:
            continue
        before = next((a for a in reversed(terms[max(0, k - 4) : k]) if a.side), None)
        after = next((a for a in terms[k + 1 : k + 4] if a.side), None)
        near = before is not None and term.i - before.j <= 6
        if not any(a.finding or a.meaning.near for a in terms[:k]) and not any(
            a.finding for a in list(takewhile(lambda a: not a.mark, terms[k + 1 : k + 6]))
        ):
            continue
        if near and before and after and after.i - term.j <= 4:
            if words[term.i - 1] in _OF_TWO:  # of the two domes one is higher, of the lungs denser
                after.side = None
                continue
            before.side = after.side = "bilateral"
    both = any(term.side == "bilateral" for term in terms)
    for k, term in enumerate(terms):
        if term.side not in OTHER_SIDE:
            continue
        around = [a for a in terms[max(0, k - 3) : k + 2] if abs(a.i - term.i) <= _COMPARED]
        if not any("more" in other.cues for other in around):
            continue
        compared = {words[other.i] for other in around if other.i < term.i}
        soft = any(words[other.i].startswith("predomin") for other in around)
        if both:
            term.side = None
        elif not soft and _MORE & compared and not _is_described(words, terms, k):
            term.side = "bilateral"


def _is_described(words: list[str], terms: list[Term], k: int) -> bool:
    """True if "larger" describes the one finding after it: "slightly larger left effusion"."""
    if k + 1 >= len(terms) or words[terms[k].i - 1] not in _MORE:
        return False
    later = terms[k + 1]
    return later.finding is not None and later.i - terms[k].j <= 1


def _leads_on(words: list[str], term: Term) -> bool:
    """True if the next finding is on that side: "unlike the left, where there is an opacity"."""
    return words[term.j : term.j + 2] == [",", "where"]


def _drop_denied(words: list[str], terms: list[Term]) -> None:
    """Drop the side of "on the right, not the left"; the "not" is then used up."""
    sides = [term for term in terms if term.side in OTHER_SIDE]
    if len({term.side for term in sides}) < 2:
        return
    for k, term in enumerate(terms):
        if not term.is_("not_before", "not_after"):
            continue
        if " ".join(words[term.i : term.j]) not in _DROPPING:
            continue
        for later in terms[k + 1 : k + 4]:
            if later.side in OTHER_SIDE and _leads_on(words, later):
                break
            if later.side in OTHER_SIDE and later.i - term.j <= 3:
                later.side = None
                term.meaning, term.cues = _SPENT, _SPENT.cues
            if "where" not in later.cues:
                break
