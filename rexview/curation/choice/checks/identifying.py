"""Find text in a question that could identify the patient.

``P(PHI)`` is the probability that a text *identifies* a patient, from 0 to 1. A question passes if
it is **below** :data:`THRESHOLD`. (ReXVQA's paper writes the rule the other way round, as passing
from a threshold on, which only makes sense of the probability of *no* such content.)

The kinds are those of the US Safe Harbor rule (45 CFR 164.514(b)(2)) as far as text can have them:
names, places smaller than a state, dates except the year, ages over 89, numbers and addresses.
Years alone, ages up to 89 and eponyms ("Swan-Ganz", "Kerley") do not count.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final

from rexview.curation.choice.checks import Check, ChoiceQuestion
from rexview.untrusted_input import read_untrusted_yaml

CHECK: Final = "identifies"
THRESHOLD: Final = 0.5
"""From this probability a text counts as identifying, for rules and for models."""
_MONTHS: Final = (
    "Jan(?:uary|\\.)?|Feb(?:ruary|\\.)?|Mar(?:ch|\\.)?|Apr(?:il|\\.)?|May|June?\\.?|July?\\.?"
    "|Aug(?:ust|\\.)?|Sept?(?:ember|\\.)?|Oct(?:ober|\\.)?|Nov(?:ember|\\.)?|Dec(?:ember|\\.)?"
)
_CAPITALISED: Final = r"[A-ZÀ-ÖØ-Þ](?:['’][A-Z])?[a-zß-öø-ÿ]+(?:[-'’][A-Z]?[a-zß-öø-ÿ]+)*"
_TENS: Final = "ninety|hundred"


@cache
def _signs() -> tuple[tuple[str, re.Pattern[str]], ...]:
    """Return the names of the signs with the patterns that match them."""
    words: Any = read_untrusted_yaml(Path(__file__).with_name("identifying.yaml"))
    titles, names = _any_of(words["titles"].split()), _any_of(words["given_names"].split())
    places = _any_of([*words["institutions"].split(), *words["institution_phrases"]])
    streets = _any_of(words["streets"].split())
    upper = _CAPITALISED
    return tuple(
        (name, re.compile(pattern))
        for name, pattern in (
            ("a name with a title", rf"\b(?:{titles})\b\.?\s+(?:[A-Z]\.?\s+)*{upper}"),
            (
                "a name",
                rf"\b(?:{names})\s+(?:[A-Z]\.\s+)?(?:(?:van|de|von|der|la|del|al)\s+)*{upper}",
            ),
            ("a name", rf"\b{upper},\s+(?:{names})\b"),
            ("a name", rf"\b(?:[A-Z]\.\s?){{2}}{upper}\b"),
            # one initial, which is no option's letter
            (
                "a name",
                rf"(?<!\A)(?<![:.;?!(]\s)(?<!ption )(?<!hoice )(?<!wer )(?<!is )"
                rf"\b[A-Z]\.\s{upper}\b",
            ),
            (
                "a name",
                r"\b(?i:patient(?:'s)? name|name of (?:the )?patient|named|called|known as|surname"
                rf"|first name|last name|name)\s*(?:is\s+|[:=]\s*)?{upper}",
            ),
            ("a name", rf"\b(?i:patient),?\s+(?:{upper}\s+{upper}|(?:{names})\b)"),
            ("a name", rf"\b(?:{names})(?:['’]s\b|,?\s+(?i:an?\s+)?(?i:aged?\s+)?\d{{1,2}}\b)"),
            (
                "a name",
                r"\b(?i:signed|dictated|reviewed|interpreted|read|reported|verified|transcribed"
                r"|referred|ordered|performed|requested|discussed|communicated|approved)\s+"
                rf"(?i:by|with|to|off by)\s+(?:{titles})?\.?\s*{upper}(?:\s+{upper}|,?\s+M\.?D)",
            ),
            (
                "a name",
                rf"\b{upper}(?:\s+[A-Z]\.)?\s+{upper},?\s+(?:M\.?D\b|D\.?O\b|R\.?N\b|FRCR|PhD)",
            ),
            ("a date", r"\b\d{1,4}([/.\-])\d{1,2}\1\d{2,4}\b"),
            ("a date", rf"\b\d{{1,2}}(?:st|nd|rd|th)?(?:\s+of)?[\s-]+(?:{_MONTHS})(?![\w])"),
            ("a date", rf"\b(?:{_MONTHS})[\s-]+\d{{1,2}}(?:st|nd|rd|th)?\b(?!\s*(?:mm|cm|%))"),
            ("a date", rf"\b(?:{_MONTHS}),?[\s-]+(?:of\s+)?(?:19|20)\d\d\b"),
            ("a date of birth", r"\b(?i:D\.?O\.?B\.?|date of birth|birth ?date|born (?:on|in))\b"),
            (
                "a record number",
                r"\b(?i:MRN|M\.R\.N\.|medical record|record (?:number|no)|accession|patient "
                r"(?:id|number|no)|hospital (?:number|no)|NHS (?:number|no)|SSN|social security"
                r"|insurance (?:number|id|no)|policy (?:number|no)|account (?:number|no)|encounter "
                r"(?:number|id)|case (?:number|no)|study (?:id|number)|exam (?:id|number)"
                r"|identifier|serial (?:number|no)"
                r"|member id|license (?:number|no))(?:\b|(?=\.))",
            ),
            ("a record number", r"(?<![\w.])(?=[A-Z-]*\d)(?:[A-Z]{1,4}-?)?\d{6,}(?![\w.]*\w)"),
            ("a record number", r"\b\d{3}-\d{2}-\d{4}\b"),
            (
                "a telephone number",
                r"(?<![\w.])(?:\+\d{1,3}[\s.-]?)?(?:\(\d{2,5}\)|\d{3,5})[\s./-]\d{3,4}[\s.-]?\d{3,4}\b",
            ),
            ("a telephone number", r"(?<![\w.-])\d{3}-\d{4}\b|\+\d[\d\s-]{7,}"),
            (
                "a telephone number",
                r"\b(?i:tel|telephone|phone|pager|fax|mobile|cell ?phone)\b\.?:?\s*\(?\+?\d",
            ),
            ("a mail address", r"(?<![\w.+-])[\w.+-]+@[\w-]+\.[\w.]+"),
            ("an internet address", r"\bhttps?://|\bwww\.\w|\b(?:\d{1,3}\.){3}\d{1,3}\b"),
            ("an address", rf"\b\d{{1,5}}[A-Za-z]?\s+(?:{upper}\s+){{1,3}}(?:{streets})\b"),
            ("an address", r"\b[A-Z]{2}\s+\d{5}(?:-\d{4})?\b|\b[A-Z]{1,2}\d[A-Z\d]?\s\d[A-Z]{2}\b"),
            (
                "an address",
                r"\b(?i:resident of|lives (?:in|at)|living (?:in|at)|zip code|postcode)\b",
            ),
            (
                "an institution",
                rf"\b(?!The\b|This\b|In\b|At\b|A\b|An\b){upper}\.?\s+(?:{upper}\s+|of\s+|and\s+|['’&-]\s*)*(?:{places})\b",
            ),
            (
                "an institution",
                rf"\bSt\.?\s+{upper}(?:['’]s)?\s+(?:{places})\b"
                r"|\b[A-Z]{2,5}\s+(?:Hospital|Clinic|Medical Cent(?:er|re))\b",
            ),
            (
                "an institution",
                rf"\b(?:Hospital|University|Clinic|College|Infirmary|Institute)\s+(?:of|at|in|for)\s+(?:the\s+)?{upper}",
            ),
            (
                "an age over 89",
                r"(?<![\d.])(?:9\d|1[0-2]\d)[\s-]*(?:years?|yrs?|y)[\s./-]*(?:old|of age|o\b|/o)",
            ),
            (
                "an age over 89",
                r"(?<![\d.])(?:9\d|1[0-2]\d)\s?(?:yo|y/o|y\.o\.|YO|Y/O)\b|\b(?:9\d|1[0-2]\d)[MF]\b",
            ),
            ("an age over 89", r"\b(?i:aged?|age of|age is|age:)\s*:?\s*(?:9\d|1[0-2]\d)\b"),
            (
                "an age over 89",
                rf"\b(?i:{_TENS})(?:[\s-](?i:one|two|three|four|five|six|seven|eight|nine))?[\s-]"
                r"(?i:years?|yrs?)[\s-](?i:old|of age)|\b(?i:nonagenarian|centenarian)|"
                r"\b(?i:(?:his|her|their) (?:(?:early|mid|late)[- ])?(?:nineties|90s))",
            ),
        )
    )


def _any_of(words: Sequence[str]) -> str:
    return "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))


def find_identifying_signs(text: str) -> list[str]:
    """Return the kinds of identifying content in a text; the content itself is not repeated.

    >>> find_identifying_signs("A 93-year-old man seen by Dr. Miller.")
    ['a name with a title', 'an age over 89']
    >>> find_identifying_signs("Where does the Swan-Ganz catheter of this 64-year-old end?")
    []
    """
    return list(dict.fromkeys(name for name, sign in _signs() if sign.search(text)))


def check_identifying_signs(asked: ChoiceQuestion) -> Check:
    """Search all texts of a question for such signs: P(PHI) is 1 if there is one, else 0."""
    texts = (asked.question, *asked.options, asked.explanation, asked.statement)
    found = list(dict.fromkeys(name for text in texts for name in find_identifying_signs(text)))
    probability = 1.0 if found else 0.0
    return check_phi_probability(probability, f"It has {', '.join(found)}." if found else "")


def check_phi_probability(probability: float, reason: str) -> Check:
    """Return the check for a probability that a text identifies a patient."""
    passed = probability < THRESHOLD
    return Check(CHECK, passed, None if passed else CHECK, reason, {"p_phi": probability})
