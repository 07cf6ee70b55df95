"""Find the sections of a report or a request in running text.

Reports in public sets have the form ``Findings: ... Impression: ...``, in capitals, with headings
attached to the word before (``...process.Impression:``), and with ``None`` or ``nan`` for a missing
section. The text of a section is kept as written.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, Final

from rexview.reviewset.json_text import MISSING_WORDS
from rexview.schema import Context, Report

_HEADINGS: Final[dict[str, tuple[str, ...]]] = {
    "findings": (
        *("findings and impression", "findings/impression", "findings", "finding", "finding(s)"),
        *("findings & impression",),
    ),
    "impression": (
        *("impression", "impressions", "impression(s)", "conclusion", "conclusions", "summary"),
        *("impression and recommendation", "impression and recommendations"),
    ),
    "indication": (
        *("clinical indication", "clinical information", "clinical history", "indication"),
        *("reason for examination", "reason for exam", "history", "indications"),
        *("reason for study", "clinical data"),
    ),
    "comparison": ("comparison", "comparisons", "comparison(s)"),
    "recommendation": ("recommendation", "recommendations", "recommendation(s)"),
    "notification": ("notification", "notifications", "notification(s)"),
    "addendum": ("addendum", "final addendum", "addenda"),
    "other": (
        *("technique", "examination", "exam", "procedure", "wet read", "narrative"),
        *("procedure comments", "end of impression", "attestation"),
    ),
    "": ("final report",),
    "age": ("age",),
    "sex": ("gender", "sex"),
}
OWN_SECTIONS: Final = ("recommendation", "notification", "addendum")
"""Sections of a report that a case keeps as extra fields of these names."""
REPORT_HEAD: Final = "report_head"
REPORT_REST: Final = "report_other"
"""Extra fields for the text above the first heading of a report, and under other headings."""


def _headings(*kinds: str) -> dict[str, str]:
    return {word: kind for kind in kinds for word in _HEADINGS[kind]}


_REPORT_HEADINGS: Final = _headings(
    "findings", "impression", "indication", "comparison", *OWN_SECTIONS, "other", ""
)
_NEAR_MISS: Final = re.compile(
    r"(?:^[ \t]*|(?<=\s))([A-Z][A-Z()/&]{5,16})[ \t]*:|^[ \t]*([A-Z][a-z()]{6,16})[ \t]*:",
    re.MULTILINE,
)
_MISSED: Final = tuple(
    word
    for word in _REPORT_HEADINGS
    if len(word) >= 7 and " " not in word and word not in ("summary", "attestation", "procedure")
)
_CONTEXT_HEADINGS: Final = _headings("age", "sex", "indication", "comparison")
_AGE: Final = re.compile(
    r"\s*(\d{1,3})(?:\.0*)?\s*(?:y|yo|yrs?|years?|-year-old)?\s*$", re.IGNORECASE
)
_DICOM_AGE: Final = re.compile(r"\s*(\d{3})([DWMY])\s*$")
_AGE_BAND: Final = re.compile(r"\s*(\d{1,3})\s*-\s*(\d{1,3})\s*$")
OLDEST_AGE: Final = 89
"""Ages above this are folded into one band, as de-identification rules require (HIPAA Safe
Harbor)."""
_IMPOSSIBLE_AGE: Final = 120


def _heading_pattern(words: dict[str, str]) -> re.Pattern[str]:
    # A heading starts with a capital, even if attached to the word before. In lower case it counts
    # only at the start of a line. Alone on its line it needs no colon. Marks of emphasis around it
    # ("**Findings:**", "## Findings") belong to it.
    forms = []
    longest_first = sorted(words, key=len, reverse=True)
    for word in longest_first:
        capital = re.escape(word[0].upper() + word[1:])
        forms += [capital, re.escape(word.title()), re.escape(word.upper())]
    written = "|".join(dict.fromkeys(forms))
    any_case = "|".join(map(re.escape, longest_first))
    marks = r"[*_]{0,3}"
    alone = rf"[ \t]*(?:#{{1,6}}[ \t]*)?{marks}(?i:({any_case})){marks}[ \t]*:?{marks}[ \t\r]*$"
    before_text = rf"(?:(?<![A-Z])({written})|^[ \t]*({any_case})){marks}[ \t]*:{marks}"
    return re.compile(rf"^{alone}|{marks}{before_text}", re.MULTILINE)


_REPORT: Final = _heading_pattern(_REPORT_HEADINGS)
_CONTEXT: Final = _heading_pattern(_CONTEXT_HEADINGS)


def split_sections(text: str, *, request: bool = False) -> dict[str, str]:
    """Split running text at its headings.

    Parameters
    ----------
    text : str
        A report, or with ``request`` a request (age, sex, indication, comparison).

    Returns
    -------
    dict of str to str
        By ``findings``, ``impression``, ``indication``, ``comparison``, the sections of
        :data:`OWN_SECTIONS`, ``other`` (and ``age``, ``sex`` for a request); the text before the
        first heading under ``""``. Sections of one kind are joined by a line break; absent ones
        (empty, ``None``, ``nan``) are left out.
    """
    found: dict[str, str] = {}
    for kind, start, end in section_spans(text, request=request):
        body = text[start:end].strip()
        if body and not (kind != "comparison" and is_absent(body)):
            found[kind] = f"{found[kind]}\n{body}" if kind in found else body
    return found


def section_spans(text: str, *, request: bool = False) -> list[tuple[str, int, int]]:
    """Return kind (as in :func:`split_sections`), start and end of each section of a text.

    They are in order of position and without their headings; one may be empty. A heading of a
    report may be misspelt by one letter (``IMPRESSON:``).
    """
    pattern, words = (_CONTEXT, _CONTEXT_HEADINGS) if request else (_REPORT, _REPORT_HEADINGS)
    marks = [
        (match.start(), match.end(), words[(match[1] or match[2] or match[3]).lower()])
        for match in pattern.finditer(text)
    ]
    if not request:
        missed = (
            (one, _missed_heading((one[1] or one[2]).lower())) for one in _NEAR_MISS.finditer(text)
        )
        marks += [(one.start(), one.end(), words[word]) for one, word in missed if word is not None]
        marks.sort()
    spans = []
    kind, start = "", 0
    for first, last, of_next in marks:
        if first < start:
            continue
        spans.append((kind, start, first))
        kind, start = of_next, last
    return [*spans, (kind, start, len(text))]


@lru_cache(maxsize=4096)
def _missed_heading(word: str) -> str | None:
    """Return the heading that a word misses by one letter; None for a correct heading.

    A letter may be added, missing, replaced, or swapped with the next.
    """
    if word in _REPORT_HEADINGS:
        return None
    return next((heading for heading in _MISSED if _differs_by_one(word, heading)), None)


def _differs_by_one(one: str, other: str) -> bool:
    if abs(len(one) - len(other)) > 1:
        return False
    start = next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), None)
    if start is None:
        return True
    swapped = one[start : start + 2] == other[start : start + 2][::-1]
    rests = {
        (one[start + 1 :], other[start + 1 :]),
        (one[start:], other[start + 1 :]),
        (one[start + 1 :], other[start:]),
    }
    return (swapped and one[start + 2 :] == other[start + 2 :]) or any(a == b for a, b in rests)


def is_absent(text: str | None) -> bool:
    """True if a text is missing: None, empty, or a word such as ``nan`` or ``None.``."""
    return text is None or text.strip().rstrip(".").rstrip().lower() in MISSING_WORDS


def has_report_headings(text: str) -> bool:
    """True if a text has a heading for findings or impression, even an empty one."""
    return not {"findings", "impression"}.isdisjoint(kind for kind, *_ in section_spans(text))


def split_report(text: str | None) -> Report:
    """Split a whole report into findings and impression.

    A text without headings is findings, except the sections of :data:`OWN_SECTIONS`. The text above
    the first heading is not part of them.
    """
    if text is None or is_absent(text):
        return Report()
    parts = split_sections(text)
    if has_report_headings(text):
        return Report(findings=parts.get("findings"), impression=parts.get("impression"))
    if parts.keys() & {*OWN_SECTIONS} and (parts.keys() - {*OWN_SECTIONS, "other"}) <= {""}:
        return Report(findings=parts.get(""))
    return Report(findings=text.strip())


def report_fields(
    text: str | None, *, findings: str | None = None, impression: str | None = None
) -> dict[str, Any]:
    """Return a report's fields of a case: ``report``, ``context`` and extra fields.

    Extra fields are the sections of :data:`OWN_SECTIONS`, the text above the first heading, and the
    text under headings such as technique. ``findings`` and ``impression`` are those that a source
    gives separately; they take precedence over the whole ``text``. If that has no headings and
    differs from them, it is kept as ``report_text``.
    """
    apart = {"findings": findings, "impression": impression}
    own = {name: one for name, one in apart.items() if one is not None and not is_absent(one)}
    if text is None or is_absent(text):
        return {"report": own} if own else {}
    parts = split_sections(text)
    whole = {name: one for name, one in vars(split_report(text)).items() if one is not None}
    fields: dict[str, Any] = {}
    if whole.get("findings") != text.strip():
        if context := {name: parts[name] for name in ("indication", "comparison") if name in parts}:
            fields["context"] = context
        rest = {name: parts.get(name) for name in OWN_SECTIONS}
        rest[REPORT_HEAD] = parts.get("") if has_report_headings(text) else None
        rest[REPORT_REST] = parts.get("other")
        fields |= {name: one for name, one in rest.items() if one}
    elif own.get("findings", text) in text:
        own.pop("findings", None)  # a part of the whole text, which has no headings
    else:
        fields["report_text"] = text
    report = whole | own
    return fields | ({"report": report} if report else {})


def read_context(text: str | None) -> Context:
    """Read ``Age:50-60.Gender:M.Indication: ... Comparison: ...``.

    A text without headings is the indication.
    """
    if text is None or is_absent(text):
        return Context()
    text = re.sub(r"</?context>", "", text)
    parts = split_sections(text, request=True)
    indication = parts.get("indication", parts.get(""))
    if "indication" in parts and "" in parts:
        indication = f"{parts['']}\n{parts['indication']}"
    return Context(
        age=read_age(parts.get("age", "").rstrip(".")),
        sex=read_sex(parts.get("sex", "").rstrip(".")),
        indication=indication,
        comparison=parts.get("comparison"),
    )


def read_age(text: str | None) -> str | None:
    """Return an age in display form; every age above 89 becomes ``90+``.

    Understands ``77.0``, ``50-60``, DICOM's ``067Y`` and ``006M``, ``58 years``; other words are
    kept as written. Returns None if there is none, or if the number cannot be an age in years (NIH
    ChestX-ray14 has 411).
    """
    if text is None or is_absent(text):
        return None
    dicom = _DICOM_AGE.match(text)
    if dicom and dicom[2] != "Y":
        unit = {"D": "days", "W": "weeks", "M": "months"}[dicom[2]]
        return f"{int(dicom[1])} {unit}"
    band = _AGE_BAND.match(text)
    if band:
        return "90+" if int(band[2]) > OLDEST_AGE + 1 else text.strip()
    plain = dicom or _AGE.match(text)
    if plain:
        years = int(plain[1])
        if years > _IMPOSSIBLE_AGE:
            return None
        return "90+" if years > OLDEST_AGE else str(years)
    return text.strip()


def read_sex(text: str | None) -> str | None:
    """Return ``F``, ``M`` or ``O`` for the usual words, any other word as written."""
    if text is None or is_absent(text):
        return None
    word = text.strip()
    known = {"f": "F", "female": "F", "woman": "F", "w": "F", "m": "M", "male": "M", "man": "M"}
    known |= {"o": "O", "other": "O"}
    return known.get(word.lower(), word)
