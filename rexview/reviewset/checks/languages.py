"""Answers and reports in another language than English, which the rules do not read."""

from __future__ import annotations

from collections import Counter
from typing import Final

import polars as pl

from rexview.language import ENGLISH_READ, language_of
from rexview.reviewset.tables.source import TableSource
from rexview.vocab import counted

_AT_MOST: Final = 50_000
"""Different texts that are looked at; of more, evenly so many."""
_ENGLISH: Final = r"(?i)\b(?:the|of|and|there|are|with|this|from)\b"
_SURELY: Final = 6
"""Times that such a word comes in a text that need not be looked at."""
_REMEDY: Final = (
    "Nothing need be done: failures that rest on their words count as not judged, by finish reason "
    "and boxes they are judged all the same."
)


def check_languages(
    cases: pl.DataFrame,
    answers: pl.DataFrame,
    of_cases: TableSource,
    of_answers: TableSource,
) -> None:
    """Warn of answers, and of reports, that the rules do not read, with how many of which language.

    ``answers`` are the newest ones.
    """
    report = pl.col("report").struct
    whole = pl.concat_str(
        report.field("findings"), report.field("impression"), separator="\n", ignore_nulls=True
    )
    _warn(answers["text"], "answer", "text", of_answers)
    _warn(cases.select(text=whole)["text"], "report", "report", of_cases)


def _warn(texts: pl.Series, what: str, field: str, source: TableSource) -> None:
    given = texts.drop_nulls()
    numbers = given.value_counts(name="n")
    left = numbers.filter(pl.col(given.name).str.count_matches(_ENGLISH) < _SURELY)
    step = -(-left.height // _AT_MOST) or 1
    found: Counter[str] = Counter()
    for text, n in left.gather_every(step).iter_rows():
        language = language_of(text)
        if language:
            found[language] += n * step
    if not found:
        return
    looks = ", ".join(f"{n:,} {language}" for language, n in found.most_common())
    about = "about " if step > 1 else ""
    n = sum(found.values())
    message = (
        f"{about}{counted(n, what)} of {len(given):,} {'is' if n == 1 else 'are'} not in "
        f"{ENGLISH_READ} ({looks}): the rules that find failures do not read "
        f"{'it' if n == 1 else 'them'}."
    )
    source.warning(message[0].upper() + message[1:], _REMEDY, field=field)
