"""A case for a blinded reader: answers under letters, without anything that identifies models.

Pages and components that show a case to a reader receive only this content, so that nothing else
can leak. In a model's texts, names of the set's models are covered, and names of well-known
products and makers, too, because models often mention them.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Final
from weakref import WeakKeyDictionary

import polars as pl

from rexview.analysis.case.case_page import CasePage
from rexview.frames import TableIndex
from rexview.package_data import read_package_table
from rexview.schema import Answer, Case, Report, ReviewSet
from rexview.stats import has_reached_limit
from rexview.words import tr

# Detection of model names in a text, in any spelling.
#
# A text is folded first, character for character, so that offsets stay the same. Letters that look
# alike become one (Cyrillic, Greek, full width, accents). Invisible characters and markup (soft
# hyphens, zero-width characters, stars, tags, the rest of an entity) become one filler. Names are
# then matched with fillers between any two letters.

NameSpan = tuple[int, int]

_FILE: Final = Path(__file__).with_name("model_names.yaml")
_FILL: Final = "\x01"
_MARKUP: Final = frozenset("*~`\\[]\x00")
_BLANKS: Final = frozenset("\u115f\u1160\u3164\uffa0\u2800\u180e\u034f")
"""Invisible letters and signs that Unicode does not count as format characters."""
_LOOKS_LIKE: Final = {
    pair[0]: pair[1]
    for script in (
        "аa вb еe гr һh іi јj кk ӏl мm нh оo рp сc ѕs тt уy хx ԁd ԛq ԝw",  # Cyrillic
        "αa βb εe ηh ιi κk μm νn οo ρp τt υu χx γy ϲc",  # Greek
        "օo սu հh ոn ցg ɡg ıi łl øo đd ǀl",  # Armenian, Latin
    )
    for pair in script.split()
}
_ENTITY: Final = re.compile(r"&(?:#\d{1,7}|#x[0-9a-f]{1,6}|[a-z][a-z0-9]{1,31});?", re.IGNORECASE)
_HIDDEN: Final = re.compile(
    r"</?[a-z][^<>]{0,300}>|<!--.{0,300}?-->|\]\([^()\s]{0,300}\)|(?<=\w)[-\u2010\u2011]\s*\n\s*(?=\w)",
    re.IGNORECASE | re.DOTALL,
)
_PARTS: Final = re.compile(r"[^\W_]+")
_BRACKETS: Final = re.compile(r"\s*[(\[].*?[)\]]\s*")
_BEGIN, _END = r"(?<![^\W_])", r"(?![^\W_])"
_GAP: Final = rf"{_FILL}*(?:(?:[^\w{_FILL}]|_){_FILL}*){{0,3}}"
"""Pattern between the parts of a name."""
_BREAK: Final = rf"{_FILL}*(?:[-._\u00b7\n\r]{_FILL}*)?"
"""Pattern between the letters of a long name."""
_SPACED: Final = rf"[\s{_FILL}._-]{{1,3}}"
"""Pattern between the letters of a name that is spelled letter by letter."""
_LONG: Final = 5
_DIGITS_ALIKE: Final = {"o": "[o0]", "i": "[i1l]", "l": "[l1i]"}
_UNIT: Final = r"(?:mm|cm|ml|m|%|x|×|u/l|iu|days?|weeks?|years?|hours?)\b"
_AMBIGUOUS_NAME: Final = re.compile(r"[tlcs]\d|[a-z]{2}")
"""Names that are also vertebrae or abbreviations: covered only where the text is about a model."""
_TITLE: Final = re.compile(
    r"\b(?:dr|prof|professor|doctor|mr|mrs|ms|miss|sr|jean|st|saint|nurse|patient|madame)\.?\s+$"
)
_OF_A_MODEL: Final = r"answer|response|view|report|output|opinion|assessment|interpretation|reading"
_JOINING_WORDS: Final = re.compile(rf"(?:['’]s)?[\s{_FILL},/&()-]*(?:(?:and|or|vs\.?|versus)\s+)?")


class _Folding(dict[int, str]):
    """A map of characters to their look, for ``str.translate``."""

    def __missing__(self, code: int) -> str:
        folded = self[code] = _fold_character(chr(code))
        return folded


def _fold_character(character: str) -> str:
    if character in _MARKUP or character in _BLANKS:
        return _FILL
    if unicodedata.category(character) in ("Cf", "Mn", "Me"):
        return _FILL
    plain = unicodedata.normalize("NFKD", character).casefold()[:1] or _FILL
    plain = _LOOKS_LIKE.get(plain, plain)
    return "-" if unicodedata.category(plain) == "Pd" else plain


_FOLDING: Final = _Folding()


def fold_text(text: str) -> str:
    """Return a text as it looks, character for character, with the same length."""

    def entity(found: re.Match[str]) -> str:
        meant = html.unescape(found[0])
        return found[0] if meant == found[0] else meant[0] + _FILL * (len(found[0]) - 1)

    if "&" in text:
        text = _ENTITY.sub(entity, text)
    text = _HIDDEN.sub(lambda found: _FILL * len(found[0]), text)
    return text.translate(_FOLDING)


@cache
def _load_known_names() -> dict[str, Any]:
    known: dict[str, Any] = read_package_table(_FILE)
    return known


def _letters_pattern(part: str, *, long: bool) -> str:
    between = _BREAK if long else f"{_FILL}*"
    return between.join(_DIGITS_ALIKE.get(c, c) if long else re.escape(c) for c in part)


def _name_pattern(parts: Sequence[str]) -> str:
    """Return the pattern of a name, given in parts of folded letters and digits."""
    joined = "".join(parts)
    if len(joined) == 2:
        return f"{_FILL}*".join(joined)  # "o 3" is no model name
    written = _GAP.join(_letters_pattern(part, long=len(joined) >= _LONG) for part in parts)
    if len(joined) < 4:
        return written
    return f"(?:{written}|{_SPACED.join(map(re.escape, joined))})"


def _alternatives_pattern(names: Iterable[Sequence[str]]) -> str:
    longest_first = sorted(set(map(tuple, names)), key=lambda one: (-sum(map(len, one)), one))
    return "|".join(_name_pattern(parts) for parts in longest_first) or r"(?!)"


def _name_parts(name: str) -> tuple[str, ...]:
    return tuple(_PARTS.findall(fold_text(name)))


def _version_pattern() -> str:
    """Return the pattern of a version or ending after the name of a model family.

    A number after a space is a version only if it cannot count or measure anything: "Claude 2
    nodules" keeps its 2.
    """
    known, fill = _load_known_names(), f"{_FILL}*"
    endings, joined = "|".join(known["endings"]), "|".join(known["endings"] + known["joined"])
    number = rf"v?\d+(?:\.\d+)*[a-z]{{0,3}}{_END}"
    stop = rf"(?=\s*(?:{endings}){_END}|\s*[,.;:)!?](?!\d)|\s*$)"
    forms = (
        rf"(?:(?<!\d){fill}|{fill}[-_./:]{fill}){number}",
        rf"{fill}[-_/]{fill}(?:{joined}){_END}",
        rf"\s{fill}(?:{endings}){_END}",
        rf"\s{fill}(?:v?\d\.\d+{_END}(?!\s*{_UNIT})|\d+b{_END}|v?\d{_END}{stop})",
    )
    return f"(?:{'|'.join(forms)})"


class NameFinder:
    """A detector of names of one study's models, and of well-known models.

    Parameters
    ----------
    names : iterable of str
        Ids and names of the models; a text may omit parts in brackets.
    plain : collection of str
        Names in lower case that are ordinary words of this study, not found on their own.
    more : iterable of str
        Names that the study adds, always found.
    """

    def __init__(
        self, names: Iterable[str], plain: Collection[str] = (), more: Iterable[str] = ()
    ) -> None:
        known = _load_known_names()
        always = [_name_parts(name) for name in known["always"]]
        careful = [_name_parts(name) for name in known["names"]]
        words = [_name_parts(name) for name in known["words"]]
        own, plain = set[tuple[str, ...]](), set(plain)
        for name in names:
            for form in (name, _BRACKETS.sub(" ", name)):
                own.add(_name_parts(form))
        given = {parts for parts in own if _is_name(parts)} - {(word,) for word in plain}
        added = {parts for name in more if _is_name(parts := _name_parts(name))}
        unsure = {p for p in given if len(p) == 1 and _AMBIGUOUS_NAME.fullmatch(p[0])} - added
        in_study = {part for parts in given for part in parts} - plain
        sure = [p for p in careful if p[0] in in_study and len(p[0]) > 2 and p not in added]
        tail = _version_pattern()
        self._own = _compile_pattern(
            _alternatives_pattern((given | added) - unsure - set(sure)), tail=""
        )
        self._always = _compile_pattern(_alternatives_pattern(always), tail=f"(?:{tail})*")
        self._careful = _compile_pattern(
            _alternatives_pattern([*careful, *unsure]), tail=f"(?:{tail})*"
        )
        self._sure = _compile_pattern(_alternatives_pattern(sure), tail=f"(?:{tail})*")
        self._words = _compile_pattern(_alternatives_pattern(words), tail=f"(?:{tail})+")
        self._plain_words = _compile_pattern(_alternatives_pattern(words), tail="")
        before = "|".join(map(re.escape, known["before"]))
        after = "|".join(map(re.escape, known["after"]))
        self._before = re.compile(rf"{_BEGIN}(?:{before})[\s:,]+(?:(?:an?|the)\s+)?[\W_]*$")
        self._after = re.compile(
            rf"[\s{_FILL}]*(?:{after}){_END}|{_FILL}*:|['’]s\s+(?:{_OF_A_MODEL})\b"
        )

    def spans(self, text: str) -> list[NameSpan]:
        """Return the spans of names in a text, in order and without overlaps."""
        if not text:
            return []
        look = fold_text(text)
        found = [one.span() for pattern in (self._own, self._always, self._words)
                 for one in pattern.finditer(look)]  # fmt: skip
        careful = list(self._careful.finditer(look))
        sure = {one.span() for one in self._sure.finditer(look)}
        found += [
            one.span()
            for one in careful
            if not _is_person(text, look, one.span())
            and (one.span() in sure or self._speaks_of_model(look, one))
        ]
        loose = [one.span() for one in (*careful, *self._plain_words.finditer(look))]
        found += _adjacent_names(look, found, loose)
        return [_include_markup(text, span) for span in _join_overlapping(found)]

    def _speaks_of_model(self, look: str, name: re.Match[str]) -> bool:
        """True if the text around an ambiguous name is about a model."""
        start, end = name.span()
        if name["tail"] or self._after.match(look, end):
            return True
        if self._before.search(look[max(0, start - 40) : start]):
            return True
        line = look[max(0, start - 40) : start].rpartition("\n")[2]
        line += look[end : end + 40].partition("\n")[0]
        return end - start > 2 and not re.search(r"[^\W_]", line)  # alone on its line

    def cover(self, text: str, cover: str) -> str:
        """Return a text with every name replaced."""
        parts, last = [], 0
        for start, end in self.spans(text):
            parts += [text[last:start], cover]
            last = end
        return "".join([*parts, text[last:]])


def _is_name(parts: Sequence[str]) -> bool:
    joined = "".join(parts)
    return len(joined) >= 2 and not joined.isdigit()


def _compile_pattern(forms: str, *, tail: str) -> re.Pattern[str]:
    return re.compile(rf"{_BEGIN}(?:{forms})(?P<tail>{tail}){_END}")


def _is_person(text: str, look: str, span: NameSpan) -> bool:
    """True if a name is a person's: after a title, before a surname, or of a sign or syndrome."""
    start, end = span
    if end - start <= 2:
        return False
    if _TITLE.search(look[max(0, start - 20) : start]):
        return True
    surname = re.match(r"[ \u00a0]([A-Z][a-z]{2,}|[A-Z]\.)", text[end : end + 40])
    if surname and surname[1].lower() not in _load_known_names()["after"]:
        return True
    possessive = re.match(r"['’]s\b", look[end : end + 3])
    return bool(possessive) and not re.match(rf"['’]s\s+(?:{_OF_A_MODEL})", look[end : end + 30])


def _adjacent_names(
    look: str, found: Sequence[NameSpan], loose: Iterable[NameSpan]
) -> list[NameSpan]:
    """Return names directly next to a found one: "OpenAI o3", "GPT-4 and Claude"."""
    known, beside = set(found), list[NameSpan]()
    ordered = sorted({*found, *loose})
    for places in (range(len(ordered)), range(len(ordered) - 1, -1, -1)):
        other: NameSpan | None = None  # the previous one, if it is a name
        for place in places:
            one = ordered[place]
            if one not in known and other is not None and _are_adjacent(look, one, other):
                known.add(one)
                beside.append(one)
            if one in known:
                other = one
    return beside


def _are_adjacent(look: str, one: NameSpan, other: NameSpan) -> bool:
    (_, begin), (end, _) = sorted((one, other))
    return 0 <= end - begin < 12 and _JOINING_WORDS.fullmatch(look, begin, end) is not None


def _join_overlapping(spans: Iterable[NameSpan]) -> list[NameSpan]:
    """Join spans that overlap."""
    joined: list[NameSpan] = []
    for start, end in sorted(set(spans)):
        if joined and start < joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return joined


def _include_markup(text: str, span: NameSpan) -> NameSpan:
    """Extend a span by the markup that closes what the name opened, so that none is left over."""
    start, end = span
    inside = re.findall(r"\*+|`+|~~", text[start:end])
    if len(inside) % 2 and text.startswith(inside[-1], end):
        end += len(inside[-1])
    return start, end


MODEL_NAME_COVER: Final = "[model]"
"""Replacement for a model's name."""
_FINDERS: Final[WeakKeyDictionary[ReviewSet, NameFinder]] = WeakKeyDictionary()
_PLAIN_WORDS: Final[WeakKeyDictionary[TableIndex, frozenset[str]]] = WeakKeyDictionary()


@dataclass(frozen=True)
class BlindedText:
    """A text for a blinded reader, with the mapping of offsets to the source.

    ``names`` has the start and end of each covered name in the source, in order.
    """

    text: str
    names: tuple[tuple[int, int], ...] = ()

    def source(self, start: int, end: int) -> tuple[int, int]:
        """Return the offsets in the source of a part of the text; a name is never cut."""
        pairs = [(shown, source) for source, shown in self._spans()]
        return _map_offset(start, pairs, 0), _map_offset(end, pairs, 1)

    def shown(self, start: int, end: int) -> tuple[int, int]:
        """Return the offsets in the text of a part of the source; a name is never cut."""
        pairs = self._spans()
        return _map_offset(start, pairs, 0), _map_offset(end, pairs, 1)

    def _spans(self) -> list[tuple[_TextSpan, _TextSpan]]:
        """Return each name's span in the source and in the text."""
        shorter, spans = 0, []
        for first, last in self.names:
            begin = first - shorter
            spans.append(((first, last), (begin, begin + len(MODEL_NAME_COVER))))
            shorter = last - begin - len(MODEL_NAME_COVER)
        return spans


_TextSpan = tuple[int, int]


def _map_offset(at: int, pairs: Iterable[tuple[_TextSpan, _TextSpan]], side: int) -> int:
    """Return the offset of ``at`` on the other side; within a name, that end of the name."""
    further = 0
    for here, there in pairs:
        if at <= here[0]:
            break
        if at < here[1]:
            return there[side]
        further = there[1] - here[1]
    return at + further


def cover_text(review_set: ReviewSet, text: str) -> BlindedText:
    """Return a text with the names and ids of the set's models and well-known models covered."""
    names = tuple(get_name_finder(review_set).spans(text))
    return BlindedText(cover_names(review_set, text), names)


def cover_names(review_set: ReviewSet, text: str) -> str:
    """Return only the text of :func:`cover_text`."""
    return get_name_finder(review_set).cover(text, MODEL_NAME_COVER)


def cover_parts(review_set: ReviewSet, text: str, parts: Sequence[tuple[int, int]]) -> list[str]:
    """Return parts of a text (start and end) as :func:`cover_text` shows them.

    A name that starts in one part and ends in another is covered in both.
    """
    names = get_name_finder(review_set).spans(text)
    return [_cover_part(text, start, end, names) for start, end in parts]


def _cover_part(text: str, start: int, end: int, names: Iterable[_TextSpan]) -> str:
    shown = []
    for first, last in names:
        if first < end and last > start:
            shown += [text[start : max(start, first)], MODEL_NAME_COVER]
            start = min(end, last)
    return "".join([*shown, text[start:end]])


def get_name_finder(review_set: ReviewSet) -> NameFinder:
    """Return the name finder of a review set, which is made once."""
    if review_set not in _FINDERS:
        names = [name for model in review_set.models for name in (model.id, model.name)]
        more = review_set.info.protocol.cover_names
        _FINDERS[review_set] = NameFinder(names, find_plain_words(review_set), more)
    return _FINDERS[review_set]


def find_plain_words(review_set: ReviewSet) -> frozenset[str]:
    """Return the one-word names of models that also occur in questions and reports.

    People write questions and reports, so such a word is an ordinary one. All cases are read, once
    for each state of the files.
    """
    if review_set.plain_words is not None:
        return review_set.plain_words
    if review_set.index not in _PLAIN_WORDS:
        _PLAIN_WORDS[review_set.index] = _count_plain_words(review_set)
    return _PLAIN_WORDS[review_set.index]


def _count_plain_words(review_set: ReviewSet) -> frozenset[str]:
    names = {
        part.lower()
        for model in review_set.models
        for name in (model.id, model.name)
        for part in _PARTS.findall(name)
    }
    texts = pl.concat_str(
        [
            pl.col("question"),
            pl.col("report").struct.field("findings"),
            pl.col("report").struct.field("impression"),
            pl.col("context").struct.field("indication"),
        ],
        separator=" ",
        ignore_nulls=True,
    ).str.to_lowercase()
    column = review_set.cases.select(texts.alias("text"))["text"]
    return frozenset(name for name in names if column.str.contains(rf"\b{re.escape(name)}\b").any())


def blind_case(case: Case) -> Case:
    """Return a case without what a scoring reader must not know: report, truth, tags, origin."""
    return replace(
        case,
        report=Report(),
        reference_boxes=(),
        correct=None,
        explanation=None,
        tags={},
        normal=None,
        difficulty=None,
        extra={},
    )


def build_blinded_page(
    review_set: ReviewSet, case_id: str, slots: Mapping[str, str]
) -> CasePage | None:
    """Return a case for a blinded reader: its answers under their letters, in that order.

    ``slots`` has the model of each letter (:func:`.assign_slots`).
    ``Answer.model`` is the letter; there are no scores and no flags. The paths of images are those
    of the files and must not reach the browser. Return None if there is no such case.
    """
    case = review_set.case(case_id)
    if case is None:
        return None
    answers = {answer.model: answer for answer in review_set.answers_of(case_id)}
    shown = tuple(
        _blind_answer(review_set, answers[model], slot)
        for slot, model in slots.items()
        if model in answers
    )
    return CasePage(blind_case(case), shown, (), {}, ())


def _blind_answer(review_set: ReviewSet, answer: Answer, slot: str) -> Answer:
    def cover(text: str | None) -> str | None:
        return None if text is None else cover_names(review_set, text)

    boxes = tuple(replace(box, label=cover(box.label) or "") for box in answer.boxes)
    return Answer(
        case=answer.case,
        model=slot,
        text=cover(answer.text),
        finish_reason="length" if has_reached_limit(answer) else answer.finish_reason,
        boxes=boxes,
        images=answer.images,
        choice=answer.choice,
        choice_read=answer.choice_read,
        explanation=cover(answer.explanation),
        error=tr("The model's service reported an error.")
        if (answer.error or "").strip()
        else None,
    )
