"""JSON Lines read by column give what reading line by line gives, or are left to it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rexview.columns import TABLES
from rexview.reviewset.problems import ProblemList
from rexview.reviewset.set_files import find_tables
from rexview.reviewset.tables import declared_table
from rexview.reviewset.tables.declared_table import (
    MAX_LINE_BYTES,
    read_declared_table,
    read_typed_jsonl,
)

LONG = MAX_LINE_BYTES
ANSWER = {
    "case": "c1",
    "model": "m",
    "text": "Ä “pleural” effusion\nand \\ more",
    "output_tokens": 12,
    "latency_s": 3,
    "boxes": [{"label": "x", "box": [1, 2.5, 3, 4], "score": 1}, {"box": [1, 2, 3, 4]}],
    "created": "2025-04-01T09:00:00Z",
}


@pytest.fixture(autouse=True)
def _any_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(declared_table, "MIN_TYPED_BYTES", 1)


def read_both(folder: Path, name: str) -> tuple[pl.DataFrame, list[Any]]:
    problems = ProblemList()
    source = find_tables(folder, problems)[name]
    return read_declared_table(source, TABLES[name]), problems.all()


def same_either_way(
    folder: Path, name: str, lines: bytes, monkeypatch: pytest.MonkeyPatch, *, typed: bool
) -> None:
    path = folder / f"{name}.jsonl"
    path.write_bytes(lines)
    assert (read_typed_jsonl(path, TABLES[name], LONG) is not None) is typed
    by_column = read_both(folder, name)
    with monkeypatch.context() as patch:
        patch.setattr(declared_table, "MIN_TYPED_BYTES", 10**9)
        by_line = read_both(folder, name)
    assert by_column[0].equals(by_line[0])
    assert by_column[1] == by_line[1]


def dumped(*rows: dict[str, Any]) -> bytes:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()


@pytest.mark.parametrize("latency", ["0.5", "2", "NaN", "Infinity", "-1e3", "null"])
def test_an_ordinary_table_is_read_by_column(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, latency: str
) -> None:
    rows = [ANSWER, {"case": "c2", "model": "m", "text": None, "boxes": []}, {"case": "c3"}]
    lines = dumped(*rows) + b'{"case": "c4", "model": "m", "latency_s": %s}\n' % latency.encode()
    same_either_way(tmp_path, "answers", lines, monkeypatch, typed=True)


@pytest.mark.parametrize(
    "lines",
    [
        dumped(ANSWER | {"stray": 1}),
        dumped(ANSWER | {"text": 5}),
        dumped(ANSWER | {"output_tokens": "12"}),
        dumped(ANSWER | {"output_tokens": 12.0}),
        dumped(ANSWER | {"output_tokens": 2**70}),
        dumped(ANSWER | {"boxes": [{"box": [1, 2, 3, 4], "stray": 1}]}),
        dumped(ANSWER | {"extra": {"any": "thing"}}),
        dumped(ANSWER) + b"\n" + dumped(ANSWER | {"case": "c2"}),
        dumped(ANSWER)[:-1] + b" " + dumped(ANSWER | {"case": "c2"}),
        dumped(ANSWER)[:-1],
        dumped(ANSWER).replace(b"\n", b"\r\n"),
        b"\xef\xbb\xbf" + dumped(ANSWER),
        b'{"case": "c1", "case": "c2", "model": "m"}\n',
        dumped(ANSWER | {"latency_s": True}),
        b'{"case": "c1", "model": "m", "text": "\\ud800"}\n',
        b'{"case": "c1", "model": "m", "text": "\xff"}\n',
        b'{"case": "c1",\n "model": "m"}\n',
        b'[{"case": "c1", "model": "m"}]\n',
        b'{"case": "c1", "model": "m"\n',
        b"",
    ],
)
def test_anything_unusual_is_left_to_the_reader_by_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lines: bytes
) -> None:
    same_either_way(tmp_path, "answers", lines, monkeypatch, typed=False)


def test_a_line_that_is_too_long_is_left_to_the_reader_by_line(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    path.write_bytes(dumped(ANSWER, ANSWER | {"text": "x" * 2_000}))
    assert read_typed_jsonl(path, TABLES["answers"], 1_000) is None
    assert read_typed_jsonl(path, TABLES["answers"], 4_000) is not None


_TEXT = st.one_of(st.none(), st.text(max_size=8), st.sampled_from(["NA", " x ", "", "1", "\x00"]))
_ROW = st.fixed_dictionaries(
    {"case": _TEXT, "model": _TEXT},
    optional={
        "reader": _TEXT,
        "dimension": st.sampled_from(["process", "Image content", "nonsense", None]),
        "score": st.one_of(st.none(), st.integers(-3, 9)),
        "image": st.one_of(st.none(), st.integers(-1, 3)),
        "comment": _TEXT,
        "created": st.sampled_from(["2025-04-01", "2025-04-01T09:00:00+02:00", "soon", None]),
    },
)


@given(rows=st.lists(_ROW, min_size=1, max_size=12))
def test_scores_are_read_alike(tmp_path_factory: Any, rows: list[dict[str, Any]]) -> None:
    folder = tmp_path_factory.mktemp("scores")
    text = "".join(json.dumps(row) + "\n" for row in rows)
    with pytest.MonkeyPatch.context() as patch:
        (folder / "scores.jsonl").write_text(text, encoding="utf-8")
        typed = read_typed_jsonl(folder / "scores.jsonl", TABLES["scores"], LONG) is not None
        same_either_way(folder, "scores", text.encode(), patch, typed=typed)
