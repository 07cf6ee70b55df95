"""Write a made review set, part by part, so that its size is bounded by the disk alone."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import cv2
import numpy as np
import polars as pl

from rexview.bench.made_set.answers import TOKEN_LIMIT, draws_boxes, made_answers, model_ids
from rexview.bench.made_set.films import film
from rexview.bench.made_set.readers import MOST_SCORED, READERS, made_readings
from rexview.bench.made_set.studies import TURN, Films, film_names, made_cases, studies_of
from rexview.errors import ReviewSetError
from rexview.reviewset import load, write
from rexview.reviewset.info import dump_info
from rexview.reviewset.sources import INFO_FILE
from rexview.schema import Model, SetInfo

MOST_AS_JSON: Final = 100_000
"""Answers: above it the tables are Parquet, as ``FORMAT.md`` recommends."""
_ROWS: Final = 150_000
"""Answers in one part, about: what is held in memory at a time."""
MOST_FILMS: Final = 5_000
"""Film files of a set: more would fill a disk, and no page shows more."""
_FILM: Final = (512, 640)
_ADDRESS_FILM: Final = (2048, 2500)
_NOWHERE: Final = "https://nowhere/films"
"""An address that every computer can read, and where there is nothing."""
_NOTICE: Final = "Simulated, for measuring: no patient, no radiologist, no model."


@dataclass(frozen=True)
class MadeSet:
    """What a made set is made of.

    Attributes
    ----------
    cases, models : int
    pictures : int, optional
        The number of film files, which the studies share in turn. With 0, pictures are named at an
        address where there is nothing. By default each study has a film, up to :data:`MOST_FILMS`.
    parquet : bool
        Whether small tables are Parquet, too.
    seed : int
    scored : bool
        Whether two readers scored answers, and left verdicts and comments.
    """

    cases: int
    models: int
    pictures: int | None = None
    parquet: bool = False
    seed: int = 1
    scored: bool = True

    @property
    def films(self) -> int:
        """How many film files it has."""
        if self.pictures is None:
            return min(studies_of(self.cases), MOST_FILMS)
        return self.pictures

    @property
    def answers(self) -> int:
        """How many answers it has."""
        return self.cases * self.models


def make_set(
    made: MadeSet, folder: Path, *, told: Callable[[int, int], None] = lambda done, of: None
) -> None:
    """Write a made set to a folder that is not there yet, or is empty.

    It appears complete or not at all. ``told`` is called with cases done, and how many there are.

    Raises
    ------
    ReviewSetError
        There is something in the folder already, or nothing is asked for.
    """
    if made.cases < 1 or made.models < 1 or made.films < 0:
        raise ReviewSetError("A made set has at least one case and one model.")
    folder = folder.absolute()
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ReviewSetError(f"“{folder.name}” is not empty; nothing was written.")
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(
        dir=folder.parent, prefix=f".{folder.name}-", ignore_cleanup_errors=True
    ) as beside:
        work = Path(beside) / "set"
        _write_parts(made, work, told)
        if folder.exists():
            folder.rmdir()
        if made.parquet or made.answers > MOST_AS_JSON:
            work.rename(folder)
        else:
            write(load(work), folder, images=work / "images" if made.films else "refer")


def _write_parts(made: MadeSet, work: Path, told: Callable[[int, int], None]) -> None:
    for name in ("cases", "answers"):
        (work / name).mkdir(parents=True)
    width, height = _FILM if made.films else _ADDRESS_FILM
    films = Films(made.films, width, height)
    _write_films(films, work / "images")
    size = max(1, _ROWS // made.models // TURN) * TURN
    for part, start in enumerate(range(0, made.cases, size)):
        random = np.random.default_rng([made.seed, part])
        stop = min(start + size, made.cases)
        cases = made_cases(random, start, stop, films)
        answers = made_answers(random, cases, made.models, films)
        _write_part(cases.table, work / "cases", part)
        _write_part(answers, work / "answers", part)
        if made.scored and start < MOST_SCORED:
            scored = answers.filter(
                pl.col("case").is_in(cases.table["id"][: MOST_SCORED - start].implode())
            )
            for name, table in made_readings(random, scored).items():
                (work / name).mkdir(exist_ok=True)
                _write_part(table, work / name, part)
        told(stop, made.cases)
    info = SetInfo(
        name=f"Made set of {made.cases:,} cases",
        description=f"{made.answers:,} answers by {made.models} models, seed {made.seed}",
        notice=_NOTICE,
        models=tuple(
            Model(
                id=name,
                name=f"Made model {number + 1}",
                kind="medical" if number % 2 else "generalist",
                draws_boxes=draws_boxes(number),
                max_output_tokens=TOKEN_LIMIT,
            )
            for number, name in enumerate(model_ids(made.models))
        ),
        readers=READERS if made.scored else (),
    )
    base = "images/" if made.films else _NOWHERE
    (work / INFO_FILE).write_text(dump_info(info, images=base), encoding="utf-8", newline="\n")


def _write_part(table: pl.DataFrame, folder: Path, part: int) -> None:
    table.write_parquet(folder / f"part-{part:05d}.parquet")


def _write_films(films: Films, folder: Path) -> None:
    if films.count:
        folder.mkdir()
    for number, name in enumerate(film_names(films.count)):
        pixels = (film(films.width, films.height, number) >> 4).astype(np.uint8)
        _, content = cv2.imencode(".png", pixels, [cv2.IMWRITE_PNG_COMPRESSION, 1])
        (folder / name).write_bytes(content.tobytes())
