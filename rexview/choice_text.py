"""Which option a free text chooses: how it was read, and where it stands.

Models answer a multiple-choice question with a letter, a sentence, an option's words, JSON or long
reasoning. What is said outright is read; where more than one option could be meant, where a letter
and the words beside it are of different options, and where an option is only denied or thought
possible, nothing is. A wrong reading would count for or against a model, a missing one is counted
as what it is. Only English is read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

METHODS: Final[dict[str, str]] = {
    "letter": "a letter on its own, before the rest, or on the last line",
    "option": "the words of one option, and nothing else",
    "stated": "a sentence that says which is the answer",
    "field": "the answer's field of a JSON object",
    "mentioned": "the only option that the text speaks of",
}
"""How a choice was read from a text, by id, with its words."""
LONGEST: Final = 50_000
"""Characters of a text that is read; none is taken from a longer one."""

_INVERTED: Final = re.compile(
    r"\b(?:not?|cannot|neither|without|except|absent|missing|excluded|ruled out|lacks?|false|least"
    r"|incorrect|untrue|wrong|normal|clear|free|spared|unaffected)\b|n['’]t\b",
    re.IGNORECASE,
)
_LONGEST_QUESTION: Final = 2_000
_THOUGHT: Final = re.compile(
    r"<(think|thinking|thought|reasoning)>.*?(?:</\1>|\Z)", re.IGNORECASE | re.DOTALL
)
_MARKUP: Final = re.compile(r"\\text(?:bf)?\{|\\[()\[\]]|```\w*|[*_`\"“”„'‘’$#>{}]|\\")
_OWN_LABEL: Final = re.compile(r"\s*\(?([A-Za-z]|\d{1,2})[.):]\s+(?=\S)")
_NOUN: Final = r"(?:answer|choice|option|selection|pick|statement|diagnosis|finding|conclusion)"
_BE: Final = (
    r"(?:\b(?:is|was|(?:would|must|should|could|will|has to|seems to|appears to|to) be)\b"
    r"(?:\s*:)?|[:：=–—-])"
)
_AS: Final = r"(?:\s*\b(?:clearly|definitely|most likely|probably|therefore|either|both|indeed)\b)?"
_NAMED_AS: Final = re.compile(
    rf"\b(?P<final>final\s+)?(?P<noun>{_NOUN})\b(?P<rest>[^.;\n]{{0,80}})", re.IGNORECASE
)
_IS: Final = re.compile(rf"{_BE}{_AS}\s*", re.IGNORECASE)
_CHOSEN: Final = re.compile(
    r"\b(?:choose|pick|select|go(?:ing)? with|opt(?:ing)? for|lean(?:ing)? towards?|it is|it.s"
    r"|(?:must|has to) be|leaves|so|therefore|thus|hence|not \(?[A-Z]\)?,? but)\b,?\s+",
    re.IGNORECASE,
)
_PRAISED: Final = re.compile(
    r"\s*(?:\b(?:is|seems|appears|would be)\s+(?:\w+ly\s+)?(?:the\s+)?"
    r"(?:correct|right|best|most|more likely|true|answer|only)\b)",
    re.IGNORECASE,
)
_TICKED: Final = re.compile(r"[^\n]{0,200}?\s[-–—:]\s*(?:correct|yes|true|✓|✔|✅)\W*$", re.I | re.M)
_SPURNED: Final = re.compile(
    r"\s*\b(?:is|are|was|seems?|appears?|would be|does|can)\s*(?:n.t\b|not\b|wrong|incorrect|false"
    r"|unlikely|less|excluded|impossible|implausible)|\s*[-–—:]\s*(?:no|not|wrong|incorrect|false)\b",
    re.IGNORECASE,
)
_GOES_ON: Final = re.compile(
    r"\s*(?:$|[.,;:!?)\]\n–—/&-]|(?:because|since|as|due|for|based|given|is|seems|would|and|or)\b)",
    re.IGNORECASE,
)
"""What may follow a letter that stands for an option; "A patient" and "I think" do not."""
_CHANGED_MIND: Final = re.compile(
    r"\b(?:wait|actually|however|correction|on (?:a )?(?:closer|second|further)|instead|hmm"
    r"|at first|initially|reconsider\w*|i was wrong|my mistake)\b",
    re.IGNORECASE,
)
_DENIED_BEFORE: Final = re.compile(
    r"\b(?:not?|without|nor|neither|never|cannot|excludes?|rules? out|ruled out|absence of"
    r"|negative for|against|rather than|instead of|unlikely|unlike|if|whether|possibl[ey]|maybe"
    r"|perhaps|may|might|could|either)\b|n.t\b",
    re.IGNORECASE,
)
_DENIED_AFTER: Final = re.compile(
    r"\b(?:not|unlikely|absent|excluded?|ruled out|cannot|less likely|incorrect|wrong|false"
    r"|resolved|possible|questionable|missing)\b|n.t\b|\?",
    re.IGNORECASE,
)
_CLAUSE: Final = re.compile(r"[.;:!?\n]|\b(?:but|however|although|though|yet)\b", re.IGNORECASE)
_AFTER: Final = re.compile(r"[.,;:!?\n]|\b(?:but|however|although|though|yet)\b", re.IGNORECASE)
"""Where a clause ends behind some words: "consolidation, not effusion" denies only the second."""
_CLAUSE_LENGTH: Final = 300
_FIELD: Final = re.compile(
    r'"(?:final_?|correct_?|selected_?|predicted_?)?(?:answer|choice|option|letter|prediction)'
    r'(?:_letter)?"\s*:\s*"((?:[^"\\]|\\.){0,500})"',
    re.IGNORECASE,
)
_LISTED: Final = re.compile(r"^\s*(?:option\s+)?\(?([A-Z]|\d{1,2})\)?\s*[.:)–-]", re.I | re.M)
_SHORT_WORDS: Final = frozenset(("yes", "no", "true", "false", "none", "normal", "abnormal"))
"""Options that mean themselves only where an answer begins, not anywhere in a sentence."""


@dataclass(frozen=True, slots=True)
class ReadChoice:
    """An option (from 0) that was read from ``text[start:end]`` by one of :data:`METHODS`."""

    option: int
    method: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class _Named:
    """Words of an option in the text; ``denied``: as not there, or as no more than possible."""

    option: int
    start: int
    end: int
    denied: bool


@dataclass(frozen=True, slots=True)
class _Claim:
    """What a place in the text says is the answer; ``option`` None: none or several of them."""

    option: int | None
    method: str
    start: int
    end: int
    firm: bool = False
    final: bool = False


def read_choice(text: str, options: Sequence[str], question: str = "") -> ReadChoice | None:
    """Read the option that a text chooses; None when none or more than one could be meant.

    ``options`` may carry labels of their own (``"A. ..."``, ``"2) ..."``); without, they are A, B,
    C and so on. A number stands for an option only where the options are numbered.
    """
    if not options or len(text) > LONGEST or not text.strip():
        return None
    return _Reader(_plain(text), text, _choices(tuple(options)), asks_for_absence(question)).read()


def asks_for_absence(question: str) -> bool:
    """Say whether the right option of a question may be what is *not* there."""
    return bool(_INVERTED.search(question[:_LONGEST_QUESTION]))


@dataclass(frozen=True)
class _Choices:
    """The options of a question: their labels, in upper case, and their words."""

    labels: tuple[str, ...]
    words: tuple[re.Pattern[str] | None, ...]
    plain: tuple[str, ...]
    token: re.Pattern[str]


@lru_cache(maxsize=4_096)
def _choices(options: tuple[str, ...]) -> _Choices:
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
    label = r"\d{1,2}" if labels[0].isdigit() else "[A-Za-z]"
    token = re.compile(
        rf"(?:(?:option|choice|answer|letter)\s*:?\s+)?(?P<open>[(\[]\s*)?(?:option\s+)?"
        rf"(?P<label>{label})(?![\w'’])(?!-\w)(?P<close>\s*[)\]])?",
        re.IGNORECASE,
    )
    plain = tuple(_folded(_plain(option)) for option in options)
    words = tuple(map(_words_pattern, plain))
    return _Choices(labels, words, plain, token)


def _words_pattern(folded: str) -> re.Pattern[str] | None:
    """Return what finds the words of an option, whatever stands between them."""
    between = r"\W+".join(map(re.escape, folded.split()))
    return re.compile(rf"(?<!\w){between}(?!\w)", re.IGNORECASE) if between else None


def _plain(text: str) -> str:
    """Blank out markup and thoughts, letter for letter, so that every place stays where it is."""
    text = _THOUGHT.sub(lambda match: " " * len(match[0]), text)
    text = re.sub(r"<answer>", "answer: ", text, flags=re.IGNORECASE)
    text = re.sub(r"</answer>", "\n        ", text, flags=re.IGNORECASE)
    text = text.replace("\\boxed{", "answer:")
    return _MARKUP.sub(lambda match: " " * len(match[0]), text)


def _folded(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))


class _Reader:
    def __init__(self, plain: str, raw: str, choices: _Choices, inverted: bool) -> None:
        self.plain, self.raw, self.choices, self.inverted = plain, raw, choices, inverted
        self.listed = len({match[1].upper() for match in _LISTED.finditer(plain)}) > 1

    def read(self) -> ReadChoice | None:
        if self.raw.lstrip("` \n\r\tjsonJSON").startswith("{"):
            return self._one(list(self._fields()))
        whole = self._whole(0, len(self.plain))
        if whole:
            return self._one([whole])
        claims = sorted(self._claims(), key=lambda claim: claim.start)
        firm = [claim for claim in claims if claim.firm]
        if claims:
            return self._one(firm or claims)
        return None if self.inverted else self._mentioned()

    def _one(self, claims: Sequence[_Claim]) -> ReadChoice | None:
        """Take the option that all claims agree on, or the last where the text changes its mind."""
        if not claims:
            return None
        last = claims[-1]
        if len({claim.option for claim in claims}) > 1:
            between = self.plain[: last.start]
            if not last.final and not _CHANGED_MIND.search(between):
                return None
        if last.option is None:
            return None
        return ReadChoice(last.option, last.method, last.start, last.end)

    def _fields(self) -> Iterator[_Claim]:
        for match in _FIELD.finditer(self.raw):
            found = self._whole(match.start(1), match.end(1))
            option = found.option if found else None
            yield _Claim(option, "field", match.start(1), match.end(1))

    def _whole(self, start: int, end: int) -> _Claim | None:
        """Read a stretch that is nothing but a letter, an option's words, or both."""
        while start < end and not self.plain[start].isalnum() and self.plain[start] not in "([":
            start += 1
        part = self.plain[start:end].rstrip()
        folded = _folded(part)
        if folded and folded in self.choices.plain:
            alike = [n for n, one in enumerate(self.choices.plain) if one == folded]
            return _Claim(alike[0] if len(alike) == 1 else None, "option", start, start + len(part))
        match = self.choices.token.match(part)
        if match:
            rest = _folded(part[match.end() :])
            option = self._numbered(match["label"])
            if not rest and not re.search(r"[/&+?]", part[match.end() :]):
                return _Claim(option, "letter", start, start + len(part))
            if rest in self.choices.plain:
                same = option is not None and self.choices.plain[option] == rest
                return _Claim(option if same else None, "letter", start, start + len(part))
        behind = re.fullmatch(
            r"(.*?)\W*[(\[]\s*(?:option\s+)?(\w{1,2})\s*[)\]]\W*", part, re.I | re.S
        )
        if behind and _folded(behind[1]) in self.choices.plain:
            option = self._numbered(behind[2])
            same = option is not None and self.choices.plain[option] == _folded(behind[1])
            return _Claim(option if same else None, "letter", start, start + len(part))
        return None

    def _numbered(self, label: str) -> int | None:
        labels = self.choices.labels
        return labels.index(label.upper()) if label.upper() in labels else None

    def _claims(self) -> Iterator[_Claim]:
        start = len(self.plain) - len(self.plain.lstrip())
        if not self.listed:
            yield from self._label_at(start, "letter", firm=True)
        yield from self._short_word(start)
        last = re.search(r"\n([^\n]*\S)\s*\Z", self.plain)
        if last and not self.listed:
            found = self._whole(last.start(1), last.end(1))
            if found:
                yield _Claim(found.option, found.method, found.start, found.end, firm=True)
        for match in _NAMED_AS.finditer(self.plain):
            yield from self._stated(match)
        for match in _CHOSEN.finditer(self.plain):
            yield from self._label_at(match.end(), "stated")
        for match in re.finditer(
            r"(?:^|(?<=[\s,(]))(?=[(\[]?\w{1,2}\b)|\boption\s+", self.plain, re.M
        ):
            yield from self._praised_at(match.end())

    def _stated(self, noun: re.Match[str]) -> Iterator[_Claim]:
        """Read "the answer is C", "the finding that is not there is B", "Answer: cardiomegaly"."""
        firm, final = noun["noun"].lower() == "answer", bool(noun["final"])
        start, words = noun.start("rest"), []
        for link in _IS.finditer(self.plain, start, noun.end()):
            between = self.plain[start : link.start()]
            if not self.inverted and re.search(r"\b(?:wrong|incorrect|false)\b", between):
                return
            if found := list(self._label_at(link.end(), "stated", firm=firm, final=final)):
                yield from found
                return
            words = words or [link.end()]
        if firm and words:
            yield from self._words_at(words[0], final=final)

    def _label_at(
        self, at: int, method: str, *, firm: bool = False, final: bool = False
    ) -> Iterator[_Claim]:
        """Read a label that stands at a place and is meant as one."""
        match = self.choices.token.match(self.plain, at)
        if not match or not self._is_label(match):
            return
        start, end = match.start("label"), match.end("label")
        rest = self.plain[match.end() :]
        if _SPURNED.match(rest):
            return
        option = self._numbered(match["label"])
        if several := self._several(rest):
            if re.match(r"\s+(?:are|were)\b", rest[several:]):
                return
            option = None
        elif self._other_words(option, rest):
            option = None
        yield _Claim(option, method, start, end, firm, final)

    def _is_label(self, match: re.Match[str]) -> bool:
        """Whether a letter is a label, and not "a", "I" or the first word of a sentence."""
        rest = self.plain[match.end() :]
        enclosed = bool(match["close"]) or rest.startswith((".", ":"))
        if (match["label"].islower() or match["label"] == "I") and not enclosed and rest.strip():
            return False
        option = self._numbered(match["label"])
        words = None if option is None else self.choices.words[option]
        return bool(_GOES_ON.match(rest) or (words and words.match(rest.lstrip())))

    def _several(self, rest: str) -> int:
        """Say how far another label reaches that follows, else 0: "A or C", "A, C", "B/D"."""
        match = re.match(r"\s*(?:,\s*(?:and|or)?|and|or|/|&|\+)\s*(?:option\s+)?", rest, re.I)
        other = self.choices.token.match(rest, match.end()) if match else None
        return other.end() if other and not other["label"].islower() else 0

    def _other_words(self, option: int | None, rest: str) -> bool:
        """Whether the words right behind a label are those of another option."""
        rest = re.sub(r"^[\s.,:;)\](–—-]+", "", rest)
        for number, words in enumerate(self.choices.words):
            match = words.match(rest) if words and number != option else None
            if match and re.match(r"\s*(?:$|[.,;)\n])", rest[match.end() :]):
                own = self.choices.words[option] if option is not None else None
                return not (own and own.match(rest))
        return False

    def _short_word(self, at: int) -> Iterator[_Claim]:
        """Read "Yes, ..." and "No, ..." where an answer begins."""
        match = re.match(r"(\w+)\s*(?=[.,;:!\n–—-]|$)", self.plain[at : at + 40])
        word = match[1].casefold() if match else ""
        if match and word in _SHORT_WORDS and self.choices.plain.count(word) == 1:
            option = self.choices.plain.index(word)
            yield _Claim(option, "stated", at, at + match.end(1), firm=True)

    def _words_at(self, at: int, *, final: bool) -> Iterator[_Claim]:
        """Read the words of one option in the rest of a sentence: "the answer is a large ..."."""
        short = list(self._short_word(at))
        if short:
            yield from short
            return
        end = re.search(r"[.\n]|\Z", self.plain[at:])
        named = self._named(at, at + (end.start() if end else 0))
        meant = [one for one in named if not one.denied]
        if len({one.option for one in meant}) == 1:
            yield _Claim(meant[0].option, "stated", meant[0].start, meant[0].end, True, final)

    def _praised_at(self, at: int) -> Iterator[_Claim]:
        """Read "B is correct" and, in a list, "B. ... - correct"."""
        match = self.choices.token.match(self.plain, at)
        if not match or (match["label"].islower() and not match["close"]):
            return
        start, end = match.start("label"), match.end("label")
        if re.search(
            r"\b(?:[A-Z]\s*(?:,|and|or|/|&)|if|whether|not|than)\s*(?:option\s+)?\W?$",
            self.plain[max(0, start - 20) : start],
        ):
            return
        rest = self.plain[match.end() : match.end() + 240]
        opens_line = not self.plain[:at].rpartition("\n")[2].replace("option", "").strip()
        if _PRAISED.match(rest) or (opens_line and _TICKED.match(rest)):
            yield _Claim(self._numbered(match["label"]), "stated", start, end)

    def _mentioned(self) -> ReadChoice | None:
        """Read the only option that the text speaks of, if it is nowhere denied or doubted."""
        named = self._named(0, len(self.plain))
        meant = {one.option for one in named if not one.denied}
        if len(meant) != 1 or any(one.denied and one.option in meant for one in named):
            return None
        first = next(one for one in named if not one.denied)
        return ReadChoice(first.option, "mentioned", first.start, first.end)

    def _named(self, start: int, end: int) -> list[_Named]:
        """Find the words of options in a stretch; of words within others only the longer count."""
        found = [
            (match.start(), match.end(), number)
            for number, words in enumerate(self.choices.words)
            if words and self.choices.plain[number] not in _SHORT_WORDS
            for match in words.finditer(self.plain, start, end)
        ]
        return [
            _Named(number, first, last, self._is_denied(first, last, start))
            for first, last, number in found
            if not any(
                other[0] <= first and last <= other[1] and other[1] - other[0] > last - first
                for other in found
            )
        ]

    def _is_denied(self, start: int, end: int, first: int) -> bool:
        """Whether the clause around some words denies them or only thinks them possible."""
        before = self.plain[max(first, start - _CLAUSE_LENGTH) : start]
        after = self.plain[end : end + _CLAUSE_LENGTH]
        cut = [match.end() for match in _CLAUSE.finditer(before)]
        stop = _AFTER.search(after)
        return bool(
            _DENIED_BEFORE.search(before[cut[-1] if cut else 0 :])
            or _DENIED_AFTER.search(after[: stop.end() if stop else None])
        )
