"""Looking for words in the questions, reports and answers of a set, where the set has them.

No text is copied and none is kept in lower case: a pattern goes over the columns at some gigabytes
a second. What a word was found in is kept for the words that were looked for last.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

import numpy as np
import numpy.typing as npt
import polars as pl

from rexview.analysis.memory.coded_column import Mask
from rexview.analysis.memory.set_columns import SetColumns
from rexview.frames import of_all_rows

_WORDS_KEPT: Final = 32


class TextSearch:
    """Which rows of an answer table have a word in a question, a report or an answer."""

    def __init__(self, columns: SetColumns) -> None:
        self.columns = columns
        self._found = lru_cache(maxsize=_WORDS_KEPT)(self._packed)

    def having(self, word: str) -> Mask:
        """Say which rows have a word, in capitals or not: in the answer, or in that of the case."""
        return np.unpackbits(self._found(word), count=len(self.columns)).view(np.bool_)

    def _packed(self, word: str) -> npt.NDArray[np.uint8]:
        return np.packbits(self._look_for(word))

    def _look_for(self, word: str) -> Mask:
        pattern, review_set = f"(?i){re.escape(word)}", self.columns.review_set
        report = pl.col("report").struct
        places = (pl.col("question"), report.field("findings"), report.field("impression"))
        # words hold no spaces, so that none stands half in one part and half in another
        cases = _matches(review_set.cases, pattern, places)
        answers = _matches(review_set.answers, pattern, (pl.col("text"),))
        found = self.columns.of_rows(cases)
        found[: self.columns.n_answers] |= answers[self.columns.newest.row]
        return found


def _matches(frame: pl.DataFrame, pattern: str, texts: tuple[pl.Expr, ...]) -> Mask:
    """Say which rows have a pattern in one of some texts."""
    met = pl.any_horizontal(text.str.contains(pattern).fill_null(False) for text in texts)
    return np.asarray(of_all_rows(frame, lambda rows: rows.select(met=met))["met"].to_numpy())
