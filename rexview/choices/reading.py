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
from functools import cached_property
from typing import Final

from rexview.choices import cues, yes_no
from rexview.choices.choice import ReadChoice
from rexview.choices.markup import CROSSES, folded, plain
from rexview.choices.names import Name, name_at
from rexview.choices.options import Options, options_of
from rexview.choices.repeated import without_what_was_asked
from rexview.choices.words import SHORT, Words, same

LONGEST: Final = 50_000
"""Characters of a text that is read; none is taken from a longer one."""

_LONGEST_QUESTION: Final = 2_000
_LONGEST_OPTION: Final = 2_000
_LONGEST_LINE: Final = 300
_LOOK_AHEAD: Final = 1_000
_WEAK, _STATED, _FIRM = range(3)
"""How strongly a claim is made; weaker ones count only where there is no stronger."""


@dataclass(frozen=True, slots=True)
class _Claim:
    """What a place in the text says is the answer; ``option`` None: none or several of them."""

    option: int | None
    method: str
    start: int
    end: int
    strength: int = _STATED
    final: bool = False


def read_choice(text: str, options: Sequence[str], question: str = "") -> ReadChoice | None:
    """Read the option that a text chooses; None when none or more than one could be meant.

    ``options`` may carry labels of their own (``"A. ..."``, ``"2) ..."``); without, they are A, B,
    C and so on. A number stands for an option only where the options are numbered.
    """
    if not options or len(text) > LONGEST or not text.strip():
        return None
    return _Reader(text, options_of(tuple(options)), question[:_LONGEST_QUESTION]).read()


class _Reader:
    def __init__(self, text: str, options: Options, question: str) -> None:
        self.plain, self.raw, self.options, self.question = plain(text), text, options, question

    @cached_property
    def inverted(self) -> bool:
        return cues.asks_for_absence(self.question)

    @cached_property
    def words(self) -> Words:
        return Words(self.plain, self.options, self.question)

    @cached_property
    def listed(self) -> bool:
        """Whether the text goes through several options by their labels."""
        found = (match[1].upper() for match in cues.LISTED.finditer(self.plain))
        return len({label for label in found if label in self.options.labels}) > 1

    def read(self) -> ReadChoice | None:
        if self.raw.lstrip("` \n\r\tjsonJSON").startswith("{"):
            return self._one(list(self._fields()))
        whole = self._whole(0, len(self.plain))
        if whole:
            return self._one([whole])
        if match := re.fullmatch(r"\W*#(\d)\W*", self.raw):
            return self._one(
                [_Claim(self.options.counted(int(match[1])), "letter", *match.span(1))]
            )
        left = without_what_was_asked(self.plain, self.question, self.words)
        if left != self.plain:
            self.plain = left
            del self.words
            if whole := self._whole(0, len(left)):
                return self._one([whole])
        claims = sorted(self._claims(), key=lambda claim: claim.start)
        if claims:
            strongest = max(claim.strength for claim in claims)
            chosen = self._one([claim for claim in claims if claim.strength == strongest])
            said = self._yes_or_no() if chosen else None
            return None if chosen and said and said.option != chosen.option else chosen
        return None if self.inverted else self._mentioned() or self._yes_or_no()

    def _yes_or_no(self) -> ReadChoice | None:
        """Read "there is no effusion" where that is asked; not where a claim chooses neither."""
        options = self.options.folded
        if not {"yes", "no"} <= {*options} or self.inverted or cues.UNDECIDED.search(self.plain):
            return None
        if not (found := yes_no.says(self.plain, self.question)):
            return None
        return ReadChoice(options.index("yes" if found[0] else "no"), "mentioned", *found[1:])

    def _one(self, claims: Sequence[_Claim]) -> ReadChoice | None:
        """Take the option that all claims agree on, or the last where the text changes its mind."""
        if not claims:
            return None
        last = claims[-1]
        others = [claim for claim in claims if claim.option != last.option]
        if others:
            between = self.plain[others[-1].end : last.start]
            overruled = last.final and not any(claim.final for claim in others)
            if not (
                overruled
                or cues.CHANGED_MIND.search(between)
                or cues.AT_FIRST.search(self.plain[: last.start])
            ):
                return None
        if last.option is None or cues.UNDECIDED.search(self.plain, last.end):
            return None
        if not self.inverted and last.end - last.start <= 2 and self._gainsaid(last):
            return None
        return ReadChoice(last.option, last.method, last.start, last.end)

    def _gainsaid(self, claim: _Claim) -> bool:
        """Whether what follows a label speaks for one other option and never of its own."""
        named = self.words.between(claim.end, len(self.plain))
        return len(
            {one.option for one in named if not one.denied} - {claim.option}
        ) == 1 and claim.option not in {one.option for one in named}

    def _fields(self) -> Iterator[_Claim]:
        for match in cues.FIELD.finditer(self.raw):
            start, end = match.span(match.lastindex or 0)
            found = self._whole(start, end)
            yield _Claim(found.option if found else None, "field", start, end)
        for match in cues.BESIDE.finditer(self.raw):
            words = folded(match[1])
            if self.options.folded.count(words) == 1:
                yield _Claim(self.options.folded.index(words), "field", *match.span(1))

    def _whole(self, start: int, end: int) -> _Claim | None:
        """Read a stretch that is nothing but a letter, an option's words, or both."""
        while start < end and not self.plain[start].isalnum() and self.plain[start] not in "([":
            start += 1
        part = self.plain[start:end].rstrip()
        if len(part) > _LONGEST_OPTION or part.endswith("?"):
            return None
        words = folded(part)
        if words and words in self.options.folded:
            alike = [n for n, one in enumerate(self.options.folded) if one == words]
            return _Claim(alike[0] if len(alike) == 1 else None, "option", start, start + len(part))
        match = self.options.token.match(part)
        if match:
            rest = folded(part[match.end() :])
            option = self.options.labelled(match["label"])
            if re.fullmatch(r"[\s.,:;!)\]]*", part[match.end() :]):
                return _Claim(option, "letter", start, start + len(part))
            article = re.match(r"A\s+\w", part) and self.options.folded.count(rest) == 1
            if article:
                return _Claim(self.options.folded.index(rest), "option", start, start + len(part))
            if rest in self.options.folded:
                same = option is not None and self.options.folded[option] == rest
                return _Claim(option if same else None, "letter", start, start + len(part))
        behind = re.fullmatch(
            r"(.*?)\W*[(\[]\s*(?:option\s+)?(\w{1,2})\s*[)\]]\W*", part, re.I | re.S
        )
        if behind and folded(behind[1]) in self.options.folded:
            option = self.options.labelled(behind[2])
            same = option is not None and self.options.folded[option] == folded(behind[1])
            return _Claim(option if same else None, "letter", start, start + len(part))
        return None

    def _claims(self) -> Iterator[_Claim]:
        start = len(self.plain) - len(self.plain.lstrip())
        if not self.listed:
            yield from self._label_at(start, "letter", _FIRM, opens=True)
            if surely := cues.SURELY.match(self.plain, start):
                yield from self._label_at(surely.end(), "letter", _FIRM, opens=True)
                yield from self._short_word(surely.end())
        yield from self._short_word(start)
        yield from self._words_in_front(start)
        yield from self._lines(start)
        for match in cues.NAMED_AS.finditer(self.plain):
            yield from self._stated(match)
        for match in cues.CHOSEN.finditer(self.plain):
            if not cues.NOT_CHOSEN.search(self.plain[max(0, match.start() - 8) : match.start()]):
                yield from self._label_at(match.end(), "stated")
                if re.match(
                    r"(?:yes|no|true|false)\b", self.plain[match.end() :][:6], re.IGNORECASE
                ):
                    yield from self._short_word(match.end())
        for match in cues.POINTS.finditer(self.plain):
            if not cues.NOT_POINTED.search(self.plain[max(0, match.start() - 8) : match.start()]):
                yield from self._label_at(match.end(), "stated", _WEAK)
        for match in cues.MAY_BE_PRAISED.finditer(self.plain):
            yield from self._praised_at(match.end())
        yield from self._words_praised()
        enclosed = list(cues.ENCLOSED.finditer(self.plain))
        if len(enclosed) == 1 and not re.search(r"\w", self.plain[enclosed[0].end() :]):
            yield _Claim(
                self.options.labelled(enclosed[0][1]), "stated", *enclosed[0].span(1), _WEAK
            )
        yield from self._concluded()

    def _lines(self, start: int) -> Iterator[_Claim]:
        """Read lines that are nothing but an option, and those of lists that are ticked."""
        end = len(self.plain.rstrip())
        last = self.plain.rfind("\n", 0, end) + 1
        if last <= start:
            return
        at = start
        for line in self.plain[start:end].split("\n"):
            if line.strip() and len(line) <= _LONGEST_LINE:
                whole = None
                ticked = cues.TICKED.search(line) or cues.CROSSED.search(line)
                if not ticked and (not self.listed or (at == last and self._apart(line, at))):
                    whole = self._whole(at, at + len(line))
                if whole:
                    yield _Claim(whole.option, whole.method, whole.start, whole.end, _FIRM)
                elif cues.TICKED.search(line) and not cues.CROSSED.search(line):
                    yield from self._ticked(at, at + len(line))
            at += len(line) + 1

    def _apart(self, line: str, at: int) -> bool:
        """Whether a last line stands apart from the list before it and is not its last entry."""
        return self.plain[:at].endswith("\n\n") and not re.match(r"\s*\w[.:)]", line)

    def _ticked(self, start: int, end: int) -> Iterator[_Claim]:
        """Read the option of a line that says yes to one: "B ✅", "| C | yes |"."""
        if self.inverted and not cues.ONLY_TICK.search(self.plain[start:end]):
            return
        at = start + len(cues.BULLET.match(self.plain[start:end])[0])  # type: ignore[index]
        name = name_at(self.plain, at, self.options)
        if name and not name.lower:
            yield _Claim(name.option, "stated", name.start, name.end)
        elif len(begun := self.words.begin_at(at)) == 1:
            yield _Claim(begun[0].option, "stated", begun[0].start, begun[0].end)

    def _stated(self, noun: re.Match[str]) -> Iterator[_Claim]:
        """Read "the answer is C", "the finding that is not there is B", "Answer: cardiomegaly"."""
        firm, final = noun["noun"].lower().startswith(cues.FIRM_NOUNS), bool(noun["final"])
        strength = _FIRM if firm else _STATED
        start, words = noun.start("rest"), None
        for link in cues.IS.finditer(self.plain, start, noun.end()):
            between = self.plain[start : link.start()]
            if not self.inverted and cues.NOT_THE_ANSWER.search(between):
                return
            if firm and re.fullmatch(r"\s*\W?\w\W?\s*", between):
                return
            if found := list(self._label_at(link.end(), "stated", strength, final=final)):
                yield from found
                return
            words = words or link.end()
        if words and not self.plain[start:words].count("\n"):
            yield from self._words_at(words, final=final) if firm else self._short_word(words)

    def _label_at(
        self,
        at: int,
        method: str,
        strength: int = _STATED,
        *,
        final: bool = False,
        opens: bool = False,
    ) -> Iterator[_Claim]:
        """Read a label that stands at a place and is meant as one; ``opens`` the text."""
        name = name_at(self.plain, at, self.options)
        if not name or not self._is_label(name):
            return
        rest = self.plain[name.behind : name.behind + _LOOK_AHEAD]
        if cues.SPURNED.match(rest) or (opens and cues.SPOKEN_OF.match(rest)):
            return
        option = name.option
        if several := self._several(rest):
            if re.match(r"\s+(?:are|were)\b", rest[several:]):
                return
            option = None
        elif self._other_words(option, name.behind) or self._foreign_words(option, name.behind):
            option = None
        yield _Claim(option, method, name.start, name.end, strength, final)

    def _is_label(self, name: Name) -> bool:
        """Whether a letter is a label, and not "a", "I" or the first word of a sentence."""
        rest = self.plain[name.behind : name.behind + _LOOK_AHEAD]
        label = self.plain[name.start : name.end]
        if not name.bare and len(label) > 2:
            return True
        if (name.lower or (label == "I" and name.bare)) and rest.strip():
            return False
        if cues.GOES_ON.match(rest):
            return True
        if label != "A" and re.match(r"\s*\(", rest):
            return True
        begun = self.words.begin_at(name.behind) if label != "A" or not name.bare else []
        return any(one.option == name.option for one in begun)

    def _several(self, rest: str) -> int:
        """Say how far another label reaches that follows, else 0: "A or C", "A, C", "B/D"."""
        reach = 0
        while match := cues.AND.match(rest, reach):
            other = self.options.token.match(rest, match.end())
            if not other or other["label"].islower() or other["label"] == "I":
                break
            reach = other.end()
        return reach

    def _other_words(self, option: int | None, behind: int) -> bool:
        """Whether the words right behind a label are those of another option."""
        begun = self.words.begin_at(behind)
        if not begun or any(one.option == option for one in begun):
            return False
        if re.search(r"[\n]", self.plain[behind : begun[0].start]):
            return bool(re.match(r"\s*(?:$|[.,;)\n])", self.plain[begun[0].end :][:20]))
        own = self.options.folded[option] if option is not None else ""
        said = folded(self.plain[begun[0].start : begun[0].end + len(own)])
        return not (own and said.startswith(own))

    def _foreign_words(self, option: int | None, behind: int) -> bool:
        """Whether a few words that end the line behind a label have none of its option's."""
        match = cues.NAMES_SOMETHING.match(self.plain, behind)
        if not match or option is None or self.words.begin_at(behind):
            return False
        said, own = folded(match[1]).split(), self.options.folded[option].split()
        initials = "".join(word[0] for word in said), "".join(word[0] for word in own)
        if initials[0] in own or initials[1] in said:
            return False
        return not any(same(one, other) for one in said for other in own)

    def _short_word(self, at: int) -> Iterator[_Claim]:
        """Read "Yes, ..." and "No, ..." where an answer begins."""
        match = re.match(r"(\w+)\s*(?=[.,;:!\n–—-]|$)", self.plain[at : at + 40])
        word = match[1].casefold() if match else ""
        if match and word in SHORT and self.options.folded.count(word) == 1:
            option = self.options.folded.index(word)
            yield _Claim(option, "stated", at, at + match.end(1), _FIRM)

    def _words_in_front(self, at: int) -> Iterator[_Claim]:
        """Read the words of an option that open the text, set apart from the reasons for it."""
        begun = self.words.begin_at(at)
        if (
            len(begun) != 1
            or self.plain[at : at + 1] in CROSSES
            or self.options.folded[begun[0].option] in SHORT
        ):
            return
        one = begun[0]
        behind = self.plain[one.end : one.end + _LOOK_AHEAD]
        if not cues.SET_APART.match(behind) or cues.SPURNED.match(behind):
            return
        if cues.UNSETTLED.match(behind) or self.words.lists_words():
            return
        yield _Claim(one.option, "option", one.start, one.end)

    def _words_at(self, at: int, *, final: bool) -> Iterator[_Claim]:
        """Read the words of one option in the rest of a sentence: "the answer is a large ..."."""
        short = list(self._short_word(at))
        if short:
            yield from short
            return
        end = re.search(r"\.(?!\d)|\n|\Z", self.plain[at : at + _LOOK_AHEAD])
        named = self.words.between(at, at + (end.start() if end else 0))
        meant = [one for one in named if not one.denied]
        if len({one.option for one in meant}) == 1:
            yield _Claim(meant[0].option, "stated", meant[0].start, meant[0].end, _FIRM, final)

    def _praised_at(self, at: int) -> Iterator[_Claim]:
        """Read "B is correct" and "the second one is the best"."""
        name = name_at(self.plain, at, self.options)
        if not name or name.lower:
            return
        if cues.NOT_ALONE.search(self.plain[max(0, name.start - 20) : name.start]):
            return
        rest = self.plain[name.behind : name.behind + _LOOK_AHEAD]
        if cues.PRAISED.match(rest) or (not self.inverted and cues.AFFIRMED.match(rest)):
            yield _Claim(name.option, "stated", name.start, name.end)

    def _words_praised(self) -> Iterator[_Claim]:
        """Read "pneumonia is the best answer" and "pneumonia (B)", not what is denied there."""
        for one in self.words.between(0, len(self.plain)):
            behind = self.plain[one.end : one.end + 100]
            label = re.match(r"\s*[(\[]\s*(?:option\s+)?(\w{1,2})\s*[)\]]", behind)
            praised = cues.PRAISED.match(behind) and not label
            if one.denied or not (praised or label):
                continue
            if label and self.options.labelled(label[1]) != one.option:
                continue
            yield _Claim(one.option, "stated", one.start, one.end, _STATED if praised else _WEAK)

    def _concluded(self) -> Iterator[_Claim]:
        """Read the words of one option behind "so" or "therefore" in the last sentence."""
        end = len(self.plain.rstrip(" \n.!"))
        last = max(self.plain.rfind(". ", 0, end), self.plain.rfind("\n", 0, end)) + 1
        for match in cues.CONCLUDES.finditer(self.plain, last, end):
            meant = {
                one.option: one for one in self.words.between(match.end(), end) if not one.denied
            }
            if len(meant) == 1:
                one = next(iter(meant.values()))
                yield _Claim(one.option, "stated", one.start, one.end)
                return

    def _mentioned(self) -> ReadChoice | None:
        """Read the only option that the text speaks of, if it is nowhere denied or doubted."""
        named = self.words.between(0, len(self.plain))
        meant = {one.option for one in named if not one.denied}
        if len(meant) > 1 or any(one.denied and one.option in meant for one in named):
            return None
        first = next((one for one in named if not one.denied), None)
        found = first or self.words.in_other_order()
        return ReadChoice(found.option, "mentioned", found.start, found.end) if found else None
