"""Review sets made in memory, table by table; a real PostgreSQL server."""

from __future__ import annotations

import gc
import json
import os
import sys
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Protocol

import polars as pl
import pytest
from hypothesis import settings
from support import ROOT
from support.forked import Template
from support.postgres import running
from support.slow import is_slow
from support.whole_files import WholeFiles

from bench import serving
from bench.remote import Archive, S3Server
from bench.serving import BenchUnavailable
from rexview import frames
from rexview.schema import Model, ReviewSet, SetInfo
from tools import words
from tools.postgres import PostgresServer
from tools.test_times import KEPT

_MAIN = sys.modules["__main__"]

# A slow machine is not a failure, and everybody's run tries the same examples; tools.check --all
# looks for new ones (HYPOTHESIS_PROFILE=explore). Only tests whose examples take long set a number.
settings.register_profile("rexview", deadline=None, derandomize=True, max_examples=20)
settings.register_profile("explore", deadline=None, max_examples=500)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "rexview"))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what is slow, and begin with the longest files where tests run side by side.

    Else one core waits at the end. ``tools.test_times`` says which files take longest; of the
    others the largest come first.
    """
    for item in items:
        if is_slow(item.nodeid):
            item.add_marker("slow")
    if "PYTEST_XDIST_WORKER" in os.environ:
        seconds = json.loads(KEPT.read_text(encoding="utf-8"))
        taken = {ROOT / file: taken for file, taken in seconds.items()}
        items.sort(key=lambda item: (-taken.get(item.path, 0), -_size(item.path), item.path))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> WholeFiles | None:
    """Share files out so that a process that dies holds up nothing."""
    return WholeFiles(config, log) if config.option.dist == "loadfile" else None


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_teardown() -> None:
    """Put back what ran the tests: Streamlit leaves a page's script in its place.

    A process that a later test spawns would run that script first.
    """
    sys.modules["__main__"] = _MAIN


@pytest.fixture(scope="session")
def gathered_words() -> Path:
    """Return the file of all texts of the pages, which the language ``x-pseudo`` is read from."""
    return words.renew_template()


def pytest_collection() -> None:
    """Collect no garbage while tests are collected: a third of that time, for nothing."""
    gc.disable()


def pytest_collection_finish() -> None:
    """Keep what thousands of tests and all imports are from every collection of garbage to come."""
    gc.collect()
    gc.freeze()
    gc.enable()


@cache
def _size(file: Path) -> int:
    return file.stat().st_size


@pytest.fixture(scope="session", autouse=True)
def own_data_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep what people of this machine wrote about the demonstration out of the tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_DATA_HOME", str(tmp_path_factory.mktemp("user-data")))
        yield


@pytest.fixture(scope="session", autouse=True)
def forked_servers() -> Iterator[None]:
    """Begin servers of the app with their imports done."""
    template = Template()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(serving, "begin_process", template.begin)
        yield
    template.end()


class MakeSet(Protocol):
    def __call__(self, **tables: Sequence[dict[str, Any]]) -> ReviewSet: ...


def _filled(name: str, rows: Sequence[dict[str, Any]]) -> pl.DataFrame:
    defaults: dict[str, dict[str, Any]] = {
        "cases": {"question": "What is abnormal?", "question_type": "open"},
        "answers": {"finish_reason": "stop", "_newest": True, "text": "An answer."},
        "scores": {"_origin": "file"},
        "flags": {"_origin": "file"},
    }
    schema = frames.TABLES[name]
    full = [
        {**defaults.get(name, {}), "_row": number, **row}
        for number, row in enumerate(rows, start=1)
    ]
    return pl.DataFrame([{key: row.get(key) for key in schema} for row in full], schema=schema)


@pytest.fixture(name="make_set", scope="session")
def make_set_fixture() -> MakeSet:
    def make(**tables: Sequence[dict[str, Any]]) -> ReviewSet:
        models = (Model("g", "Generalist"), Model("m", "Medical 4B"))
        return ReviewSet(
            folder=Path("nowhere"),
            info=SetInfo(name="Test", models=models),
            **{name: _filled(name, tables.get(name, ())) for name in frames.TABLES},
        )

    return make


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    """A PostgreSQL server of the tests' own; skips where none can be had."""
    with running() as server:
        yield server


def _or_skip(start: type[S3Server] | type[Archive], folder: Path) -> Any:
    try:
        return start(folder)
    except BenchUnavailable as error:
        pytest.skip(str(error))


@pytest.fixture(scope="session")
def s3_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3Server]:
    """An S3 server, one for all tests of a process; skips where none can be had."""
    pytest.importorskip("botocore")
    with _or_skip(S3Server, tmp_path_factory.mktemp("s3") / "buckets") as server:
        yield server


@pytest.fixture(scope="session")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Archive]:
    """A DICOMweb archive, one for all tests of a process; skips where none can be had."""
    with _or_skip(Archive, tmp_path_factory.mktemp("archive")) as server:
        yield server
