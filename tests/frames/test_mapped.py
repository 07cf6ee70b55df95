"""Mapped tables are the same after their memory was given back."""

import gc
from pathlib import Path

import polars as pl
import pytest

from rexview.frames import mapped as mapping
from rexview.frames.mapped import let_go, mapped

STATUS = Path("/proc/self/status")


def mapped_mb():
    line = next(line for line in STATUS.read_text().splitlines() if line.startswith("RssFile"))
    return int(line.split()[1]) // 1024


@pytest.fixture(name="texts")
def texts_fixture(tmp_path):
    frame = pl.DataFrame({"text": [f"{n} {'Effusion. ' * 100}" for n in range(40_000)]})
    frame.write_ipc(tmp_path / "texts.arrow", compression="uncompressed")
    return frame, mapped(tmp_path / "texts.arrow")


def test_what_was_let_go_is_read_again(texts):
    frame, found = texts
    assert found["text"].str.contains("(?i)effusion").all()
    let_go()
    assert found.equals(frame)


@pytest.mark.skipif(not STATUS.exists(), reason="there is no /proc here")
def test_memory_is_given_back(texts):
    _, found = texts
    assert found["text"].str.contains("(?i)effusion").all()
    held = mapped_mb()
    let_go()
    assert mapped_mb() < held - 30  # of the 40 MB of texts


def test_a_table_that_is_gone_is_mapped_no_more(texts, tmp_path):
    before = len(mapping._MAPS)
    found = mapped(tmp_path / "texts.arrow")
    part = found["text"][:3]
    assert len(mapping._MAPS) == before + 1
    del found
    gc.collect()
    let_go()
    assert part.to_list()[0].startswith("0 Effusion.")  # still needs the file
    del part
    gc.collect()
    assert len(mapping._MAPS) == before


def test_a_torn_file_is_an_error(tmp_path):
    (tmp_path / "empty.arrow").write_bytes(b"")
    (tmp_path / "torn.arrow").write_bytes(b"ARROW1\0\0 and no more")
    for name in ("empty.arrow", "torn.arrow", "none.arrow"):
        with pytest.raises((OSError, ValueError)):
            mapped(tmp_path / name)
