"""Sections of a report and of a request, from running text.

Reports in public sets come as ``Findings: ... Impression: ...``, in capitals, with headings glued
to the word before (``...process.Impression:``), and with ``None`` or ``nan`` where a section is
absent. The text of a section is kept as written.
"""

from __future__ import annotations

import re
from typing import Final

from rexview.reviewset.json_text import MISSING
from rexview.schema import Context, Report

_HEADINGS: Final[dict[str, tuple[str, ...]]] = {
    "findings": ("findings and impression", "findings/impression", "findings", "finding"),
    "impression": ("impression", "impressions", "conclusion", "conclusions", "summary"),
    "indication": (
        *("clinical indication", "clinical information", "clinical history", "indication"),
        *("reason for examination", "reason for exam", "history"),
    ),
    "comparison": ("comparison", "comparisons"),
    "other": (
        *("technique", "examination", "exam", "procedure", "recommendation", "recommendations"),
    ),
    "age": ("age",),
    "sex": ("gender", "sex"),
}


def _headings(*kinds: str) -> dict[str, str]:
    return {word: kind for kind in kinds for word in _HEADINGS[kind]}


_REPORT_HEADINGS: Final = _headings("findings", "impression", "indication", "comparison", "other")
_CONTEXT_HEADINGS: Final = _headings("age", "sex", "indication", "comparison")
_AGE: Final = re.compile(
    r"\s*(\d{1,3})(?:\.0*)?\s*(?:y|yo|yrs?|years?|-year-old)?\s*$", re.IGNORECASE
)
_DICOM_AGE: Final = re.compile(r"\s*(\d{3})([DWMY])\s*$")
_AGE_BAND: Final = re.compile(r"\s*(\d{1,3})\s*-\s*(\d{1,3})\s*$")
OLDEST_AGE: Final = 89
"""Ages above this are folded into one band, as de-identification rules ask (HIPAA Safe Harbor)."""
_IMPOSSIBLE_AGE: Final = 120


def _heading_pattern(words: dict[str, str]) -> re.Pattern[str]:
    # A heading starts with a capital, whether or not it is glued to what came before; all small
    # letters count only at the start of a line. Alone on its line it needs no colon; marks of
    # emphasis around it ("**Findings:**", "## Findings") are its own.
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


def sections(text: str, *, request: bool = False) -> dict[str, str]:
    """Split running text at its headings.

    Parameters
    ----------
    text : str
        A report, or with ``request`` what was asked (age, sex, indication, comparison).

    Returns
    -------
    dict of str to str
        By ``findings``, ``impression``, ``indication``, ``comparison``, ``other`` (and ``age``,
        ``sex`` for a request); the text before the first heading under ``""``. Sections of one
        kind are joined by a line break; absent ones (empty, ``None``, ``nan``) are left out.
    """
    found: dict[str, str] = {}
    for kind, start, end in section_spans(text, request=request):
        body = text[start:end].strip()
        if body and not (kind != "comparison" and absent(body)):
            found[kind] = f"{found[kind]}\n{body}" if kind in found else body
    return found


def section_spans(text: str, *, request: bool = False) -> list[tuple[str, int, int]]:
    """Say where the sections of a text lie: kind as in :func:`sections`, start and end.

    In order of place and without their headings; one may be empty.
    """
    pattern, words = (_CONTEXT, _CONTEXT_HEADINGS) if request else (_REPORT, _REPORT_HEADINGS)
    spans = []
    kind, start = "", 0
    for match in pattern.finditer(text):
        spans.append((kind, start, match.start()))
        kind, start = words[(match[1] or match[2] or match[3]).lower()], match.end()
    return [*spans, (kind, start, len(text))]


def absent(text: str | None) -> bool:
    """Whether a text is missing: None, empty, or a word such as ``nan`` or ``None.``."""
    return text is None or text.strip().rstrip(".").rstrip().lower() in MISSING


def has_report_headings(text: str) -> bool:
    """Whether a text has a heading for findings or impression, whatever stands below it."""
    return not {"findings", "impression"}.isdisjoint(kind for kind, *_ in section_spans(text))


def split_report(text: str | None) -> Report:
    """Split a whole report into findings and impression; a text without headings is findings."""
    if text is None or absent(text):
        return Report()
    parts = sections(text)
    if not has_report_headings(text):
        return Report(findings=text.strip())
    findings = parts.get("findings")
    if findings is None and "" in parts:
        findings = parts[""]
    return Report(findings=findings, impression=parts.get("impression"))


def read_context(text: str | None) -> Context:
    """Read ``Age:50-60.Gender:M.Indication: ... Comparison: ...``.

    A text without headings is the indication.
    """
    if text is None or absent(text):
        return Context()
    text = re.sub(r"</?context>", "", text)
    parts = sections(text, request=True)
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
    """Return an age as it is shown, folding every age above 89 to ``90+``.

    Understands ``77.0``, ``50-60``, DICOM's ``067Y`` and ``006M``, ``58 years``; other words are
    kept as written. None when there is none, or when the number cannot be an age in years (NIH
    ChestX-ray14 has 411).
    """
    if text is None or absent(text):
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
    if text is None or absent(text):
        return None
    word = text.strip()
    known = {"f": "F", "female": "F", "woman": "F", "w": "F", "m": "M", "male": "M", "man": "M"}
    known |= {"o": "O", "other": "O"}
    return known.get(word.lower(), word)
