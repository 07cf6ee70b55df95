"""Classify the end of a text: complete, cut off, in a loop, empty, or a refusal.

The text alone is examined, for answers whose server recorded no conclusive signal. It needs
positive evidence of a cut (half a word, an open bracket, "consistent with"); a missing full stop is
not enough. The last word is judged in English texts only. Time is linear in the length of the text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal

from rexview.text.language import detect_language
from rexview.text.unfinished_text import ending_words, judge_last_word, open_list, open_sentence

# Refusals and filters' notices in place of an answer.

_CANNOT: Final = (
    r"(?:can(?:no|['’])?t|can not|could not|couldn['’]t|am (?:not able|unable) to|"
    r"['’]m (?:not able|unable) to|won['’]t|will not|must decline to|decline to|not able to|"
    r"unable to|not (?:qualified|trained|designed|permitted|allowed|equipped) to)"
)
_REFUSED_ACT: Final = (
    r"(?:(?:really |directly |currently )?(?:help|assist|comply|comment|fulfil|fulfill|engage|"
    r"continue with|discuss|process|answer|respond|generate|create|diagnose|analy[sz]e|interpret|"
    r"read|view|access|see|look at|examine|evaluate|open|provide|offer|give)\b)"
)
_REFUSED_THING: Final = (
    r"(?:medical|diagnos\w+|interpretations?|analys[ei]s|advice|images?|pictures?|photos?|"
    r"radiographs?|x-?rays?|scans?|requests?|questions?|this|that|these|with|you|content|files?)"
)
_REFUSAL: Final = re.compile(
    rf"\bI(?:\s|['’]m\b|\s+am\b)?[^.!?\n]{{0,40}}?{_CANNOT}\s+{_REFUSED_ACT}"
    rf"[^.!?\n]{{0,60}}?\b{_REFUSED_THING}\b"
    r"|\b(?:response|request|content|answer|output|prompt|image)s? "
    r"(?:was|were|has been|have been|is) "
    r"(?:blocked|filtered|removed|withheld|refused|declined|flagged|stopped)\b"
    r"|\b(?:violat\w+|against|breach\w*) (?:our|the|my|its|openai['’]?s?|usage|safety)[\w ]{0,30}"
    r"(?:polic(?:y|ies)|guidelines?|terms)"
    r"|\bcontent[ _](?:filter(?:ed)?|policy|management policy)\b"
    r"|^\W*(?:blocked|refused|request blocked|content blocked|\[blocked\]|safety)\W*$"
    r"|\bI['’]?m sorry,? but I (?:can['’]?t|cannot)\b",
    re.IGNORECASE,
)
_MAYBE: Final = re.compile(
    rf"{_CANNOT}\s+{_REFUSED_ACT}|sorry|blocked|filter|removed|withheld|refused|declined|flagged"
    r"|stopped|polic|guideline|terms|safety"
)
"""Every lower-case text with a match of :data:`_REFUSAL` contains one of these."""
_HINTS: Final = (
    *("cant", "can't", "cannot", "can not", "could", "able to", "won't", "will not", "decline"),
    *("not qualified", "not trained", "not designed", "not permitted", "not allowed"),
    *("not equipped", "sorry", "blocked", "filter", "removed", "withheld", "refused", "flagged"),
    *("stopped", "polic", "guideline", "terms", "safety"),
)
"""Every ASCII text with a match of :data:`_MAYBE` contains one of these; faster to search for."""
_CONTENT: Final = re.compile(
    r"\b(?:there (?:is|are)|(?:lungs?|heart|mediastinum|silhouette|film|bones?) (?:is|are|"
    r"appears?)|no (?:acute|focal|evidence|pleural|pneumothorax|consolidation|effusion)|"
    r"(?:most|more|less) likely|likely to be|suggest\w*|explanation|impression|findings?:|"
    r"i (?:can )?(?:see|observe|note)|normal|clear|enlarged|consistent with)\b",
    re.IGNORECASE,
)
_REFUSAL_SPAN: Final = 400
"""A refusal comes first; later in a text it is advice, not a refusal to read the image."""
_LONGEST_REFUSAL: Final = 1_200


def find_refusal(body: str) -> tuple[int, int] | None:
    """Find the words of a text that refuse to answer, or report that the answer was blocked.

    Returns
    -------
    tuple of int, or None
        Offsets; None if there are none, or if the text reads the image nevertheless.

    >>> find_refusal("I cannot exclude a small effusion.") is None
    True
    """
    if len(body) > _LONGEST_REFUSAL:
        return None
    opening = body[:_REFUSAL_SPAN]
    if opening.isascii():  # other letters change case differently
        plain = opening.lower()
        if not any(hint in plain for hint in _HINTS) or not _MAYBE.search(plain):
            return None
    match = _REFUSAL.search(opening)
    if match is None:
        return None
    rest = body[: match.start()] + " " + body[match.end() :]
    return None if _CONTENT.search(rest) else match.span()


# Loops at the end of a text: the same passage over and over until the output ran out.

_WINDOW: Final = 3_000
"""Characters of the end that are read; a loop that ran into a limit fills them."""
_PROBE: Final = 24
_LEAST_TIMES: Final = 4
_LEAST_COUNTED: Final = 15
"""Repetitions of a passage whose numbers change: each of twelve ribs may have a line."""
_LEAST_SPAN: Final = 48
"""Minimum length in characters of a loop of words."""
_SIGNS: Final = 24
"""Minimum repetitions of one character for a loop (except those that draw lines)."""
_RULES: Final = frozenset("-_=*~#. \t\r\n|+·•")
_LINE_SIGNS: Final = 400
_SENTENCE: Final = re.compile(r"[.!?;\n]+\s*")
_DIGITS: Final = re.compile(r"\d+(?:st|nd|rd|th)?\b|\d+")
_LEAST_BLANKS: Final = 2
"""Minimum spaces in a sentence that counts as repeated."""
_NEAR_END: Final = 400
_LEAST_SENTENCES: Final = 10
_MOST_DISTINCT: Final = 0.3
_STOPS: Final = re.compile(r"[.!?\n]\s")
_LEAST_CLAUSES: Final = 12
_MOST_DISTINCT_CLAUSES: Final = 0.35


@dataclass(frozen=True)
class TextLoop:
    """The offset where a loop starts, and half a sentence on what repeats."""

    start: int
    reason: str


def find_loop(text: str) -> TextLoop | None:
    """Find a loop at the end of a text.

    Returns
    -------
    TextLoop or None
        None if the text left the loop again, if the passage occurs fewer than four times (fifteen
        if only its numbers change), or for lines drawn with characters.

    >>> find_loop("The lungs are clear. " * 9).reason
    'the same passage is repeated 9 times'
    """
    text = text.rstrip()
    base = max(0, len(text) - _WINDOW)
    tail = text[base:]
    signs = _repeated_sign(tail)
    if signs is not None:
        return TextLoop(base + signs, "one sign is repeated")
    plain = tail.lower()
    alike = _DIGITS.sub("0", plain)
    folds = [(plain, _LEAST_TIMES), (alike, _LEAST_COUNTED)]
    for folded, least in folds if alike != plain else folds[:1]:
        period, span = _periodic_end(folded)
        passage = folded[-period:]
        words = any(char.isalpha() for char in passage)
        if not words:
            least = _LEAST_COUNTED if any(char.isdigit() for char in passage) else _LINE_SIGNS
        if span >= least * period > 0:
            start = base + _back_to(tail, span, len(folded))
            times = _times(text, passage, -(-span // period))
            return TextLoop(start, f"the same passage is repeated {times} times")
    few = _few_sentences(plain) or _few_clauses(plain)
    if few:
        return TextLoop(base + max(0, len(tail) - few), "the same few sentences are repeated")
    return None


def _repeated_sign(tail: str) -> int | None:
    if not tail:
        return None
    last = tail[-1]
    start = len(tail.rstrip(last))
    times = len(tail) - start
    least = _LINE_SIGNS if last in _RULES else _SIGNS
    return start if times >= least else None


def _periodic_end(folded: str) -> tuple[int, int]:
    """Return the period of a loop at the end of a text and its length; 0, 0 for none.

    The last characters are searched for once more before the end, and each distance is a candidate.
    The loop extends back while characters equal those one period later.
    """
    size = len(folded)
    probe = folded[-_PROBE:]
    if size < _LEAST_SPAN or len(probe) < _PROBE:
        return 0, 0
    place = folded.rfind(probe, 0, size - 1)
    if place < 0:
        return 0, 0
    period = size - _PROBE - place
    at = size - 1 - period
    while at >= 0 and folded[at] == folded[at + period]:
        at -= 1
    span = size - 1 - at
    return (period, span) if span >= _LEAST_SPAN else (0, 0)


def _back_to(tail: str, span: int, folded_size: int) -> int:
    """Return where a span of the folded text starts in the text itself, at the start of a word."""
    share = (folded_size - span) / folded_size
    start = int(share * len(tail))
    space = tail.find(" ", start)
    return start if space < 0 or start == 0 else space + 1


def _times(text: str, passage: str, at_least: int) -> int:
    """Count how often the passage of a loop occurs in the whole text."""
    return max(at_least, _DIGITS.sub("0", text).lower().count(passage))


def _few_sentences(folded: str) -> int:
    """Return the length of an end that repeats a few different sentences; 0 if there is none."""
    if _last_is_new(folded):
        return 0
    sentences = [part.strip() for part in _SENTENCE.split(folded)]
    long = [part for part in sentences if part.count(" ") >= _LEAST_BLANKS][-40:]
    if len(long) < _LEAST_SENTENCES or len(set(long)) > _MOST_DISTINCT * len(long):
        return 0
    if long[-1] not in long[:-1] and not any(part.startswith(long[-1]) for part in long[:-1]):
        return 0
    return sum(len(part) + 2 for part in long)


def _few_clauses(folded: str) -> int:
    """Return the length of a last sentence that repeats a few clauses; 0 if it does not."""
    last = _STOPS.split(folded.rstrip(" .!?"))[-1]
    clauses = [part.strip() for part in last.split(",") if part.count(" ") >= _LEAST_BLANKS]
    if len(clauses) < _LEAST_CLAUSES or len(set(clauses)) > _MOST_DISTINCT_CLAUSES * len(clauses):
        return 0
    return len(last) if clauses[-1] in clauses[:-1] else 0


def _last_is_new(folded: str) -> bool:
    """True if the last sentence is new.

    It is searched for in the last characters only, whose first sentence may be incomplete.
    """
    ends = [part.strip() for part in _SENTENCE.split(folded[-_NEAR_END:])[1:]]
    last = next((part for part in reversed(ends) if part.count(" ") >= _LEAST_BLANKS), None)
    return last is not None and folded.find(last) == folded.rfind(last)


# Structures that a text opens and never closes: code fences, JSON, tables, brackets, emphasis.

_FENCE: Final = re.compile(r"^\s{0,3}(`{3,}|~{3,})(.*)$")
_JSON_START: Final = re.compile(r"\s*(?:json\s*)?([{\[])\s*(?:[\"'{\[}\]]|$)", re.IGNORECASE)
_ROW: Final = re.compile(r"^\s*\|")
_DIVIDER: Final = re.compile(r"^\s*\|?(?:\s*:?-{2,}:?\s*\|)*\s*:?-*:?\s*\|?\s*$")
_ROOT: Final = re.compile(r"\s*<([a-zA-Z_][\w-]{0,40})>?")
_HALF_TAG: Final = re.compile(r"</?[a-zA-Z_][\w-]*$|</$")
_LONGEST_TAG: Final = 60
_NESTED: Final = 2
_PARTIAL_TAG: Final = re.compile(r"</?[a-zA-Z][^<>\n]{0,40}$")
_HTML: Final = re.compile(
    r"</?(?:p|br|li|ul|ol|b|i|td|tr|th|div|span|table|strong|em)\b", re.IGNORECASE
)
_NEW_SENTENCE: Final = re.compile(r"[.!?]\s+[A-Z]")
_SMILEY: Final = re.compile(r"[:;=]-?$")
_HALF_OPEN: Final = re.compile(r"[\[(]\s*[\d.]+\s*[,;]\s*[\d.]+\s*[\])]")
_OPEN_QUOTE: Final = re.compile(r"(?:(?<=\s)|^)(?:\"(?=\w)[^\"]*|“[^“”\"]*)(?<![.!?])$")
_OPEN_ITALIC: Final = re.compile(r"(?:(?<=\s)|^)\*(?=[A-Za-z])[^*.!?]*$")
_PARAGRAPH: Final = 4_000


def open_structure(text: str) -> tuple[str, int] | None:
    """Return the structure that a text leaves open.

    Returns
    -------
    tuple of str and int, or None
        Half a sentence on why the text looks cut, and the offset of what was opened.

    >>> open_structure('{"findings": ["left effusion", "no pn')
    ('it ends inside JSON that is not closed', 0)
    """
    return (
        _open_fence(text)
        or _open_json(text)
        or _open_tags(text)
        or _open_table(text)
        or _open_marks(text)
    )


def _open_fence(text: str) -> tuple[str, int] | None:
    opened: tuple[str, int] | None = None
    offset = 0
    for line in text.splitlines(keepends=True):
        match = _FENCE.match(line.rstrip("\r\n"))
        if match:
            fence, rest = match.groups()
            if opened is None:
                opened = (fence, offset)
            elif fence[0] == opened[0][0] and len(fence) >= len(opened[0]) and not rest.strip():
                opened = None
        offset += len(line)
    return None if opened is None else ("it ends inside a block of code", opened[1])


def _open_json(text: str) -> tuple[str, int] | None:
    """Find unclosed JSON at the start of the text; strings and escapes are respected."""
    match = _JSON_START.match(text)
    if match is None:
        return None
    depth = 0
    quotes = "'" if text[match.end() - 1] == "'" else '"'  # single quotes, as Python prints them
    in_string = escaped = False
    for at, char in enumerate(text[match.start(1) :], match.start(1)):
        if in_string:
            if escaped:
                escaped = False
            elif char == "\\":
                escaped = True
            elif char == quotes and not (quotes == "'" and text[at + 1 : at + 2].isalpha()):
                in_string = False
        elif char == quotes:
            in_string = True
        elif char in "{[":
            depth += 1
        elif char in "}]":
            depth -= 1
            if depth == 0:
                return None
    return "it ends inside JSON that is not closed", match.start(1)


def _open_tags(text: str) -> tuple[str, int] | None:
    """Find an unclosed root tag at the start of the text that contains closed ones."""
    root = _ROOT.match(text)
    if root is None:
        return None
    if _HALF_TAG.search(text[-_LONGEST_TAG:]):
        return "it ends inside a tag", text.rfind("<")
    if f"</{root[1]}>" in text or text.count("<") < _NESTED:
        return None
    return "it ends inside a tag that is not closed", root.start(1) - 1


def _open_table(text: str) -> tuple[str, int] | None:
    """Find a table with an unfinished last row, or with a head and no rows."""
    lines = text[-_PARAGRAPH:].split("\n")
    rows: list[str] = []
    for line in reversed(lines):
        if not _ROW.match(line):
            break
        rows.append(line.strip())
    if not rows or (len(rows) == len(lines) and len(text) > _PARAGRAPH):
        return None
    rows.reverse()
    last, place = rows[-1], len(text) - len(lines[-1])
    reason = "it ends in the middle of a table"
    if len(rows) == 2 and _is_divider(last):
        return reason, place
    head = rows[0]
    if not last.endswith("|") and (head.endswith("|") if len(rows) > 1 else last.count("|") > 1):
        return reason, place
    if len(rows) > 1 and _cells(last) < _cells(head) and _is_divider(rows[1]):
        return reason, place
    return None


def _is_divider(row: str) -> bool:
    return "--" in row and bool(_DIVIDER.match(row))


def _cells(row: str) -> int:
    return row.strip().strip("|").replace("\\|", "").count("|") + 1


def _open_marks(text: str) -> tuple[str, int] | None:
    """Find an open bracket, emphasis, backtick or tag in the last paragraph."""
    window = text[-_PARAGRAPH:]
    base = len(text) - len(window)
    start = window.rfind("\n") + 1
    line = window[start:]
    place = base + start
    opened: list[int] = []
    for at, char in enumerate(line):
        if char in "([":
            opened.append(at)
        elif char in ")]" and opened:
            opened.pop()
    if opened and _cut_inside(line, opened[-1]):
        return "it ends inside a bracket that is not closed", place + opened[-1]
    bold = line.rfind("**")
    if line.count("**") % 2 and line[bold + 2 :].strip() and not line[bold + 2].isspace():
        return "it ends inside bold text that is not closed", place + bold
    tag = _PARTIAL_TAG.search(line)
    if tag and tag.start() > 0 and _HTML.match(tag[0]):
        return "it ends inside a tag", place + tag.start()
    if line.count("`") % 2 and "```" not in line:
        return "it ends inside code that is not closed", place + line.rfind("`")
    quoted = _OPEN_QUOTE.search(line) or _OPEN_ITALIC.search(line)
    if quoted:
        return "it ends inside a quotation or a title that is not closed", place + quoted.start()
    return None


def _cut_inside(line: str, at: int) -> bool:
    """True if the content of an open bracket continues at the end of the line.

    False after a full stop or a new sentence (a typing error), and for ``[0, 1)`` or ``:(``.
    """
    inside = line[at:]
    if inside.rstrip().endswith((".", "!", "?")) or _NEW_SENTENCE.search(inside):
        return False
    return not (_SMILEY.search(line[max(0, at - 2) : at]) or _HALF_OPEN.match(inside))


EndingKind = Literal["complete", "truncated_suspected", "repetition", "empty", "blocked"]

_TAIL: Final = 4_000
"""Characters of the end in which the last sentence and word are searched for."""
_SPECIAL: Final = re.compile(
    r"\s*(?:<\|?/?(?:eos|s|im_end|endoftext|eot_id|end_of_turn|end|assistant|pad)\|?>|\[/?INST\])\s*$",
    re.IGNORECASE,
)
"""Words of a chat template that mark the end of an answer."""
_MOST_MARKS: Final = 4
_THOUGHT: Final = re.compile(
    r"<(think|thinking|thought|reasoning|scratchpad)>|◁think▷|<unused94>(?:thought)?", re.IGNORECASE
)
_THOUGHT_END: Final = re.compile(
    r"</(?:think|thinking|thought|reasoning|scratchpad)>|◁/think▷|<unused95>", re.IGNORECASE
)
_CLOSERS: Final = "*_`\"'”’»)]}|>~ \t\r\n"
_FINAL_STOPS: Final = ".!?。！？…।؟"
_RULE: Final = re.compile(r"^\s*([-*_=])(?:\s*\1){2,}\s*$")
_LIST_MARK: Final = re.compile(
    r"^\s*(?:[-*+•–‣◦]|\(?\d{1,3}[.)]|\(?[a-z][.)]|[-*+•]\s*\[[ xX]?\]?)\s*(?:\*\*|__)?\s*$"
)
_ITEM: Final = re.compile(r"^\s*(?:[-*+•–‣◦]|\(?\d{1,3}[.)])\s+(?P<words>\S[^\n]{0,300})$")
_LONG_ITEM: Final = 4
"""Number of words in an item next to which a single adjective looks cut."""
_NO_ITEM: Final = "it ends with the mark of a list item that never came"
_ENDING_SMILEY: Final = re.compile(r"[:;]-?[)(D]$")
_ADDRESS: Final = re.compile(r"(?:https?://|www\.)\S{8,}$")
_EMPTY_PAIR: Final = re.compile(r"\[\]|\(\)|\{\}|<>")
_TIME: Final = re.compile(r"^\W*\d{1,3}:$")
_BARE_NUMBER: Final = re.compile(
    r"(?<!ratio )(?<!angle )(?<!index )(?<!score )\b(?:measur(?:es|ing|ed)|approximately|about"
    r"|(?:order|size|diameter|width|thickness|distance|depth) of|(?:CT|follow-?up) (?:at|in)"
    r"|(?:films?|radiographs?|x-?rays?|imaging) in)\s+(?:~\s*)?[1-9]\d{0,2}(?:\.\d+)?"
    r"(?:\s*[–x×-]\s*\d+(?:\.\d+)?)*$",
    re.IGNORECASE,
)
_HALF_COMMAND: Final = re.compile(r"\\[a-z]*$|\w\s*[<>]$")
"""The start of a formula, or a comparison with nothing."""
_DECIMAL: Final = re.compile(
    r"(?<![\d.,])0\.$|\b(?:about|approximately|around|roughly|measures|measuring)\s+\d{1,2}\.$"
)
_ABBREVIATED: Final = re.compile(r"\b(?:e\.g|i\.e|vs|cf|approx|Dr)\.$")
_LISTED: Final = 3
"""Number of semicolons on a line from which they end the items of a list."""
_INLINE_MARK: Final = re.compile(
    r"(?<!\bref)(?<!\brefs)(?<!\bfig)(?<!\bno)(?<!\bvol)(?<!\bca)(?<!\bapprox)(?<=[a-z)])"
    r"[.;]\s+\d{1,2}\.?$",
    re.IGNORECASE,
)
_INLINE_LETTER: Final = re.compile(r"[,;]\s*(?:and\s+|or\s+)?\(?[b-h2-9]\)$")
"""The mark of an item in a sentence: "(a) tuberculosis, (b)"."""
_LAST_WORD: Final = re.compile(r"[^\W\d_]+(?:['’./-][^\W\d_]+)*\.?$")
_LONGEST_WORD: Final = 80


@dataclass(frozen=True)
class TextEnding:
    """The kind of a text's end, the reason, and the offsets of the evidence in the text."""

    kind: EndingKind
    reason: str = ""
    start: int = 0
    end: int = 0


def text_ending(text: str | None) -> TextEnding:
    """Classify the end of a text from the text alone.

    Returns
    -------
    TextEnding
        ``empty``: no text. ``blocked``: a refusal or a filter's notice in place of an answer.
        ``repetition``: the end is a loop. ``truncated_suspected``: the end looks cut. ``complete``:
        none of these. ``reason`` is half a sentence, empty for ``complete``.

    Examples
    --------
    >>> text_ending("There is a moderate right pleural eff").kind
    'truncated_suspected'
    >>> text_ending("Heart size normal. No acute osseous abnormality").kind
    'complete'
    """
    whole = text or ""
    start, end = _readable_part(whole)
    if start is None:
        return TextEnding("truncated_suspected", "the reasoning never ends", max(0, end - 80), end)
    body = whole[start:end]
    if not any(map(str.isalnum, body)):
        loop = find_loop(body)
        if loop:
            return TextEnding("repetition", "one sign is repeated", start + loop.start, end)
        return TextEnding("empty", "there is nothing to read", start, end)
    loop = find_loop(body)
    if loop:
        return TextEnding("repetition", loop.reason, start + loop.start, end)
    blocked = find_refusal(body)
    ended = end < len(whole.rstrip())  # the template's own end mark follows
    cut = None if ended else _cut(body)
    if blocked and (cut is None or blocked[1] >= len(body.rstrip())):
        return TextEnding("blocked", "it is a refusal", start + blocked[0], start + blocked[1])
    if cut is None:
        return TextEnding("complete")
    reason, place = cut
    return TextEnding("truncated_suspected", reason, start + place, end)


def _readable_part(text: str) -> tuple[int | None, int]:
    """Return where the answer itself starts and ends; no start if the reasoning never ended."""
    end = len(text.rstrip())
    for _ in range(_MOST_MARKS):
        end_mark = _SPECIAL.search(text, max(0, end - _LONGEST_WORD), end)
        if end_mark is None:
            break
        end = len(text[: end_mark.start()].rstrip())
    opened = _THOUGHT.match(text, len(text) - len(text.lstrip()))
    if not opened:
        return 0, end
    closed = _last_match(_THOUGHT_END, text, end)
    return (closed, end) if closed is not None else (None, end)


def _last_match(pattern: re.Pattern[str], text: str, end: int) -> int | None:
    found = None
    for match in pattern.finditer(text, 0, end):
        found = match.end()
    return found


def _cut(body: str) -> tuple[str, int] | None:
    """Return why a text looks cut, and where; None if it does not."""
    opened = open_structure(body)
    if opened:
        return opened
    base = max(0, len(body) - _TAIL)
    tail = body[base:]
    line_start = tail.rfind("\n") + 1
    line = tail[line_start:]
    place = base + line_start
    if _RULE.match(line):
        return None
    if _LIST_MARK.match(line) and (place > 0 or len(line.strip()) > 1):
        return _NO_ITEM, place
    listed = open_list(body)
    if listed:
        return listed
    core = line.rstrip(_CLOSERS)
    if not core:
        return None
    last = core[-1]
    if last in _FINAL_STOPS:
        return _after_stop(core, place)
    if line.rstrip()[-1] == "|":
        return None
    return _without_stop(tail, line, core, place)


def _after_stop(core: str, place: int) -> tuple[str, int] | None:
    """Judge a text that ends with a full stop; a decimal point or "e.g." is not one."""
    if _DECIMAL.search(core):
        return "it ends in the middle of a number", place
    if _ends_in_digit(core) and _ends_in_mark(core):
        return _NO_ITEM, place
    if _ABBREVIATED.search(core):
        return "it ends with a word that something has to follow", place
    return None


def _without_stop(tail: str, line: str, core: str, place: int) -> tuple[str, int] | None:
    last, ending = core[-1], line.rstrip()
    if (
        _ENDING_SMILEY.search(ending)
        or _ADDRESS.search(core)
        or _EMPTY_PAIR.match(line, len(core) - 1)
    ):
        return None
    if ending[-1] in "({[<" or last in ",(/&+=<[{":
        return f"it ends with “{ending[-1] if ending[-1] in '({[<' else last}”", place
    if last == ";" and core.count(";") < _LISTED and not _closed_with_semicolons(tail):
        return "it ends with “;”", place
    if _INLINE_LETTER.search(ending):
        return _NO_ITEM, place
    if last == ":" and not _TIME.search(core):
        return "it ends with a colon and nothing after it", place
    if last in "-–—" and len(core) > 1 and core[-2].isalnum():
        return "it ends with a dash", place
    if _ends_in_digit(ending) and _ends_in_mark(ending):
        return _NO_ITEM, place
    if _half_item(tail, line):
        return "it ends in the middle of a list item", place
    if _HALF_COMMAND.search(ending) and "<" not in ending[:-1]:
        return "it ends in the middle of a formula", place
    if ending[-1] in '`"”»)]}>':
        return None
    if _BARE_NUMBER.search(core[-_LONGEST_WORD:]):
        return "it ends with a number that lacks its unit", place
    match = _LAST_WORD.search(core[-_LONGEST_WORD:])
    if match is None:
        return _open_sentence(tail, line, place)
    word = max(0, len(core) - _LONGEST_WORD) + match.start()
    return judge_last_word(tail, core, word, place) or _open_sentence(tail, line, place)


def _closed_with_semicolons(tail: str) -> bool:
    """True if the lines before the last one also end with a semicolon."""
    above = [line.rstrip() for line in tail.splitlines()[:-1] if line.strip()]
    listed = len(above) > 1 and all(line.endswith(";") for line in above[-2:])
    return listed or any(line.count(";") > 1 for line in above[-2:])


def _open_sentence(tail: str, line: str, place: int) -> tuple[str, int] | None:
    """Compare a last sentence without a full stop with the sentences before it; English only."""
    start = None if detect_language(tail) else open_sentence(tail, line)
    if start is None:
        return None
    return "it ends before the verb of a sentence", place + start


def _half_item(tail: str, line: str) -> bool:
    """True if a list ends with a single adjective after items of several words each."""
    item = _ITEM.match(line)
    words = item["words"].split() if item else []
    if len(words) != 1 or words[0].lower() not in ending_words()["adjectives"]:
        return False
    before = [found["words"].split() for found in map(_ITEM.match, tail.splitlines()[:-1]) if found]
    return len(before) > 1 and all(len(one) >= _LONG_ITEM for one in before[-2:])


def _ends_in_mark(line: str) -> bool:
    """True if a line ends with a number that opens an item: "... of air. 2."."""
    stop = max(line.rfind(sign, 0, -1) for sign in ".;")
    return stop >= 0 and _INLINE_MARK.match(line, stop) is not None


def _ends_in_digit(text: str) -> bool:
    return any(char.isdigit() for char in text[-3:])
