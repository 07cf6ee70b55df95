"""How models call the four criteria, the risk flag and the sum."""

from __future__ import annotations

import re
from typing import Final

_IMAGE: Final = r"(?:image|radiograph|x-?\s?ray|film|cxr|imaging|picture|bild)s?"
_CRITERIA: Final = {
    "relevance": (
        r"clinical(?:ly)? (?:relevance|relevant|significance|importance)"
        r"|relevance(?: \(clinical\)| (?:to|for) (?:clinical )?(?:practice|care|patient care))?"
        r"|klinische relevanz|relevanz|pertinence(?: clinique)?"
        r"|relevancia(?: cl[ií]nica)?|rilevanza(?: clinica)?|relev[âa]ncia(?: cl[ií]nica)?"
        r"|临床相关性|臨床的関連性"
    ),
    "answerability": (
        r"(?:image(?:-based)? |visual )?answerab(?:ility|le)"
        rf"(?: (?:from|by|on|with|using|in|via) (?:the |this )?(?:given |provided |chest )?{_IMAGE}"
        r"(?: alone| only)?)?"
        r"|beantwortbarkeit(?: (?:aus|anhand|mit|am)(?: dem| des)? bild(?:es)?)?"
        r"|(?:r[ée]pondabilit[ée]|capacit[ée] de r[ée]ponse)(?: (?:à partir|par) de l'image)?"
        r"|(?:respondibilidad|contestabilidad)(?: (?:a partir de|desde|con) la imagen)?"
        r"|可回答性"
    ),
    "complexity": (
        r"complexity(?: of (?:the )?(?:clinical |diagnostic |required )?reasoning)?"
        r"|(?:reasoning|diagnostic|cognitive) complexity"
        r"|komplexität(?: (?:der|des) \w+)?"
        r"|complexit[ée](?: du \w+)?"
        r"|complejidad(?: del \w+)?|complessità(?: del \w+)?"
        r"|推理复杂性"
    ),
    "clarity": (
        r"clarity(?:(?: and | & | ?/ ?|, | \+ | )precision)?|precision(?: and | & | ?/ ?)clarity"
        r"|klarheit(?: und (?:präzision|genauigkeit))?"
        r"|clart[ée](?: et pr[ée]cision)?|claridad(?: y precisi[oó]n)?"
        r"|chiarezza(?: e precisione)?|清晰度"
    ),
    "precision": r"precision|präzision|pr[ée]cision|precisi[oó]n",
}
"""``precision`` is a part of clarity: said alone, it must not differ from it."""
_FIVE: Final = r"(?:scale:? ?)?[01] ?(?:-|to) ?5|(?:max(?:imum)?\.? |out of |of |/ ?)5"
_SCALE: Final = rf"(?:\s*\((?:[^()\d]*|{_FIVE})\))?"
_LEAD: Final = r"(?:criterion \d ?[:.-] ?|(?:score|rating) (?:for|of) )?(?:the )?"
_AFTER: Final = (
    r"(?= *$| *[:=|,(\[-]| +\.+ | *[★⭐☆]| +\d| +(?:score|rating|is|gets|scores|rated|receives)\b)"
)
ANY: Final = "|".join(f"(?:{names})" for names in _CRITERIA.values())
HEADS: Final = {
    criterion: re.compile(rf"{_LEAD}(?:{names})(?: (?:score|rating))?{_SCALE}{_AFTER}", re.I)
    for criterion, names in _CRITERIA.items()
}
"""A criterion at the beginning of a line, up to what is said of it."""
SAID: Final = {
    criterion: re.compile(
        rf"(?<![\w-])(?:{names})(?: (?:score|rating))?{_SCALE}"
        r" *(?:[:=-]|is|to|at|as|should be|would be|becomes|scores|gets|deserves)? *"
        r"(?:an? |score of |rating of |down to |up to )*"
        r"(?P<number>\d(?![\d.,]*\d).*)",
        re.I,
    )
    for criterion, names in _CRITERIA.items()
}
"""A criterion with a number, wherever it stands."""
BEFORE: Final = {
    criterion: re.compile(
        rf"(?<![\w./-])([0-9])(?: ?/ ?5)? (?:for|in|on) (?:the )?(?:{names})", re.I
    )
    for criterion, names in _CRITERIA.items()
}
"""A number that stands before its criterion: 4/5 for clarity."""
KEYS: Final = {
    criterion: re.compile(rf"(?:{names})(?: (?:score|rating))?", re.I)
    for criterion, names in _CRITERIA.items()
}
"""The name of a part of a JSON object."""
RISK: Final = re.compile(
    r"(?:(?:overall|safety|potential|any) )?(?:risk(?:s)?(?: ?flag(?:ged)?)?|flag(?:ged)?"
    r"|risiko(?:hinweis|-?flag|markierung)?|risque|riesgo|rischio|signalement de risque"
    r"|(?:indicador|alerta|bandera) de riesgo|indicateur de risque|drapeau de risque"
    r"|风险(?:标志)?)"
    r"(?:\s*\([^()]*\))?(?= *$| *[:=|?-]| +(?:yes|no|none|true|false)\b)",
    re.I,
)
NO_RISK: Final = re.compile(r"no (?:\w+ ){0,2}risks?(?: flags?)?\b", re.I)
IN_FRONT: Final = {
    criterion: re.compile(rf"\[(?P<number>\d)(?:/5)?\] *(?P<rest>(?:{names})\b.*)", re.I)
    for criterion, names in _CRITERIA.items()
}
"""A number in square brackets before its criterion."""
RISK_BEHIND: Final = re.compile(r"\[(?P<word>yes|no)\] *risk(?: flag)?\b(?P<rest>.*)", re.I)
ENDS: Final = re.compile(
    r"(?:in )?(?:total|sum\b|overall|conclusion|final|summary|gesamt|summe|somme|fazit|conclusi"
    r"|verdict|recommendation|schluss)",
    re.I,
)
"""A line with which what is said of a criterion is at its end."""
ANOTHER: Final = re.compile(
    r"(?:question|frage|q)\s*(?:#|no\.?|number)?\s*(?:2|two|zwei|b)\b", re.I
)
"""A heading of a second question."""
