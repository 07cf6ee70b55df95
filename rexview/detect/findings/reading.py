"""Reading a text from end to end."""

from __future__ import annotations

import re
from bisect import bisect_left
from functools import lru_cache
from operator import attrgetter
from typing import Final

from rexview.detect.findings.clauses import Draft
from rexview.detect.findings.discourse import Context, read_sentence
from rexview.detect.findings.mention import Mention
from rexview.detect.findings.sentence_alone import forget_sentences
from rexview.detect.findings.sentences import sentences
from rexview.detect.findings.structured.parts import find_structured_parts
from rexview.detect.findings.structured.records import read_record
from rexview.detect.findings.tokens import Tokens

LONGEST: Final = 100_000
"""Characters of a text that are read; far more than a report or an answer has."""
_REMEMBERED: Final = 20_000
"""Characters of the longest text whose reading is kept: a report is met once for each model."""
_LAST_SENTENCE: Final = 1_000
"""Characters before the bound among which the end of a sentence is looked for."""
_START: Final = attrgetter("start")
_THOUGHTS: Final = re.compile(r"</(?:think|thinking|reasoning|scratchpad)>", re.IGNORECASE)


def find_mentions(text: str | None) -> tuple[Mention, ...]:
    """Find every mention of a finding or device.

    Parameters
    ----------
    text : str or None
        A report or an answer: prose, markdown, tables, JSON; English. Any other text is read
        without harm and gives what English words it has. Of a text longer than :data:`LONGEST`
        that many characters are read and nothing is said of the rest; where a model's thoughts
        end within it, the reading starts behind them.

    Returns
    -------
    tuple of Mention
        In order of place. A finding that one phrase gives two sides ("left lower and right upper
        lobe opacity") stands there once for each.

    Examples
    --------
    >>> mention, = find_mentions("Opacity. It lies in the left base.")
    >>> mention.finding, mention.side
    ('opacity', 'left')
    """
    if not text or not isinstance(text, str):
        return ()
    if len(text) > LONGEST:
        text = _bounded(text)
    return _remembered(text) if len(text) <= _REMEMBERED else _read(text)


def _bounded(text: str) -> str:
    """Return what is read of a text that is too long, with the same offsets."""
    start = max((match.end() for match in _THOUGHTS.finditer(text)), default=0)
    if not text[start : start + LONGEST].strip():
        start = 0
    stop = start + LONGEST
    if stop < len(text):
        near = stop - _LAST_SENTENCE
        last = max(text.rfind("\n", near, stop), text.rfind(". ", near, stop))
        stop = last + 1 if last >= 0 else stop
    return " " * start + text[start:stop]


@lru_cache(maxsize=256)
def _remembered(text: str) -> tuple[Mention, ...]:
    return _read(text)


def forget() -> None:
    """Forget all texts and sentences that were read, so that reading them again can be measured."""
    _remembered.cache_clear()
    forget_sentences()


def _read(text: str) -> tuple[Mention, ...]:
    tokens = Tokens(text)
    context = Context()
    place = 0
    for part in find_structured_parts(text):
        start, end = (bisect_left(tokens.starts, at) for at in part.span)
        _read_prose(tokens, place, start, context)
        for record in part.records:
            context.drafts += read_record(tokens, record)
        place = end
    _read_prose(tokens, place, len(tokens.words), context)
    _set_thoughts_aside(text, context.drafts)
    mentions = [mention for draft in context.drafts for mention in draft.mentions()]
    return tuple(sorted(mentions, key=_START))


def _read_prose(tokens: Tokens, start: int, end: int, context: Context) -> None:
    for sentence in sentences(tokens, start, end):
        context.drafts += read_sentence(tokens, sentence, context)


def _set_thoughts_aside(text: str, drafts: list[Draft]) -> None:
    """Let what a model wrote while thinking give way to the answer that follows."""
    end = max((match.end() for match in _THOUGHTS.finditer(text)), default=0)
    if end and text[end:].strip():
        for draft in drafts:
            draft.superseded = draft.superseded or draft.end <= end
