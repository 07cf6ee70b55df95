"""Whether the engine answers and has the set as its files are."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote, urlsplit

from rexview.doctor.finding import Known, Said, note, ok, wrong
from rexview.errors import SetNotLoaded
from rexview.settings import MEMORY
from rexview.vocab import counted


def look_at_engine(known: Known) -> Iterator[Said]:
    """Ask ClickHouse for the set, where it is the engine; no table is made."""
    from rexview.analysis.clickhouse.database import database_at
    from rexview.analysis.clickhouse.loading import read_shown_version as shown
    from rexview.analysis.clickhouse.loading import shown_version
    from rexview.reviewset import fingerprint, without_cases
    from rexview.store.location import set_key

    engine, about = known.settings.engine, "tables"
    load = "Load it: python -m rexview load SET"
    if engine == MEMORY:
        yield ok(about, "in the memory of each server, no ClickHouse")
        return
    parts = urlsplit(engine)
    if parts.scheme == "chdb" and not Path(unquote(parts.path)).is_dir():  # asked, it would be made
        yield wrong(about, "The folder of chDB is not there.", load)
        return
    if not known.settings.review_set.is_dir():
        yield note(about, "Not asked: without its set nothing says what to look for.")
        return
    name = set_key(without_cases(known.settings.review_set))
    database = database_at(engine)
    if not shown_version(database, name):
        yield wrong(about, "They answer, but this set is not in them.", load)
        return
    try:
        manifest = shown(database, name)
    except SetNotLoaded as error:
        yield wrong(about, error.message, error.remedy)
        return
    told = f"{counted(manifest.n_cases, 'case')}, {counted(manifest.n_answers, 'answer')}"
    if manifest.fingerprint == fingerprint(known.settings.review_set).partition("-")[0]:
        yield ok(about, f"reached; the set is loaded: {told}")
    else:
        yield note(about, f"The set's files have changed since it was loaded ({told}).", load)
