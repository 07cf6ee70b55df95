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
from typing import Final, NamedTuple

from rexview.choices.options import Options, folded, options_of, plain

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
"""In a question that asks for what is not there, a choice claims nothing that is."""
_LONGEST_QUESTION: Final = 2_000
_LONGEST_OPTION: Final = 2_000
_NOUN: Final = (
    r"(?:ans(?:wer)?|choice|option|letter|selection|pick|response|statement|diagnosis|finding"
    r"|exception|conclusion)"
)
_BE: Final = (
    r"(?:\b(?:is|was|(?:would|must|should|could|will|has to|seems to|appears to|to) be)\b"
    r"(?:\s*:)?|[:：=–—-])"
)
_AS: Final = r"(?:\s*\b(?:clearly|definitely|most likely|probably|therefore|either|both|indeed)\b)?"
_NAMED_AS: Final = re.compile(
    rf"\b(?P<final>final\s+)?(?P<noun>{_NOUN})\b(?P<rest>[^.;\n]{{0,80}})", re.IGNORECASE
)
_IS: Final = re.compile(rf"{_BE}{_AS}\s*", re.IGNORECASE)
_SURELY: Final = re.compile(r"(?:definitely|probably|likely|most likely|clearly)\W\s*", re.I)
_CHOSEN: Final = re.compile(
    r"\b(?:choose|pick|select|go(?:ing)? with|opt(?:ing)? for|lean(?:ing)? towards?|it is|it.s"
    r"|(?:must|has to) be|makes it|guess|leaves|so|therefore|thus|hence|not \(?[A-Z]\)?,? but)\b"
    r"[,:]?\s+",
    re.IGNORECASE,
)
_PRAISED: Final = re.compile(
    r"\s*(?:\b(?:is|seems|appears|would be)\s+(?:\w+ly\s+)?(?:the\s+)?"
    r"(?:correct|right|best|most|more likely|true|answer|only)\b|\bfits(?:\s+best)?\b)",
    re.IGNORECASE,
)
_TICKED: Final = re.compile(
    r"[^\n]{0,200}?\s(?:[-–—:]\s*(?:correct|yes|true)|[-–—:]?\s*[✓✔✅])\W*$", re.I | re.M
)
_SPURNED: Final = re.compile(
    r"\s*\b(?:is|are|was|seems?|appears?|would be|does|can)\s*(?:n['’ ]t\b|not\b|wrong|incorrect"
    r"|false|unlikely|less|excluded|impossible|implausible)"
    r"|\s*[-–—:]\s*(?:no|not|wrong|incorrect|false)\b",
    re.IGNORECASE,
)
_GOES_ON: Final = re.compile(
    r"\s*(?:$|[.,;:!)\]\n–—/&-]|(?:because|since|as|due|for|based|given|is|seems|would|and|or)\b)",
    re.IGNORECASE,
)
"""What may follow a letter that stands for an option; "A patient" and "I think" do not."""
_AND: Final = re.compile(r"\s*(?:,\s*(?:and|or|nor)?|and|or|nor|/|&|\+)\s*(?:option\s+)?", re.I)
_CHANGED_MIND: Final = re.compile(
    r"\b(?:wait|actually|however|correction|on (?:a )?(?:closer|second|further)|instead|hmm"
    r"|at first|initially|reconsider\w*|i was wrong|my mistake)\b",
    re.IGNORECASE,
)
_DENIED_BEFORE: Final = re.compile(
    r"\b(?:not?|without|nor|neither|never|cannot|excludes?|rules? out|ruled out|absence of"
    r"|negative for|against|rather than|instead of|likely than|unlikely|unlike|if|whether"
    r"|possibl[ey]|maybe|perhaps|may|might|could|either)\b|n['’ ]t\b",
    re.IGNORECASE,
)
_DENIED_AFTER: Final = re.compile(
    r"\b(?:not|unlikely|absent|excluded?|ruled out|cannot|less likely|incorrect|wrong|false"
    r"|likely than|resolved|possible|questionable|missing)\b|n['’ ]t\b|\?",
    re.IGNORECASE,
)
_CLAUSE: Final = re.compile(r"[.;:!?\n]|\b(?:but|however|although|though|yet)\b", re.IGNORECASE)
_AFTER: Final = re.compile(r"[.,;:!?\n]|\b(?:but|however|although|though|yet)\b", re.IGNORECASE)
"""Where a clause ends behind some words: "consolidation, not effusion" denies only the second."""
_CLAUSE_LENGTH: Final = 300
_LOOK_AHEAD: Final = 1_000
_FIELD: Final = re.compile(
    r'"(?:final_?|correct_?|selected_?|predicted_?)?(?:answer|choice|option|letter|prediction)'
    r'(?:_letter)?"\s*:\s*"((?:[^"\\]|\\.){0,500})"'
    r"|'(?:final_)?(?:answer|choice|option)'\s*:\s*'([^'\n]{0,500})'",
    re.IGNORECASE,
)
_LISTED: Final = re.compile(r"^[ \t]*(?:option\s+)?\(?([A-Z]|\d{1,2})\)?\s*[.:)–-]", re.I | re.M)
_SIDES: Final = frozenset(("right", "left"))
"""Options that mean a side only behind "the" or "on": not "you are right", "what is left"."""
_SHORT_WORDS: Final = frozenset(("yes", "no", "true", "false", "none", "normal", "abnormal"))
"""Options that mean themselves only where an answer begins, not anywhere in a sentence."""


@dataclass(frozen=True, slots=True)
class ReadChoice:
    """An option (from 0) that was read from ``text[start:end]`` by one of :data:`METHODS`."""

    option: int
    method: str
    start: int
    end: int


class _Named(NamedTuple):
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
    return _Reader(text, options_of(tuple(options)), asks_for_absence(question)).read()


def asks_for_absence(question: str) -> bool:
    """Say whether the right option of a question may be what is *not* there."""
    return bool(_INVERTED.search(question[:_LONGEST_QUESTION]))


class _Reader:
    def __init__(self, text: str, options: Options, inverted: bool) -> None:
        self.plain, self.raw, self.options, self.inverted = plain(text), text, options, inverted
        self.listed = len({match[1].upper() for match in _LISTED.finditer(self.plain)}) > 1

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
            start, end = match.span(match.lastindex or 0)
            found = self._whole(start, end)
            yield _Claim(found.option if found else None, "field", start, end)

    def _whole(self, start: int, end: int) -> _Claim | None:
        """Read a stretch that is nothing but a letter, an option's words, or both."""
        while start < end and not self.plain[start].isalnum() and self.plain[start] not in "([":
            start += 1
        part = self.plain[start:end].rstrip()
        if len(part) > _LONGEST_OPTION:
            return None
        words = folded(part)
        if words and words in self.options.folded:
            alike = [n for n, one in enumerate(self.options.folded) if one == words]
            return _Claim(alike[0] if len(alike) == 1 else None, "option", start, start + len(part))
        match = self.options.token.match(part)
        if match:
            rest = folded(part[match.end() :])
            option = self._numbered(match["label"])
            if re.fullmatch(r"[\s.,:;!)\]]*", part[match.end() :]):
                return _Claim(option, "letter", start, start + len(part))
            if rest in self.options.folded:
                same = option is not None and self.options.folded[option] == rest
                return _Claim(option if same else None, "letter", start, start + len(part))
        behind = re.fullmatch(
            r"(.*?)\W*[(\[]\s*(?:option\s+)?(\w{1,2})\s*[)\]]\W*", part, re.I | re.S
        )
        if behind and folded(behind[1]) in self.options.folded:
            option = self._numbered(behind[2])
            same = option is not None and self.options.folded[option] == folded(behind[1])
            return _Claim(option if same else None, "letter", start, start + len(part))
        return None

    def _numbered(self, label: str) -> int | None:
        labels = self.options.labels
        return labels.index(label.upper()) if label.upper() in labels else None

    def _claims(self) -> Iterator[_Claim]:
        start = len(self.plain) - len(self.plain.lstrip())
        if not self.listed:
            yield from self._label_at(start, "letter", firm=True)
            if surely := _SURELY.match(self.plain, start):
                yield from self._label_at(surely.end(), "letter", firm=True)
        yield from self._short_word(start)
        end = len(self.plain.rstrip())
        last_line = self.plain.rfind("\n", 0, end) + 1
        if last_line > start and not self.listed:
            found = self._whole(last_line, end)
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
        firm, final = noun["noun"].lower().startswith("ans"), bool(noun["final"])
        start, words = noun.start("rest"), None
        for link in _IS.finditer(self.plain, start, noun.end()):
            between = self.plain[start : link.start()]
            if not self.inverted and re.search(r"\b(?:wrong|incorrect|false)\b", between):
                return
            if found := list(self._label_at(link.end(), "stated", firm=firm, final=final)):
                yield from found
                return
            words = words or link.end()
        if words:
            yield from self._words_at(words, final=final) if firm else self._short_word(words)

    def _label_at(
        self, at: int, method: str, *, firm: bool = False, final: bool = False
    ) -> Iterator[_Claim]:
        """Read a label that stands at a place and is meant as one."""
        match = self.options.token.match(self.plain, at)
        if not match or not self._is_label(match):
            return
        start, end = match.start("label"), match.end("label")
        rest = self.plain[match.end() : match.end() + _LOOK_AHEAD]
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
        rest = self.plain[match.end() : match.end() + _LOOK_AHEAD]
        enclosed = bool(match["close"]) or rest.startswith((".", ":"))
        if (match["label"].islower() or match["label"] == "I") and not enclosed and rest.strip():
            return False
        option = self._numbered(match["label"])
        words = None if option is None else self.options.words[option]
        return bool(_GOES_ON.match(rest) or (words and words.match(rest.lstrip())))

    def _several(self, rest: str) -> int:
        """Say how far another label reaches that follows, else 0: "A or C", "A, C", "B/D"."""
        reach = 0
        while match := _AND.match(rest, reach):
            other = self.options.token.match(rest, match.end())
            if not other or other["label"].islower():
                break
            reach = other.end()
        return reach

    def _other_words(self, option: int | None, rest: str) -> bool:
        """Whether the words right behind a label are those of another option."""
        rest = re.sub(r"^[\s.,:;)\](–—-]+", "", rest)
        for number, words in enumerate(self.options.words):
            match = words.match(rest) if words and number != option else None
            if match and re.match(r"\s*(?:$|[.,;)\n])", rest[match.end() :]):
                own = self.options.words[option] if option is not None else None
                return not (own and own.match(rest))
        return False

    def _short_word(self, at: int) -> Iterator[_Claim]:
        """Read "Yes, ..." and "No, ..." where an answer begins."""
        match = re.match(r"(\w+)\s*(?=[.,;:!\n–—-]|$)", self.plain[at : at + 40])
        word = match[1].casefold() if match else ""
        if match and word in _SHORT_WORDS and self.options.folded.count(word) == 1:
            option = self.options.folded.index(word)
            yield _Claim(option, "stated", at, at + match.end(1), firm=True)

    def _words_at(self, at: int, *, final: bool) -> Iterator[_Claim]:
        """Read the words of one option in the rest of a sentence: "the answer is a large ..."."""
        short = list(self._short_word(at))
        if short:
            yield from short
            return
        end = re.search(r"[.\n]|\Z", self.plain[at : at + _LOOK_AHEAD])
        named = self._named(at, at + (end.start() if end else 0))
        meant = [one for one in named if not one.denied]
        if len({one.option for one in meant}) == 1:
            yield _Claim(meant[0].option, "stated", meant[0].start, meant[0].end, True, final)

    def _praised_at(self, at: int) -> Iterator[_Claim]:
        """Read "B is correct" and, in a list, "B. ... - correct"."""
        match = self.options.token.match(self.plain, at)
        if not match or (match["label"].islower() and not match["close"]):
            return
        start, end = match.start("label"), match.end("label")
        if re.search(
            r"\b(?:[A-Z]\s*(?:,|and|or|/|&)|if|whether|not|than)\s*(?:option\s+)?\W?$",
            self.plain[max(0, start - 20) : start],
        ):
            return
        rest = self.plain[match.end() : match.end() + _LOOK_AHEAD]
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
        found = sorted(
            (match.start(), -match.end(), number)
            for number, words in enumerate(self.options.words)
            if words and self.options.folded[number] not in _SHORT_WORDS
            for match in words.finditer(self.plain, start, end)
            if self.options.folded[number] not in _SIDES or self._is_place(match.start(), start)
        )
        named: list[_Named] = []
        for first, minus_last, number in found:
            longer = named[-1] if named else None
            if longer and -minus_last <= longer.end and (first, -minus_last) != longer[1:3]:
                continue
            denied = self._is_denied(first, -minus_last, start)
            named.append(_Named(number, first, -minus_last, denied))
        return named

    def _is_place(self, at: int, start: int) -> bool:
        before = self.plain[max(start, at - 10) : at]
        return not before.strip() or bool(re.search(r"\b(?:the|on|in)\s+$", before, re.IGNORECASE))

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
