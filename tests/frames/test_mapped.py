"""Mapped tables are the same after their memory was given back."""

import gc
import pickle
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from rexview import frames as mapping
from rexview.frames import (
    map_arrow_file,
    query_all_rows,
    release_mapped_memory,
    release_mapped_memory_if_large,
    take_rows,
)

STATUS = Path("/proc/self/status")


def mapped_mb():
    line = next(line for line in STATUS.read_text().splitlines() if line.startswith("RssFile"))
    return int(line.split()[1]) // 1024


@pytest.fixture(name="texts")
def texts_fixture(tmp_path):
    frame = pl.DataFrame({"text": [f"{n} {'Effusion. ' * 100}" for n in range(40_000)]})
    frame.write_ipc(tmp_path / "texts.arrow", compression="uncompressed")
    return frame, map_arrow_file(tmp_path / "texts.arrow")


def test_what_was_let_go_is_read_again(texts):
    frame, found = texts
    assert found["text"].str.contains("(?i)effusion").all()
    release_mapped_memory()
    assert found.equals(frame)


@pytest.mark.skipif(not STATUS.exists(), reason="there is no /proc here")
def test_memory_is_given_back(texts):
    _, found = texts
    assert found["text"].str.contains("(?i)effusion").all()
    held = mapped_mb()
    release_mapped_memory()
    assert mapped_mb() < held - 30  # of the 40 MB of texts


def test_a_table_that_is_gone_is_mapped_no_more(texts, tmp_path):
    before = len(mapping._MAPS)
    found = map_arrow_file(tmp_path / "texts.arrow")
    part = found["text"][:3]
    assert len(mapping._MAPS) == before + 1
    del found
    gc.collect()
    release_mapped_memory()
    assert part.to_list()[0].startswith("0 Effusion.")  # still needs the file
    del part
    gc.collect()
    assert len(mapping._MAPS) == before


def test_a_torn_file_is_an_error(tmp_path):
    (tmp_path / "empty.arrow").write_bytes(b"")
    (tmp_path / "torn.arrow").write_bytes(b"ARROW1\0\0 and no more")
    for name in ("empty.arrow", "torn.arrow", "none.arrow"):
        with pytest.raises((OSError, ValueError)):
            map_arrow_file(tmp_path / name)


@pytest.fixture(name="in_pieces")
def in_pieces_fixture(texts, monkeypatch):
    """A table of several pieces, of which the slices are others."""
    monkeypatch.setattr(mapping, "_SLICE", 7_000)
    frame, found = texts
    lists = pl.Series("n", [[n, n + 1] for n in range(len(frame))])
    whole = frame.hstack([lists])
    pieces = pl.concat([found[:9_000], found[9_000:30_500], found[30_500:]], rechunk=False)
    assert pieces.n_chunks() == 3
    return whole, pieces.hstack([lists])


def test_all_rows_are_asked_in_their_order(in_pieces):
    whole, found = in_pieces
    numbers = query_all_rows(found, lambda rows: rows.select(pl.col("text").str.extract(r"^(\d+)")))
    assert numbers["text"].cast(pl.Int64).to_list() == list(range(len(whole)))
    assert query_all_rows(found.clear(), lambda rows: rows.select("n")).is_empty()


@pytest.mark.parametrize("rows", [[], [39_999], [30_499, 5, 5, 30_500, 0, 13_999, 14_000]])
def test_some_rows_are_those_rows_in_that_order(in_pieces, rows):
    whole, found = in_pieces
    assert take_rows(found, np.array(rows, dtype=np.uint32)).equals(whole[rows])


def test_some_rows_take_no_others_along(in_pieces):
    _, found = in_pieces
    assert len(pickle.dumps(take_rows(found, np.array([1, 20_000])))) < 10_000


@pytest.mark.skipif(not STATUS.exists(), reason="there is no /proc here")
def test_only_much_is_given_back(texts, monkeypatch):
    _, found = texts
    assert found["text"].str.contains("(?i)effusion").all()
    held = mapped_mb()
    monkeypatch.setattr(mapping, "_RELEASE_ABOVE", (held + 100) * 1024**2)
    release_mapped_memory_if_large()
    assert mapped_mb() >= held
    monkeypatch.setattr(mapping, "_RELEASE_ABOVE", 0)
    release_mapped_memory_if_large()
    assert mapped_mb() < held - 30
