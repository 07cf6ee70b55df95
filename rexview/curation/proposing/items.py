"""What one question of a reply is, and what of a line belongs to it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

_FEWEST_WORDS: Final = 3
_STATES: Final = re.compile(
    r"(?:the|there|this|that|these|those|a|an|no|it|its|he|she|they|we|i|both|here|patient|findings?"
    r"|impression|report|image|none|normal|yes|note)\b",
    re.I,
)
"""How a sentence begins that says something and asks nothing."""
_SENTENCE: Final = re.compile(r"(?<=[.!;])\s+")
_ORDERS: Final = re.compile(
    r"(?:[\w ,'-]{0,80}, )?(?:describe|compare|identify|measure|assess|explain|list|evaluate|mark"
    r"|draw|locali[sz]e|determine|estimate|characteri[sz]e|outline|discuss|name|quantify|locate"
    r"|summari[sz]e|state|give|provide|calculate|classify|grade|comment|analy[sz]e|interpret|point"
    r"|indicate|examine|rank|differentiate|distinguish|specify|count)\b",
    re.I,
)
OFFERS: Final = re.compile(
    r"(?:would you like|do you want|shall i|should i|may i|can i|could i|let me know|need any"
    r"|is there anything (?:else|more|i|you)|do you need|want me to|if you(?:'d| would) like"
    r"|does this help)\b",
    re.I,
)
"""What a model says to whoever asks it: no question about a study."""
_TO_THE_ASKER: Final = re.compile(
    r"\bI(?:'m|'d|'ll| (?:am|would|need|can|cannot|can't|will|have|must))\b|\blet me\b"
    r"|\b(?:(?:could|can|would) you )?(?:please )?(?:share|provide|send|upload|paste|clarify) "
    r"(?:it|me|the (?:report|findings?|indication|image|text))\b"
)
_PLACEHOLDER: Final = re.compile(
    r"[<\[{(]?\s*(?:the )?question(?: text| here)?\s*\d*\s*[>\]})]?|\W*", re.I
)


@dataclass(frozen=True)
class Item:
    """A question as it stands, and the category that is named for it; both may be empty."""

    question: str
    category: str = ""


def is_question(text: str, *, in_json: bool) -> bool:
    """Whether a text asks or orders anything: a statement does not, nor does an offer.

    In JSON, where a model was asked for questions and nothing else, all counts but what only says
    something: orders begin with too many words to know them all.
    """
    if len(text.split()) < _FEWEST_WORDS or _PLACEHOLDER.fullmatch(text):
        return False
    if text.endswith(":") or OFFERS.match(text) or _TO_THE_ASKER.search(text):
        return False
    if "?" in text or _ORDERS.match(text):
        return True
    return in_json and not all(_STATES.match(one) for one in _SENTENCE.split(text))
