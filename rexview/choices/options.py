"""The options of a question as a text may name them: their labels and their words."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Final

_OWN_LABEL: Final = re.compile(r"\s*\(?([A-Za-z]|\d{1,2})[.):]\s+(?=\S)")
_THOUGHT: Final = re.compile(
    r"<(think|thinking|thought|reasoning)>.*?(?:</\1>|\Z)", re.IGNORECASE | re.DOTALL
)
_MARKUP: Final = re.compile(r"\\text(?:bf)?\{|\\[()\[\]]|```\w*|[*_`\"“”„'‘’$#>{}]|\\")
_TOKENS: Final = {
    kind: re.compile(
        rf"(?:(?:option|choice|answer|letter)\s*:?\s+)?(?P<open>[(\[]\s*)?(?:option\s+)?"
        rf"(?P<label>{label})(?![\w'’])(?!-\w)(?P<close>\s*[)\]])?",
        re.IGNORECASE,
    )
    for kind, label in {"letter": "[A-Za-z]", "digit": r"\d{1,2}"}.items()
}


@dataclass(frozen=True)
class Options:
    """The options of a question, each tuple with an entry for each.

    ``labels`` are in upper case; ``folded`` are the words in lower case, apart by one space, and
    ``words`` finds them in a text; ``token`` finds a label with what may be around it.
    """

    labels: tuple[str, ...]
    folded: tuple[str, ...]
    token: re.Pattern[str]

    @cached_property
    def words(self) -> tuple[re.Pattern[str] | None, ...]:
        """Patterns of the options' words; making them takes longer than reading most texts."""
        return tuple(map(_words_pattern, self.folded))


@lru_cache(maxsize=4_096)
def options_of(options: tuple[str, ...]) -> Options:
    """Read the labels that options carry, or count them A, B, C; ``options`` is not empty."""
    own = [_OWN_LABEL.match(option) for option in options]
    labels = tuple(match[1].upper() if match else "" for match in own)
    runs = (
        "ABCDEFGHIJKLMNOPQRSTUVWXYZ",
        [str(n) for n in range(1, 100)],
        [str(n) for n in range(99)],
    )
    if len(options) > 1 and any(list(labels) == list(run[: len(labels)]) for run in runs):
        options = tuple(
            option[match.end() :] for option, match in zip(options, own, strict=True) if match
        )
    else:
        labels = tuple(chr(ord("A") + n) for n in range(min(len(options), 26)))
    token = _TOKENS["digit" if labels[0].isdigit() else "letter"]
    return Options(labels, tuple(folded(plain(option)) for option in options), token)


def _words_pattern(text: str) -> re.Pattern[str] | None:
    """Return what finds the words of an option, whatever stands between them."""
    between = r"\W+".join(map(re.escape, text.split()))
    return re.compile(rf"(?<!\w){between}(?!\w)", re.IGNORECASE) if between else None


def plain(text: str) -> str:
    """Blank out markup and thoughts, letter for letter, so that every place stays where it is."""
    text = _THOUGHT.sub(lambda match: " " * len(match[0]), text)
    text = re.sub(r"<answer>", "answer: ", text, flags=re.IGNORECASE)
    text = re.sub(r"</answer>", "\n        ", text, flags=re.IGNORECASE)
    text = re.sub(r"\bans\.", "ans:", text.replace("\\boxed{", "answer:"), flags=re.IGNORECASE)
    return _MARKUP.sub(lambda match: " " * len(match[0]), text)


def folded(text: str) -> str:
    """Return the words of a text in lower case, apart by one space."""
    return " ".join(re.findall(r"\w+", text.casefold()))
