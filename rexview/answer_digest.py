"""The digest of an answer, which links a score, a verdict or a consensus to its version.

It covers everything that a reader reads and judges: the text, the option chosen (its number and its
text), the explanation, the boxes with their labels and confidences, and the bytes of the returned
pictures. It does not cover how the answer came about: finish reason, token counts, latency, dates,
prompt and run, unknown fields, and the names of the picture files. So an answer that is run again
with the same result keeps its scores, and one with a changed word loses them.

A digest is 64 hexadecimal digits. ``FORMAT.md`` describes how to compute one elsewhere.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import Any, Final
from weakref import WeakValueDictionary

import polars as pl

from rexview import frames
from rexview.frames import take_rows
from rexview.schema import ReviewSet

IS_DIGEST: Final = re.compile(r"[0-9a-f]{64}")
AnswerKey = tuple[str, str]  # case, model
_READ: Final = ("case", "model", "text", "choice", "explanation", "boxes", "images")
_FindPicture = Callable[[str], Path | None]


class AnswerDigests:
    """The digests of the newest answers of a review set, each computed when first needed.

    Pictures are checked each time, so that a replaced one is noticed. Their bytes are read again
    only when size or time of the file changed.
    """

    def __init__(self, review_set: ReviewSet) -> None:
        self.answers: Final = review_set.answers
        self._index: Final = review_set.index
        self._find: Final[_FindPicture] = review_set.find_picture
        self._lock: Final = Lock()
        self._known: Final[dict[AnswerKey, str]] = {}
        self._pictured: Final[dict[AnswerKey, tuple[list[Any], tuple[str, ...]]]] = {}
        self._absent: Final[set[AnswerKey]] = set()

    def of(self, case: str, model: str) -> str | None:
        """Return the digest of a model's newest answer to a case, None if there is none."""
        return self.of_all([(case, model)]).get((case, model))

    def of_all(self, pairs: Iterable[AnswerKey]) -> dict[AnswerKey, str]:
        """Return the digests of many answers; pairs without an answer are left out."""
        wanted = set(pairs)
        with self._lock:
            known = (self._known, self._pictured, self._absent)  # large, while few may be wanted
            self._read({pair for pair in wanted if not any(pair in there for there in known)})
            found = {pair: self._known[pair] for pair in wanted if pair in self._known}
            for pair in wanted - found.keys():
                if pair not in self._pictured:
                    continue
                content, paths = self._pictured[pair]
                found[pair] = _digest([*content, [self._picture(path) for path in paths]])
        return found

    def pictures_state(self) -> str:
        """Return a text that changes when a picture of an answer requested before changes."""
        with self._lock:
            if not self._pictured:
                return ""
            every = sorted((pair, paths) for pair, (_, paths) in self._pictured.items())
            return _digest([[*pair, *map(self._picture, paths)] for pair, paths in every])[:16]

    def _read(self, pairs: set[AnswerKey]) -> None:
        if not pairs:
            return
        cases, models = zip(*pairs, strict=True)
        asked = pl.DataFrame(
            {"case": cases, "model": models}, schema={"case": pl.String, "model": pl.String}
        )
        newest = self._index.answers_to(asked["case"], [*_READ, "_choice_read"])
        # a choice read from the text is in the text, and may be read better one day
        rows = newest.with_columns(frames.given_choice_expr()).select(_READ)
        rows = rows.join(asked, on=["case", "model"], how="semi")
        chosen = self._index.case_rows(rows.filter(pl.col("choice").is_not_null())["case"])
        listed = take_rows(self._index.cases.select("id", "options"), chosen["case_row"].to_numpy())
        options = dict(listed.iter_rows())
        for row in rows.iter_rows(named=True):
            pair = (row["case"], row["model"])
            content = _content(row, options.get(row["case"]) or [])
            if row["images"]:
                self._pictured[pair] = content, tuple(row["images"])
            else:
                self._known[pair] = _digest([*content, []])
        found = (self._known, self._pictured)
        self._absent.update(pair for pair in pairs if not any(pair in there for there in found))

    def _picture(self, path: str) -> str:
        """Return a digest of a picture's bytes; for an address, the address."""
        file = self._find(path)
        if file is None:
            return f"path {path}"
        try:
            stat = file.stat()
            return _file_digest(str(file), stat.st_size, stat.st_mtime_ns, stat.st_ino)
        except OSError:
            return "missing"


def _content(row: Mapping[str, Any], options: list[str]) -> list[Any]:
    choice = row["choice"]
    is_option = choice is not None and 0 <= choice < len(options)
    boxes = [
        [box["image"] or "", box["label"] or "", box["box"] or [], box["score"]]
        for box in row["boxes"] or ()
    ]
    return [
        row["text"] or "",
        choice,
        options[choice] if is_option else None,
        row["explanation"] or "",
        boxes,
    ]


def _digest(content: list[Any]) -> str:
    return hashlib.sha256(json.dumps(content, separators=(",", ":")).encode()).hexdigest()


@lru_cache(maxsize=65_536)
def _file_digest(file: str, size: int, time_ns: int, inode: int) -> str:
    with Path(file).open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


_DIGESTS: Final[WeakValueDictionary[int, AnswerDigests]] = WeakValueDictionary()
_DIGESTS_LOCK: Final = Lock()


def digests_of(review_set: ReviewSet) -> AnswerDigests:
    """Return the digests of a review set: one object for all sets that share a table of answers.

    It exists as long as one of these sets.
    """
    with _DIGESTS_LOCK:
        known = _DIGESTS.get(id(review_set.answers))
        if known is None or known.answers is not review_set.answers:
            known = _DIGESTS[id(review_set.answers)] = AnswerDigests(review_set)
        vars(review_set)["_answer_digests"] = known  # keeps it alive
        return known


def split_stale_rows(
    rows: pl.DataFrame, review_set: ReviewSet
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Split rows of scores or flags into those on present and on earlier answers.

    Parameters
    ----------
    rows : polars.DataFrame
        With ``case``, ``model`` and ``answer_digest``. A row without a digest counts as about the
        present answer; so does one whose answer is missing.
    review_set : ReviewSet

    Returns
    -------
    tuple of polars.DataFrame
        Both in the order of ``rows``.
    """
    if rows.is_empty():
        return rows, rows
    named = rows.select("case", "model", "answer_digest").drop_nulls().unique()
    if named.is_empty():
        return rows, rows.clear()
    now = digests_of(review_set).of_all(named.select("case", "model").unique().iter_rows())
    stale = [row for row in named.iter_rows() if (found := now.get(row[:2])) and found != row[2]]
    if not stale:
        return rows, rows.clear()
    others = pl.DataFrame(stale, schema=named.schema, orient="row")
    parts = [
        rows.join(others, on=others.columns, how=how, maintain_order="left")
        for how in ("anti", "semi")
    ]
    return parts[0], parts[1]


_ANSWER_TABLES: Final = ("scores", "flags", "metrics", "edits", "opinions")
"""Tables whose rows are about one answer and have its digest."""
_SIDES: Final = ("first", "second")


def separate_stale_rows(review_set: ReviewSet) -> ReviewSet:
    """Move rows about earlier answers and options to the ``stale_`` tables.

    Scores, flags, metrics, edits and opinions are about one answer, a preference about two. A
    reader's choice is about the option whose text it has.
    """
    parts = {
        name: split_stale_rows(getattr(review_set, name), review_set) for name in _ANSWER_TABLES
    }
    parts["choices"] = _split_stale_choices(review_set.choices, review_set)
    parts["preferences"] = _split_stale_pairs(review_set.preferences, review_set)
    tables: dict[str, Any] = {name: now for name, (now, _) in parts.items()}
    tables |= {f"stale_{name}": stale for name, (_, stale) in parts.items()}
    return replace(review_set, **tables)


def merge_stale_rows(review_set: ReviewSet) -> ReviewSet:
    """Put stale rows back into their tables, in the order of rows."""
    tables: dict[str, Any] = {
        name: _merged_rows(getattr(review_set, name), getattr(review_set, f"stale_{name}"))
        for name in (*_ANSWER_TABLES, "choices", "preferences")
    }
    return replace(review_set, **tables)


def _merged_rows(rows: pl.DataFrame, stale: pl.DataFrame) -> pl.DataFrame:
    return rows if stale.is_empty() else pl.concat([rows, stale]).sort("_row")


def _split_stale_pairs(
    rows: pl.DataFrame, review_set: ReviewSet
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Split rows that compare two answers, like :func:`split_stale_rows`: either can be stale."""
    if rows.is_empty():
        return rows, rows
    stale = rows.clear()
    for side in _SIDES:
        names = {side: "model", f"{side}_digest": "answer_digest"}
        rows, others = split_stale_rows(rows.rename(names), review_set)
        back = {now: before for before, now in names.items()}
        rows, stale = rows.rename(back), pl.concat([stale, others.rename(back)])
    return rows, stale.sort("_row")


def _split_stale_choices(
    rows: pl.DataFrame, review_set: ReviewSet
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Split readers' choices into those of present options and of earlier ones."""
    if rows.is_empty():
        return rows, rows
    named = rows.filter(pl.col("option").is_not_null())
    if named.is_empty():
        return rows, rows.clear()
    cases = review_set.index.case_rows(named["case"])
    options = take_rows(
        review_set.cases.select(case="id", now="options"), cases["case_row"].to_numpy()
    )
    now = pl.col("now").list.get(pl.col("choice"), null_on_oob=True)
    compared = named.join(options, on="case").filter(~now.eq_missing(pl.col("option")))
    parts = [
        rows.join(compared.select("_row"), on="_row", how=how, maintain_order="left")
        for how in ("anti", "semi")
    ]
    return parts[0], parts[1]
