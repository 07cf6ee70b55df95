"""Read the status of a finding in a clause: present, absent, possible, supposed, or past."""

from __future__ import annotations

from typing import Final

from rexview.text.findings.lexicon import Term
from rexview.text.findings.mention import Status
from rexview.text.findings.sentences import split_words
from rexview.text.phrases import word_set

_AFTERWARDS: Final = frozenset({"after", "following", "post", "since"})
_BARE: Final = frozenset(
    ("no", "none", "nil", "not", "negative", "absent", "false", "nowhere", "no longer", "out")
)
"""They refer to words before them only at the end of a clause ("effusion: none")."""
_PREDICATES: Final = frozenset(
    split_words("is are was were has have shows remains seen noted present")
)
_NOW: Final = frozenset(
    split_words(
        "at now today currently presently seen visible identified noted present evident shown"
    )
)
"""After a bare "none" that ends the statement on a finding: "effusion: none at present"."""
_ANEW: Final = frozenset(split_words("the a an its his her their this that there"))
"""After a comma or an "and": a new subject."""
_IF: Final = frozenset(("if_before", "if_after"))
_PRIOR: Final = frozenset(("prior_before", "prior_after"))
_MAYBE: Final = frozenset(("maybe_before", "maybe_after"))
_WALK: Final = 24
"""Terms examined on either side of a finding."""
EARLIER: Final = frozenset(
    split_words("prior previous previously earlier before last preceding comparison old yesterday")
)
SINCE: Final = frozenset(split_words("from since than to with over until new"))
_VARIANT: Final = frozenset(split_words("variant variants variation"))
_VARIANTS: Final = frozenset(("azygos_fissure", "cervical_rib", "dextrocardia"))
"""Findings that are normal variants themselves."""
_SHORT: Final = 3
_WAYS: Final = frozenset(("to", "toward", "towards"))
_AFTER_COMMA: Final = frozenset(("were", "if", "which"))
"""Start a supposition after a comma: "an effusion, which would otherwise explain it"."""
_STILL: Final = frozenset(
    split_words(
        "which that previously formerly although though however described reported noted seen"
    )
)
_AFTER_PRIOR: Final = frozenset(split_words("since compared"))
_AT_DATE: Final = frozenset(split_words("in on since"))
_MONTHS: Final = frozenset(
    split_words("january february march april may june july august september october november")
    + split_words("december jan feb mar apr jun jul aug sept oct nov dec xxxx date")
)
_DEGREES: Final = word_set("sentence", "degree")
AFTERWARDS: Final = _NOW | _ANEW | _DEGREES | {"which"}
"""Words after a clause that rules use."""
_GOING_ON: Final = frozenset(
    split_words("keeps keep persists persist continues grows increases enlarges worsens")
)
_CAUSES: Final = frozenset(split_words("owing due because secondary"))
"""After something not seen: the reason follows."""
_ONE_SIDE: Final = frozenset(split_words("left right lt rt bilateral"))
_ENDS: Final = frozenset(split_words("tip tips end ends sidehole sideport"))
"""Parts of a tube or a line that a film may not show, unlike the rest."""
_DIFFERENTIAL: Final = frozenset(split_words("ddx dd differential differentials"))
"""Before a list of what a finding may be."""
_IS_NOT: Final = frozenset(
    ("is not", "are not", "was not", "were not", "isn't", "aren't", "wasn't", "weren't", "not")
)


def mention_status(
    words: list[str], terms: list[Term], f: int, cues: set[str], *, asked: bool = False
) -> Status:
    """Return the status of the finding at ``terms[f]`` in its clause.

    ``cues`` are the kinds of cues in the clause; ``asked`` marks a question. Questions and
    suppositions keep their status whatever denies them ("if no effusion"). After them a "no"
    decides, then the past, then doubt.
    """
    if asked or (cues & _IF and _supposed(words, terms, f)):
        return "hypothetical"
    if "not_before" in cues and _denied_before(words, terms, f):
        return "negated"
    if "not_after" in cues and _denied_after(words, terms, f):
        return "negated"
    if cues & _PRIOR and _was(words, terms, f):
        return "prior"
    return "uncertain" if cues & _MAYBE and _unsure(words, terms, f) else "positive"


def _supposed(words: list[str], terms: list[Term], f: int) -> bool:
    denied = False
    aside = 0
    for k in range(f - 1, max(-1, f - _WALK), -1):
        term = terms[k]
        if term.mark == ")" and _opens_before(terms, k):
            aside += 1
        elif term.mark == "(" and aside:
            aside -= 1
        if aside:
            continue  # "whether it is pleural (pneumothorax), vascular (embolus)"
        if "if_before" in term.cues:
            word = words[term.i]
            if (
                word == "if"
                and words[terms[f].i - 2 : terms[f].i].count("the")
                and _goes_on(words, terms, f)
            ):
                continue  # "if the (left) effusion keeps growing": it is there
            if word == "indication" and term.i and words[term.i - 1] == "no":
                continue
            if word == "signs" and (k == 0 or "if_before" not in terms[k - 1].cues):
                continue
            return True
        denied = denied or "not_before" in term.cues
        if term.mark in (";", ")") or (denied and term.mark == "("):
            break
    comma = False
    for k in range(_end_of_enumeration(terms, f), min(len(terms), f + _WALK)):
        term = terms[k]
        if "if_after" in term.cues and (not comma or words[term.i] in _AFTER_COMMA):
            return True
        comma = comma or term.mark == ","
        if (term.mark and term.mark != ",") or term.is_("and", "but"):
            break
    return False


def _end_of_enumeration(terms: list[Term], f: int) -> int:
    """Return where the statement on a list of findings starts: "cancer and failure are ..."."""
    k = f + 1
    while k < len(terms) and (terms[k].finding or terms[k].mark == "," or "and" in terms[k].cues):
        k += 1
    listed = terms[k - 1].finding and any("and" in term.cues for term in terms[f + 1 : k])
    return k if listed else f + 1


def _opens_before(terms: list[Term], k: int) -> bool:
    """True if the bracket that closes at ``k`` opens among the examined terms."""
    return any(term.mark == "(" for term in terms[max(0, k - _WALK) : k])


def _goes_on(words: list[str], terms: list[Term], f: int) -> bool:
    """True if the supposition about a finding is only that it continues."""
    return not _GOING_ON.isdisjoint(words[terms[f].j : terms[f].j + 2])


def _denied_before(words: list[str], terms: list[Term], f: int) -> bool:
    listed = joined = anew = False
    if _of_none(words, terms, f):
        return not any("verb" in term.cues for term in terms[f + 1 : f + 3])
    if _is_other_name(terms, f):
        return _denied_before(words, terms, f - 2)
    for k in range(f - 1, max(-1, f - _WALK), -1):
        term = terms[k]
        if term.finding and not joined:
            return _of_none(words, terms, k)
        joined = (joined and not term.finding) or term.mark == "," or "and" in term.cues
        if "not_before" in term.cues and not (term.finding and term.meaning.near):
            if not _CAUSES.isdisjoint(words[term.j : terms[f].i]):
                return False  # "not seen owing to effusion"
            if words[term.i] == "absent" and _names_part_only(terms, k, f):
                return False  # "absent hemidiaphragm contour, mediastinal shift"
            if "not_after" in term.cues and k and terms[k - 1].finding and not terms[k - 1].mark:
                return words[term.i] in ("no", "not", "without")
            return True
        if term.mark in (";", ":", ")", "(", "—", "•", "\n"):
            return term.mark == ":" and _heads_denied(terms, k)
        if term.is_("pseudo_not", "but", "normal"):
            return False
        if "maybe_before" in term.cues and any(a.mark == "," for a in terms[max(0, k - 2) : k]):
            return False  # "without markings, most likely a bulla"
        subject = k and terms[k - 1].finding and words[term.j - 1] in _PREDICATES
        if anew and term.is_("verb", "maybe_before", "maybe_after"):
            return False  # "lines without kinks may be hidden, and a late pneumothorax ..."
        if "verb" in term.cues and subject and any(item.finding for item in terms[k + 1 : f]):
            return False
        if term.mark == "," or "and" in term.cues:
            starts_anew = k + 1 < len(terms) and (
                "size" in terms[k + 1].cues or words[term.j] in ("the", "there", "a", "an")
            )
            word = words[term.i]
            starts_anew = starts_anew or _has_its_own_side(words, terms, k)
            if starts_anew and not listed and word != "or" and not _or_follows(words, terms, k):
                return False
            listed = listed or word == "or"
            if word == "and" and words[term.j] in ("has", "have", "is", "are"):
                return False  # "the lung is not ventilated and has collapsed"
            anew = anew or (word == "and" and words[term.j] in _ANEW)
    return False


def _heads_denied(terms: list[Term], k: int) -> bool:
    """True if a colon follows words that deny all that comes: "Not seen: cavity, effusion"."""
    return k == 1 and "not_before" in terms[0].cues and not terms[0].finding


def _names_part_only(terms: list[Term], k: int, f: int) -> bool:
    """True if the words at ``k`` only deny that a part of the body is seen."""
    comma = next((n for n in range(k + 1, f) if terms[n].mark == ","), None)
    return comma is not None and not any(term.finding for term in terms[k + 1 : comma])


def _is_other_name(terms: list[Term], f: int) -> bool:
    """True if a finding is alone in brackets after another: "fibrosis (asbestosis)"."""
    if f <= 1 or f + 1 >= len(terms):
        return False
    return terms[f - 1].mark == "(" and terms[f + 1].mark == ")" and bool(terms[f - 2].finding)


def _has_its_own_side(words: list[str], terms: list[Term], k: int) -> bool:
    """True if a comma is followed by another side: "no pneumothorax, (and) left effusion"."""
    comma = k - 1 if words[terms[k].i] == "and" else k
    follows = comma > 0 and terms[comma].mark == "," and bool(terms[comma - 1].finding)
    return follows and words[terms[k].j] in _ONE_SIDE


def _of_none(words: list[str], terms: list[Term], f: int) -> bool:
    """True if "none of the" counts a finding: it is there, but lacks what is denied."""
    cue = terms[f - 1] if f else None
    if cue is None or not cue.is_("not_before") or words[cue.i] != "none":
        return False
    return words[terms[f].i - 1] in ("the", "these", "those")


def _or_follows(words: list[str], terms: list[Term], k: int) -> bool:
    """True if the list continuing at ``k`` ends with an "or", so that one "no" governs it all."""
    for later in terms[k : k + _WALK]:
        if "and" in later.cues and words[later.i] in ("or", "nor"):
            return True
        if later.is_("verb", "but"):
            return False
    return False


def _denied_after(words: list[str], terms: list[Term], f: int) -> bool:
    comma = anew = False
    first = _end_of_list(terms, f)
    for k in range(first, min(len(terms), first + _WALK)):
        term = terms[k]
        if anew and (term.names_anatomy or "own" in term.cues):
            return False  # "opacity in the base, and the hemidiaphragm cannot be followed"
        if "not_after" in term.cues and not (term.finding and term.meaning.near):
            if comma and _new_subject(words, terms, f, k):
                return False
            phrase = " ".join(words[term.i : term.j])
            if phrase == "removal" and not _AFTERWARDS.isdisjoint(words[terms[f].j : term.i]):
                return False  # "pneumothorax after tube removal"
            if EARLIER & set(words[term.j : term.j + 4]) and words[term.j] not in _AFTER_PRIOR:
                return False  # but "removed since the prior study"
            if not _ENDS.isdisjoint(words[terms[f].j : term.i]):
                return False  # "NG tube below the diaphragm, tip not seen"
            after = words[term.j] if term.j < len(words) else ""
            dated = [word for word in words[term.j + 1 : term.j + 3] if word != "the"]
            if after in _AT_DATE and _is_date(dated[:1], after):
                return False  # "not present in 2018", "not seen on 2019 film", "not seen in ___"
            if phrase == "none" and after in _NOW and not any(a.side for a in terms[k:]):
                return True
            if phrase.startswith("none ") and any(a.finding for a in terms[k + 1 : k + 4]):
                return False  # "two nodules, none has cavitated"
            if phrase.split()[-1] in _VARIANT and terms[f].finding in _VARIANTS:
                return False
            if phrase == "pulled" and after in _WAYS:
                return False  # "the trachea pulled to the left"
            if phrase == "no" and after == "," and terms[k - 1].mark == ",":
                return False  # "in the pharynx, no, in the oesophagus"
            if phrase in _BARE:
                last = not after or not after.isalnum() or terms[k - 1].mark in (":", "=", "–", "—")
                return last and not (comma and phrase == "not")
            return not (phrase in _IS_NOT and after in _DEGREES)
        if term.is_("pseudo_not", "but", "maybe_after", "not_before", "normal"):
            return False
        if term.mark == "," or "and" in term.cues:
            after = words[term.j] if term.j < len(words) else ""
            anew = anew or after in _ANEW
        if term.mark == ",":
            comma = True
            if term.j < len(words) and words[term.j] in ("which", "that", "now"):
                continue
        if term.finding and comma:
            return False
        if term.finding and not any("and" in item.cues for item in terms[f + 1 : k]):
            return False
    return False


def _is_date(then: list[str], after: str) -> bool:
    """True if a date follows "not seen in", even if removed from the text: "in ___."."""
    if then and then[0][0].isdigit():
        return True
    return after != "since" and (not then or not then[0].isalnum() or then[0] in _MONTHS)


def _new_subject(words: list[str], terms: list[Term], f: int, k: int) -> bool:
    """True if something else is denied after a comma: "opacity, bulging fissure not seen"."""
    at = next(n for n in range(k - 1, f, -1) if terms[n].mark == ",")
    if any(term.finding for term in terms[f + 1 : k]):
        return False
    covered = {n for term in terms[at + 1 : k] for n in range(term.i, term.j)}
    free = [words[n] for n in range(terms[at].j, terms[k].i) if n not in covered]
    nouns = [word for word in free if len(word) > _SHORT and word.isalpha()]
    placed = any(term.names_anatomy for term in terms[at + 1 : k])
    return len(nouns) + placed > 1 and bool(nouns) and _STILL.isdisjoint(nouns[:1])


def _end_of_list(terms: list[Term], f: int) -> int:
    """Return where the statement on a finding starts: at the colon of "effusion, oedema: none"."""
    for k in range(f + 1, min(len(terms), f + _WALK)):
        term = terms[k]
        if term.mark == ":" and k > f + 1:
            return k
        if not (term.finding or term.mark == "," or "and" in term.cues):
            break
    return f + 1


def _was(words: list[str], terms: list[Term], f: int) -> bool:
    if any("persists" in term.cues for term in terms):
        return False
    for k in range(f - 1, max(-1, f - _WALK), -1):
        term = terms[k]
        if "prior_before" in term.cues:
            return not SINCE & set(words[max(0, term.i - 2) : term.i])
        if term.mark in (";", ")"):
            break
        if term.finding and not any("and" in item.cues for item in terms[k + 1 : f]):
            break
    for k in range(f + 1, min(len(terms), f + _WALK)):
        term = terms[k]
        if "prior_after" in term.cues:
            if "not" in words[max(0, term.i - 4) : term.i]:
                return False
            return not SINCE & set(words[max(0, term.i - 2) : term.i])
        if term.finding or term.mark in (";", "("):
            break
    return False


def _unsure(words: list[str], terms: list[Term], f: int) -> bool:
    listed = False
    for k in range(f - 1, max(-1, f - _WALK), -1):
        term = terms[k]
        if "maybe_before" in term.cues and (not listed or words[term.i] in _DIFFERENTIAL):
            return True
        if term.mark in (";", ")") or "but" in term.cues:
            break
        listed = listed or (term.mark == "," and not _or_follows(words, terms, k))
    for k in range(f + 1, min(len(terms), f + _WALK)):
        term = terms[k]
        if "maybe_after" in term.cues:
            return True
        if term.mark in (";", ",") or "but" in term.cues:
            break
        if term.finding and "and" not in terms[k - 1].cues:
            break
    return False
