"""Read the option that a free text chooses, with the method and the offsets of its words.

Models answer a multiple-choice question with a letter, a sentence, an option's words, JSON or long
reasoning. Only explicit choices are read. Nothing is read if more than one option could be meant,
if a letter and the words next to it belong to different options, or if an option is only denied or
thought possible. A wrong reading would count for or against a model, while a missing one is counted
as missing. Only English is read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Final

from rexview.schema import ChoiceReading
from rexview.text.choices import answer_cues
from rexview.text.choices.answer_cues import CROSSES, fold_words, strip_markup
from rexview.text.choices.implied_choice import read_implied_choice, read_yes_or_no
from rexview.text.choices.option_words import (
    SHORT,
    OptionMention,
    Options,
    OptionSearch,
    have_same_stem,
    parse_options,
)

_SHORTEST_QUESTION = 10
_MARKED = re.compile(r"[✓✔✅☑✗✘❌☒→]")
_GOES_ON = re.compile(r"[^\S\n]*(?:[^\W_]|[✓✔✅☑✗✘❌☒:→]|[–—-]\s)")
"""After a list that continues: the text discusses its last option."""


def blank_next_question(text: str, question: str) -> str:
    """Blank the invented question with which a model continues after its answer, and the rest."""
    for match in answer_cues.NEXT_QUESTION.finditer(text):
        answered = text[: match.start()].rstrip()
        asked = match["asked"].strip()
        if answered and asked and asked.casefold() not in question.casefold():
            return _blanked(text, text.index("\n", len(answered)), len(text))
    return text


def blank_question(text: str, question: str, words: OptionSearch) -> str:
    """Blank the question where a text repeats it, and the first list of all its options.

    A list that comments on an option, if only by a tick, is no repetition.
    """
    question = question.strip()
    at = text.find(question) if len(question) > _SHORTEST_QUESTION else -1
    if at >= 0:
        text = _blanked(text, at, at + len(question))
    named, size = words.everywhere(), len(words.options.folded)
    for first in range(len(named) - size + 1 if size > 1 else 0):
        if named[first].option != 0:
            continue
        run = named[first : first + size]
        start = _list_start(text, run, words.options.labels)
        if start is not None:
            return _blanked(text, start, run[-1].end)
    return text


def _list_start(text: str, run: list[OptionMention], labels: tuple[str, ...]) -> int | None:
    """Return where a list with these words as its entries starts; None if it is no plain list."""
    if [one.option for one in run] != list(range(len(run))) or _GOES_ON.match(text, run[-1].end):
        return None
    for label, (before, after) in zip(labels[1:], pairwise(run), strict=False):
        gap = text[before.end : after.start]
        between = rf"[\s,;.|)]{{0,9}}(?:or|and)?[^\w]{{0,9}}{label}\W{{1,4}}"
        if len(gap) > 30 or _MARKED.search(gap) or not re.fullmatch(between, gap, re.IGNORECASE):
            return None
    before_first = max(0, run[0].start - 8)
    match = re.search(
        rf"[(\[]?\b{labels[0]}\W{{1,4}}\Z", text[before_first : run[0].start], re.IGNORECASE
    )
    return before_first + match.start() if match else None


def _blanked(text: str, start: int, end: int) -> str:
    return text[:start] + " " * (end - start) + text[end:]


_GIVEN: Final = re.compile(
    r"(?<![A-Za-z0-9])(?:P\s*)?\(?([A-Z])\)?[\s\"'|:=–*-]{1,9}(\d{1,3}(?:\.\d+)?|\.\d+)\s*(%?)(?![\w.])"
)
_OF_THE_OPPOSITE: Final = re.compile(
    r"\b(?:not|no|wrong|error|incorrect|false|un-?like\w+|exclu\w+)\b", re.IGNORECASE
)
_MOST_WORDS: Final = 2
"""Maximum number of other words, such as the head of a table."""
_AT_LEAST: Final = 0.5
_TIMES_THE_NEXT: Final = 2


def find_most_probable(text: str, options: Options) -> tuple[int, int, int] | None:
    """Return the option with a probability of at least one half, and its offsets.

    It must be twice as probable as the next, and every option must have one probability.
    """
    given = list(_GIVEN.finditer(text))
    labels = [match[1] for match in given]
    if len(labels) < 2 or sorted(labels) != sorted(options.labels):
        return None
    beside = re.findall(r"[A-Za-z]{2,}", _GIVEN.sub(" ", text))
    shares = [float(match[2]) / (100 if match[3] else 1) for match in given]
    if len(beside) > _MOST_WORDS or _OF_THE_OPPOSITE.search(text) or not 0.9 <= sum(shares) <= 1.1:
        return None
    first, second, *_ = sorted(shares, reverse=True)
    if first < _AT_LEAST or first < _TIMES_THE_NEXT * second:
        return None
    found = given[shares.index(first)]
    return options.labels.index(found[1]), *found.span(1)


@dataclass(frozen=True, slots=True)
class OptionLabel:
    """A label or a list position from ``start`` to ``end`` of a text, with brackets to ``behind``.

    ``option`` is None if no option has that name. ``bare``: without bracket, dot or colon.
    ``lower``: bare and in lower case, which is rarely meant as a label.
    """

    option: int | None
    start: int
    end: int
    behind: int
    bare: bool
    lower: bool


def read_label_at(text: str, at: int, options: Options) -> OptionLabel | None:
    """Return the label or list position at an offset of the text."""
    match = options.token.match(text, at)
    if match:
        bare = not match["close"] and not text.startswith((".", ":"), match.end())
        lower = bare and match["label"].islower()
        option = options.labelled(match["label"])
        return OptionLabel(option, *match.span("label"), match.end(), bare, lower)
    match = answer_cues.IN_PLACE.match(text, at)
    if not match:
        return None
    word = (match["place"] or match["count"]).casefold()
    if any(word in words.split() for words in options.folded):
        return None
    number = next((n for n, one in enumerate(answer_cues.PLACES, 1) if word in one.split()), 0)
    if word == "last":
        number = len(options.folded)
    elif word.isdecimal():
        number = int(word)
    return OptionLabel(options.counted(number), *match.span(), match.end(), False, False)


_LONGEST_OPTION: Final = 2_000
WEAK, STATED, FIRM = range(3)
"""Strengths of a claim; weaker claims count only if there is no stronger one."""


@dataclass(frozen=True, slots=True)
class ChoiceClaim:
    """An answer given at one place of the text; ``option`` None: none or several of them."""

    option: int | None
    method: str
    start: int
    end: int
    strength: int = STATED
    final: bool = False


def read_whole(text: str, start: int, end: int, options: Options) -> ChoiceClaim | None:
    """Read a stretch that is only a letter, an option's words, or both."""
    while start < end and not text[start].isalnum() and text[start] not in "([":
        start += 1
    part = text[start:end].rstrip()
    if len(part) > _LONGEST_OPTION or part.endswith("?"):
        return None
    words = fold_words(part)
    if words and words in options.folded:
        alike = [n for n, one in enumerate(options.folded) if one == words]
        return ChoiceClaim(
            alike[0] if len(alike) == 1 else None, "option", start, start + len(part)
        )
    match = options.token.match(part)
    if match:
        rest = fold_words(part[match.end() :])
        option = options.labelled(match["label"])
        if re.fullmatch(r"[\s.,:;!)\]]*", part[match.end() :]):
            return ChoiceClaim(option, "letter", start, start + len(part))
        article = re.match(r"A\s+\w", part) and options.folded.count(rest) == 1
        if article:
            return ChoiceClaim(options.folded.index(rest), "option", start, start + len(part))
        if rest in options.folded:
            same = option is not None and options.folded[option] == rest
            return ChoiceClaim(option if same else None, "letter", start, start + len(part))
    behind = re.fullmatch(r"(.*?)\W*[(\[]\s*(?:option\s+)?(\w{1,2})\s*[)\]]\W*", part, re.I | re.S)
    if behind and fold_words(behind[1]) in options.folded:
        option = options.labelled(behind[2])
        same = option is not None and options.folded[option] == fold_words(behind[1])
        return ChoiceClaim(option if same else None, "letter", start, start + len(part))
    return None


LONGEST: Final = 50_000
"""Maximum length in characters; nothing is read from a longer text."""

_LONGEST_QUESTION: Final = 2_000
_LONGEST_LINE: Final = 300
_LOOK_AHEAD: Final = 1_000
_NOT_BUT: Final = re.compile(r"\W*[Nn]ot\W+([A-Z])\W+(?:but\W+)?([A-Z])\W*")
_LAST: Final = 60
"""Characters at the end of a text in which a label may be."""


def read_choice(text: str, options: Sequence[str], question: str = "") -> ChoiceReading | None:
    """Return the option that a text chooses; None if none or more than one could be meant.

    ``options`` may have labels of their own (``"A. ..."``, ``"2) ..."``); otherwise they are A, B,
    C and so on. A number means an option only if the options are numbered.
    """
    if not options or len(text) > LONGEST or not text.strip():
        return None
    reader = _Reader(text, parse_options(tuple(options)), question[:_LONGEST_QUESTION])
    found = reader.read()
    return None if found is not None and reader.is_one_of_two(found) else found


class _Reader:
    def __init__(self, text: str, options: Options, question: str) -> None:
        self.plain, self.raw, self.options, self.question = (
            strip_markup(text),
            text,
            options,
            question,
        )

    @cached_property
    def inverted(self) -> bool:
        return answer_cues.asks_for_absence(self.question)

    @cached_property
    def words(self) -> OptionSearch:
        return OptionSearch(self.plain, self.options, self.question)

    @cached_property
    def listed(self) -> bool:
        """True if the text discusses several options by their labels."""
        found = (match[1].upper() for match in answer_cues.LISTED.finditer(self.plain))
        return len({label for label in found if label in self.options.labels}) > 1

    def read(self) -> ChoiceReading | None:
        is_json = self.raw.lstrip("` \n\r\tjsonJSON").startswith("{")
        if is_json and (fields := list(self._fields())):
            return self._one(fields)
        whole = self._whole(0, len(self.plain))
        if whole:
            return self._one([whole])
        if match := _NOT_BUT.fullmatch(self.plain):  # "Not D. B."
            labels = [one.upper() for one in self.options.labels]
            if match[1].upper() in labels and match[2].upper() in labels and match[1] != match[2]:
                option = labels.index(match[2].upper())
                return self._one([ChoiceClaim(option, "letter", *match.span(2))])
        if probable := find_most_probable(self.plain, self.options):
            return ChoiceReading(probable[0], "probability", *probable[1:])
        if match := re.fullmatch(r"\W*#(\d)\W*", self.raw):
            return self._one(
                [ChoiceClaim(self.options.counted(int(match[1])), "letter", *match.span(1))]
            )
        left = blank_next_question(self.plain, self.question)
        left = blank_question(left, self.question, self.words)
        if left != self.plain:
            self.plain = left
            del self.words
            if whole := self._whole(0, len(left)):
                return self._one([whole])
        claims = sorted(self._claims(), key=lambda claim: claim.start)
        if claims:
            strongest = max(claim.strength for claim in claims)
            chosen = self._one([claim for claim in claims if claim.strength == strongest])
            said = read_yes_or_no(self.plain, self.options, self.question) if chosen else None
            return None if chosen and said and said.option != chosen.option else chosen
        return read_implied_choice(self.plain, self.options, self.question, self.words)

    def is_one_of_two(self, found: ChoiceReading) -> bool:
        """True if another option is named just before: "Severe or Cannot be determined"."""
        before = fold_words(self.plain[: found.start])
        others = (one for place, one in enumerate(self.options.folded) if place != found.option)
        return any(re.search(rf"\b{re.escape(one)}\W+or\W*$", before) for one in others if one)

    def _one(self, claims: Sequence[ChoiceClaim]) -> ChoiceReading | None:
        """Return the option that all claims share, or the last one if the text changes its mind."""
        if not claims:
            return None
        last = claims[-1]
        others = [claim for claim in claims if claim.option != last.option]
        if others:
            between = self.plain[others[-1].end : last.start]
            reasoned = re.search(r"\w+\W+\w+\W+\w", between)
            overruled = last.final and reasoned and not any(claim.final for claim in others)
            if not (
                overruled
                or answer_cues.CHANGED_MIND.search(between)
                or answer_cues.AT_FIRST.search(self.plain[: last.start])
            ):
                return None
        if last.option is None or answer_cues.UNDECIDED.search(self.plain, last.end):
            return None
        if not self.inverted and last.end - last.start <= 2 and self._gainsaid(last):
            return None
        return ChoiceReading(last.option, last.method, last.start, last.end)

    def _gainsaid(self, claim: ChoiceClaim) -> bool:
        """True if the text after a label names one other option and never its own."""
        named = self.words.between(claim.end, len(self.plain))
        return len(
            {one.option for one in named if not one.denied} - {claim.option}
        ) == 1 and claim.option not in {one.option for one in named}

    def _fields(self) -> Iterator[ChoiceClaim]:
        for match in answer_cues.FIELD.finditer(self.raw):
            start, end = match.span(match.lastindex or 0)
            found = self._whole(start, end)
            yield ChoiceClaim(found.option if found else None, "field", start, end)
        for match in answer_cues.REPEATING_FIELD.finditer(self.raw):
            words = fold_words(match[1])
            if self.options.folded.count(words) == 1:
                yield ChoiceClaim(self.options.folded.index(words), "field", *match.span(1))

    def _whole(self, start: int, end: int) -> ChoiceClaim | None:
        return read_whole(self.plain, start, end, self.options)

    def _claims(self) -> Iterator[ChoiceClaim]:
        start = len(self.plain) - len(self.plain.lstrip())
        if not self.listed:
            yield from self._label_at(start, "letter", FIRM, opens=True)
            if surely := answer_cues.SURELY.match(self.plain, start):
                yield from self._label_at(surely.end(), "letter", FIRM, opens=True)
                yield from self._short_word(surely.end())
        yield from self._short_word(start)
        yield from self._words_in_front(start)
        yield from self._lines(start)
        for match in answer_cues.NAMED_AS.finditer(self.plain):
            yield from self._stated(match)
        for match in answer_cues.CHOSEN.finditer(self.plain):
            if not answer_cues.NOT_CHOSEN.search(
                self.plain[max(0, match.start() - 8) : match.start()]
            ):
                yield from self._label_at(match.end(), "stated")
                if re.match(
                    r"(?:yes|no|true|false)\b", self.plain[match.end() :][:6], re.IGNORECASE
                ):
                    yield from self._short_word(match.end())
        for match in answer_cues.POINTS.finditer(self.plain):
            if not answer_cues.NOT_POINTED.search(
                self.plain[max(0, match.start() - 8) : match.start()]
            ):
                yield from self._label_at(match.end(), "stated", WEAK)
        for match in answer_cues.MAY_BE_PRAISED.finditer(self.plain):
            yield from self._praised_at(match.end())
        yield from self._words_praised()
        enclosed = list(answer_cues.ENCLOSED.finditer(self.plain))
        if len(enclosed) == 1 and not re.search(r"\w", self.plain[enclosed[0].end() :]):
            option = self.options.labelled(enclosed[0][1])
            named = self.words.between(0, len(self.plain))
            if self.inverted or not any(one.denied and one.option == option for one in named):
                yield ChoiceClaim(option, "stated", *enclosed[0].span(1), WEAK)
        for cue in (answer_cues.ALONE_AT_END, answer_cues.BEHIND_REASONS):
            behind = cue.search(self.plain, max(0, len(self.plain) - _LAST))
            option = self.options.labelled(behind[1]) if behind else None
            if not behind or option is None:
                continue
            before = self.plain[: behind.start()].strip()
            if before and not answer_cues.RULED_OUT.search(before):
                yield ChoiceClaim(option, "stated", *behind.span(1))
        for cue, strength in ((answer_cues.MOST_LIKELY, WEAK), (answer_cues.THEREFORE_IS, FIRM)):
            for match in () if self.inverted else cue.finditer(self.plain):
                begun = self.words.begin_at(match.end())
                if len(begun) == 1 and begun[0].start == match.end() and self._holds(match):
                    yield ChoiceClaim(
                        begun[0].option, "stated", begun[0].start, begun[0].end, strength
                    )
        yield from self._none_of_them(start)
        yield from self._concluded()

    def _holds(self, cue: re.Match[str]) -> bool:
        """True if the option after a cue is stated outright, and alone."""
        one = self.words.begin_at(cue.end())[0]
        if answer_cues.SPEAKS_OF_OTHERS.search(cue[0]) or answer_cues.OR_ANOTHER.match(
            self.plain, one.end
        ):
            return False
        other = answer_cues.ANOTHER_BEHIND.match(self.plain, one.end)
        if other and any(two.start == other.end() for two in self.words.begin_at(other.end())):
            return False
        said_no = answer_cues.NO_MORE.search(self.plain[max(0, cue.start() - 8) : cue.start()])
        return not said_no and not self.words.is_denied(one, cue.start())

    def _none_of_them(self, start: int) -> Iterator[ChoiceClaim]:
        """Read "none of these" as the one option with that meaning."""
        match = answer_cues.NONE_OF_THEM.match(self.plain, start)
        none = [
            n for n, words in enumerate(self.options.folded) if answer_cues.NONE_OPTION.match(words)
        ]
        if match and len(none) == 1:
            yield ChoiceClaim(none[0], "stated", start, match.end())

    def _lines(self, start: int) -> Iterator[ChoiceClaim]:
        """Read lines that consist of an option, and ticked lines of lists."""
        end = len(self.plain.rstrip())
        last = self.plain.rfind("\n", 0, end) + 1
        if last <= start:
            return
        at = start
        for line in self.plain[start:end].split("\n"):
            if line.strip() and len(line) <= _LONGEST_LINE:
                whole = None
                ticked = answer_cues.TICKED.search(line) or answer_cues.CROSSED.search(line)
                if not ticked and (not self.listed or (at == last and self._apart(line, at))):
                    whole = self._whole(at, at + len(line))
                if whole:
                    yield ChoiceClaim(whole.option, whole.method, whole.start, whole.end, FIRM)
                elif answer_cues.TICKED.search(line) and not answer_cues.CROSSED.search(line):
                    yield from self._ticked(at, at + len(line))
            at += len(line) + 1

    def _apart(self, line: str, at: int) -> bool:
        """True if a last line is separate from the list before it and is not its last entry."""
        return self.plain[:at].endswith("\n\n") and not re.match(r"\s*\w[.:)]", line)

    def _ticked(self, start: int, end: int) -> Iterator[ChoiceClaim]:
        """Read the option of a line that ticks one: "B ✅", "| C | yes |"."""
        if self.inverted and not answer_cues.ONLY_TICK.search(self.plain[start:end]):
            return
        at = start + len(answer_cues.BULLET.match(self.plain[start:end])[0])  # type: ignore[index]
        name = read_label_at(self.plain, at, self.options)
        if name and not name.lower:
            yield ChoiceClaim(name.option, "stated", name.start, name.end)
        elif len(begun := self.words.begin_at(at)) == 1:
            yield ChoiceClaim(begun[0].option, "stated", begun[0].start, begun[0].end)

    def _stated(self, noun: re.Match[str]) -> Iterator[ChoiceClaim]:
        """Read "the answer is C", "the finding that is not there is B", "Answer: cardiomegaly"."""
        before = self.plain[max(0, noun.start() - 40) : noun.start()]
        if not self.inverted and answer_cues.OTHER_ANSWER_BEFORE.search(before):
            return
        word, final = noun["noun"].lower(), bool(noun["final"])
        firm = word.startswith(answer_cues.FIRM_NOUNS)
        how = {"final": final, "in_english": not answer_cues.FOREIGN_NOUNS.match(word)}
        strength = FIRM if firm else STATED
        start, words = noun.start("rest"), None
        for link in answer_cues.COPULA.finditer(self.plain, start, noun.end()):
            between = self.plain[start : link.start()]
            if not self.inverted and answer_cues.NOT_THE_ANSWER.search(between):
                return
            if firm and re.fullmatch(r"\s*\W?\w\W?\s*", between):
                return
            if found := list(self._label_at(link.end(), "stated", strength, **how)):
                yield from found
                return
            words = words or link.end()
        if words and not self.plain[start:words].count("\n"):
            yield from self._words_at(words, final=final) if firm else self._short_word(words)

    def _label_at(
        self,
        at: int,
        method: str,
        strength: int = STATED,
        *,
        final: bool = False,
        opens: bool = False,
        in_english: bool = True,
    ) -> Iterator[ChoiceClaim]:
        """Read a label at an offset if it is meant as one; ``opens``: it is the start of the text.

        ``in_english`` is False if the words after it are in another language.
        """
        name = read_label_at(self.plain, at, self.options)
        if not name or not self._is_label(name):
            return
        rest = self.plain[name.behind : name.behind + _LOOK_AHEAD]
        if answer_cues.REJECTION.match(rest) or (opens and answer_cues.OPTION_SENTENCE.match(rest)):
            return
        option = name.option
        if several := self._several(rest):
            if re.match(r"\s+(?:are|were)\b", rest[several:]):
                return
            option = None
        elif (
            self._other_words(option, name.behind)
            or (in_english and self._foreign_words(option, name.behind))
            or any(
                self._several(self.plain[one.end : one.end + _LOOK_AHEAD])
                for one in self.words.begin_at(name.behind)
                if one.option == option
            )
        ):
            option = None
        yield ChoiceClaim(option, method, name.start, name.end, strength, final)

    def _is_label(self, name: OptionLabel) -> bool:
        """True if a letter is a label, and not "a", "I" or the first word of a sentence."""
        rest = self.plain[name.behind : name.behind + _LOOK_AHEAD]
        label = self.plain[name.start : name.end]
        if not name.bare and (len(label) > 2 or name.behind > name.end):
            return True
        if name.option is None and rest.startswith("("):  # "P(A) = 0.5"
            return False
        if (name.lower or (label == "I" and name.bare)) and rest.strip():
            return False
        if answer_cues.LABEL_FOLLOWER.match(rest):
            return True
        if label != "A" and re.match(r"\s*\(", rest):
            return True
        begun = self.words.begin_at(name.behind) if label != "A" or not name.bare else []
        return any(one.option == name.option for one in begun)

    def _several(self, rest: str) -> int:
        """Return the end of further labels that follow, 0 for none: "A or C", "A, C", "B/D"."""
        reach = 0
        while match := answer_cues.CONJUNCTION.match(rest, reach):
            other = self.options.token.match(rest, match.end())
            if not other or other["label"].islower() or other["label"] == "I":
                break
            reach = other.end()
        return reach

    def _other_words(self, option: int | None, behind: int) -> bool:
        """True if the words right after a label are those of another option."""
        begun = self.words.begin_at(behind)
        if not begun or any(one.option == option for one in begun):
            return False
        if re.search(r"[\n]", self.plain[behind : begun[0].start]):
            return bool(re.match(r"\s*(?:$|[.,;)\n])", self.plain[begun[0].end :][:20]))
        own = self.options.folded[option] if option is not None else ""
        said = fold_words(self.plain[begun[0].start : begun[0].end + len(own)])
        return not (own and said.startswith(own))

    def _foreign_words(self, option: int | None, behind: int) -> bool:
        """True if the few words from a label to the end of the line have none of its option's."""
        match = answer_cues.NAMES_SOMETHING.match(self.plain, behind)
        if not match or option is None or self.words.begin_at(behind):
            return False
        said, own = fold_words(match[1]).split(), self.options.folded[option].split()
        initials = "".join(word[0] for word in said), "".join(word[0] for word in own)
        if initials[0] in own or initials[1] in said:
            return False
        cut_off = not self.plain[match.end() :].strip() and not match[0].rstrip(" ").endswith(".")
        if cut_off and self.options.folded[option].startswith(fold_words(match[1])):
            return False
        return not any(have_same_stem(one, other) for one in said for other in own)

    def _short_word(self, at: int) -> Iterator[ChoiceClaim]:
        """Read "Yes, ..." and "No, ..." at the start of an answer."""
        match = re.match(r"(\w+)\s*(?=[.,;:!\n–—-]|$)", self.plain[at : at + 40])
        word = match[1].casefold() if match else ""
        if match and word in SHORT and self.options.folded.count(word) == 1:
            option = self.options.folded.index(word)
            yield ChoiceClaim(option, "stated", at, at + match.end(1), FIRM)

    def _words_in_front(self, at: int) -> Iterator[ChoiceClaim]:
        """Read the words of an option at the start of the text, separated from its reasons."""
        begun = self.words.begin_at(at)
        if (
            len(begun) != 1
            or self.plain[at : at + 1] in CROSSES
            or self.options.folded[begun[0].option] in SHORT
        ):
            return
        one = begun[0]
        behind = self.plain[one.end : one.end + _LOOK_AHEAD]
        if not answer_cues.SET_APART.match(behind) or answer_cues.REJECTION.match(behind):
            return
        if answer_cues.UNSETTLED.match(behind) or self.words.lists_words():
            return
        yield ChoiceClaim(one.option, "option", one.start, one.end)

    def _words_at(self, at: int, *, final: bool) -> Iterator[ChoiceClaim]:
        """Read the words of one option in the rest of a sentence: "the answer is a large ..."."""
        short = list(self._short_word(at))
        if short:
            yield from short
            return
        end = re.search(r"\.(?!\d)|\n|\Z", self.plain[at : at + _LOOK_AHEAD])
        named = self.words.between(at, at + (end.start() if end else 0))
        meant = [one for one in named if not one.denied]
        if len({one.option for one in meant}) == 1:
            yield ChoiceClaim(meant[0].option, "stated", meant[0].start, meant[0].end, FIRM, final)

    def _praised_at(self, at: int) -> Iterator[ChoiceClaim]:
        """Read "B is correct" and "the second one is the best"."""
        name = read_label_at(self.plain, at, self.options)
        if not name or name.lower:
            return
        if answer_cues.NOT_ALONE.search(self.plain[max(0, name.start - 20) : name.start]):
            return
        rest = self.plain[name.behind : name.behind + _LOOK_AHEAD]
        if answer_cues.PRAISED.match(rest) or (
            not self.inverted and answer_cues.AFFIRMED.match(rest)
        ):
            yield ChoiceClaim(name.option, "stated", name.start, name.end)

    def _words_praised(self) -> Iterator[ChoiceClaim]:
        """Read "pneumonia is the best answer" and "pneumonia (B)", unless denied there."""
        for one in self.words.between(0, len(self.plain)):
            behind = self.plain[one.end : one.end + 100]
            label = answer_cues.LABEL_BEHIND.match(behind)
            praised = answer_cues.PRAISED.match(behind) and not label
            if one.denied or not (praised or label):
                continue
            if label and self.options.labelled(label[1]) != one.option:
                continue
            yield ChoiceClaim(one.option, "stated", one.start, one.end, STATED if praised else WEAK)

    def _concluded(self) -> Iterator[ChoiceClaim]:
        """Read the words of one option after "so" or "therefore" in the last sentence."""
        end = len(self.plain.rstrip(" \n.!"))
        last = max(self.plain.rfind(". ", 0, end), self.plain.rfind("\n", 0, end)) + 1
        for match in answer_cues.CONCLUDES.finditer(self.plain, last, end):
            at = match.end()
            if self.inverted:  # "the finding that is not seen is the pacemaker"
                at = max(
                    (link.end() for link in answer_cues.COPULA.finditer(self.plain, at, end)),
                    default=at,
                )
            meant = {one.option: one for one in self.words.between(at, end) if not one.denied}
            if len(meant) == 1:
                one = next(iter(meant.values()))
                yield ChoiceClaim(one.option, "stated", one.start, one.end)
                return
