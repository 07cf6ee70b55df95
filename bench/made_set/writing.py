"""Write a simulated review set part by part, so that only the disk limits its size."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

import cv2
import numpy as np
import numpy.typing as npt
import polars as pl

from bench.made_set.studies import (
    LOCATION,
    OPTIONS,
    PRESENCE,
    SIDES,
    TURN,
    Cases,
    Films,
    Numbers,
    either,
    film,
    film_names,
    findings,
    grammar,
    joined,
    made_cases,
    noun_phrases,
    phrases,
    place_of,
    places,
    sided,
    studies_of,
)
from rexview.errors import ReviewSetError
from rexview.reviewset import load_review_set, save_review_set
from rexview.reviewset.set_files import INFO_FILE
from rexview.reviewset.set_info import dump_info
from rexview.schema import Model, Reader, SetInfo
from rexview.vocab import DIMENSIONS, IMAGE_DIMENSIONS

# Answers of a simulated set: choices, explanations, boxes, and mistakes of known kinds.

TOKEN_LIMIT: Final = 512
_BEST: Final = 0.86
_WORST: Final = 0.58
"""Shares of right choices of the first and the last model."""
_SIDE_SWAPPED: Final = 0.015
_CUT_OFF: Final = 0.012
_NO_CHOICE: Final = 0.004
_FAILED: Final = 0.002
_BOXED: Final = 0.6
"""Share of possible boxes that box-drawing models draw."""
_STOP_WORDS: Final = ("stop", "end_turn", "STOP", "eos")
_BEGINNING: Final = datetime(2025, 3, 1, tzinfo=UTC)
_EVERY_THIRD: Final = 3
_EVERY_FOURTH: Final = 4


def draws_boxes(model: int) -> bool:
    """Whether the model with that number draws boxes: every third one does."""
    return model % _EVERY_THIRD == 0


def made_answers(
    random: np.random.Generator, cases: Cases, models: int, films: Films
) -> pl.DataFrame:
    """Make one answer of each model to each case, as a table of the declared columns.

    Every fourth model answers with the letter and puts the explanation in its own column; the
    others write both into the text, in three ways.
    """
    count = cases.table.height * models
    case = np.repeat(np.arange(cases.table.height), models)
    model = np.tile(np.arange(models), cases.table.height)
    right = random.random(count) < np.linspace(_BEST, _WORST, models)[model]
    claimed = np.where(right, 0, random.integers(1, OPTIONS, count))
    choice = (cases.first[case] + claimed) % OPTIONS
    letter = pl.Series(list("ABCD")).gather(choice)
    option = (
        cases.table["options"]
        .gather(case)
        .list.get(pl.select(pl.lit(pl.Series(choice))).to_series())
    )
    finding = cases.claim.finding[case, claimed]
    side = cases.claim.side[case, claimed]
    absent = cases.claim.absent[case, claimed]
    swapped = (random.random(count) < _SIDE_SWAPPED) & sided()[finding] & ~absent
    said = _explanations(random, cases, case, claimed, np.where(swapped, 1 - side, side), letter)

    apart = model % _EVERY_FOURTH == _EVERY_FOURTH - 1
    style = model % _EVERY_FOURTH
    text = either(
        style == 0,
        joined(letter, ". ", option, "\n\n", said),
        either(
            style == 1,
            joined("Answer: ", letter, "\n\nExplanation: ", said),
            joined("The answer is (", letter, ") ", option, ". ", said),
        ),
    )
    text = either(apart, letter, text)
    explanation = either(apart, said, None)

    chance = random.random(count)
    failed = chance < _FAILED
    undecided = ~failed & (chance < _FAILED + _NO_CHOICE)
    cut = ~apart & (chance > 1 - _CUT_OFF)
    length = text.str.len_chars()
    kept = (length.to_numpy() * random.uniform(0.4, 0.95, count)).astype(np.int64)
    text = either(cut, text.str.head(pl.Series(kept)), text)
    text = either(undecided, "The image does not allow me to decide between the options.", text)
    stopped = pl.Series(_STOP_WORDS).gather(model % len(_STOP_WORDS))
    tokens = length.to_numpy() // 4 + random.integers(0, 9, count)
    none = failed | undecided
    return pl.DataFrame(
        {
            "case": cases.table["id"].gather(case),
            "model": model_ids(models).gather(model),
            "text": either(failed, None, text),
            "finish_reason": either(cut, "length", either(failed, "error", stopped)),
            "input_tokens": pl.Series(random.integers(700, 1400, count)),
            "output_tokens": pl.Series(np.where(cut, TOKEN_LIMIT, np.where(failed, 0, tokens))),
            "boxes": _boxes(random, cases, case, model, finding, side, absent | none, films),
            "choice": pl.select(
                pl.when(pl.lit(pl.Series(~none))).then(pl.lit(pl.Series(choice)))
            ).to_series(),
            "explanation": either(none, None, explanation),
            "error": either(failed, "no answer within 60 s", None),
            "latency_s": pl.Series(np.round(random.gamma(4.0, 0.6, count), 2)),
            "created": _created(model),
        }
    )


def model_ids(models: int) -> pl.Series:
    """Return the ids of the models in order."""
    return pl.Series([f"model-{number + 1:02d}" for number in range(models)])


def _created(model: Numbers) -> pl.Series:
    days = [_BEGINNING + timedelta(days=int(number)) for number in range(int(model.max()) + 1)]
    return pl.Series(days, dtype=pl.Datetime("us", "UTC")).gather(model)


def _explanations(
    random: np.random.Generator,
    cases: Cases,
    case: Numbers,
    claimed: Numbers,
    side: Numbers,
    letter: pl.Series,
) -> pl.Series:
    words, count = grammar()["explain"], len(case)
    claim = cases.claim
    finding, degree = claim.finding[case, claimed], claim.degree[case, claimed]
    noun = noun_phrases().gather(place_of(finding, side, degree))
    where = places().gather(place_of(finding, side, claim.place[case, claimed]))
    there = joined(phrases(random, words["openings"], count), " ", noun, " ", where)
    names = pl.Series([one["name"] for one in findings()]).gather(finding)
    of_this = joined("No ", names, " is seen")
    clear = either(cases.normal[case], phrases(random, words["clear"], count), of_this)
    return joined(
        phrases(random, words["methods"], count),
        either(claim.absent[case, claimed], clear, there),
        phrases(random, words["reasons"], count),
        phrases(random, words["asides"], count),
        phrases(random, words["others"], count),
        phrases(random, words["endings"], count, slot="LETTER", fill=letter),
    )


def _boxes(
    random: np.random.Generator,
    cases: Cases,
    case: Numbers,
    model: Numbers,
    finding: Numbers,
    side: Numbers,
    nothing: npt.NDArray[np.bool_],
    films: Films,
) -> pl.Series:
    """Return a box on the frontal film for some answers, on the side of the chosen option."""
    count = len(case)
    category = cases.category[case]
    drawn = (
        (random.random(count) < _BOXED)
        & ((category == PRESENCE) | (category == LOCATION))
        & (model % _EVERY_THIRD == 0)
        & sided()[finding]
        & ~nothing
    )
    # The patient's left is at the right of a frontal film.
    left = np.where(side == SIDES.index("left"), 0.55, 0.1)
    box = {
        "x": np.round((left + random.uniform(0, 0.12, count)) * films.width),
        "y": np.round(random.uniform(0.15, 0.6, count) * films.height),
        "w": np.round(random.uniform(0.1, 0.2, count) * films.width),
        "h": np.round(random.uniform(0.08, 0.2, count) * films.height),
    }
    labels = pl.Series([f"{word} {one['name']}" for one in findings() for word in SIDES])
    frame = pl.DataFrame(box).with_columns(
        labels.gather(finding * len(SIDES) + side).alias("label"),
        pl.Series("score", np.round(random.beta(5, 2, count), 3)),
        pl.Series("drawn", drawn),
    )
    one = pl.struct(
        pl.lit("i1").alias("image"),
        "label",
        pl.concat_list("x", "y", "w", "h").alias("box"),
        "score",
    )
    return frame.select(pl.when("drawn").then(pl.concat_list(one))).to_series()


# Entries of two readers in a simulated set: scores, verdicts, comments; some are missing.

READERS: Final = (Reader("reader-1", "First reader"), Reader("reader-2", "Second reader"))
MOST_SCORED: Final = 20_000
"""Number of cases that readers score: no real study scores more."""
_SCORED: Final = (0.95, 0.6)
"""Share of the answers that each reader scored."""
_LEFT_OUT: Final = 0.02
"""Share of single scores that a reader left out."""
_MEANS: Final = {
    "process": 4.2,
    "execution": 3.3,
    "synthesis": 3.6,
    "language": 4.5,
    "image_content": 3.0,
    "image_style": 3.8,
}
_SPREAD_OF_ANSWERS: Final = 0.9
_SPREAD_OF_READERS: Final = 0.6
_VERDICTS: Final = 0.05
"""Share of the answers on which the first reader gave a verdict."""
_FAILURES: Final = ("laterality_error", "omission", "hallucination", "overconfident")
_COMMENTS: Final = 0.02
_REMARKS: Final = ("Side is wrong.", "Good plan, wrong film region.", "Too long.", "Ask again.")
_READERS_BEGINNING: Final = datetime(2025, 4, 1, 9, tzinfo=UTC)
_BETWEEN: Final = timedelta(seconds=7)


def made_readings(random: np.random.Generator, answers: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """Make readers' entries on some answers.

    Parameters
    ----------
    random : numpy.random.Generator
    answers : polars.DataFrame
        Columns ``case``, ``model``, ``text``, ``boxes``.

    Returns
    -------
    dict of str to polars.DataFrame
        The tables ``scores``, ``flags`` and ``comments`` with their declared columns.
    """
    count = len(answers)
    came = answers["text"].is_not_null().to_numpy()
    boxed = answers["boxes"].list.len().fill_null(0).to_numpy() > 0
    quality = {name: random.normal(0, _SPREAD_OF_ANSWERS, count) for name in DIMENSIONS}
    parts = []
    for reader, share in zip(READERS, _SCORED, strict=True):
        scored = came & (random.random(count) < share)
        for name in DIMENSIONS:
            given = scored & (random.random(count) >= _LEFT_OUT)
            if name in IMAGE_DIMENSIONS:
                given &= boxed
            wanted = _MEANS[name] + quality[name] + random.normal(0, _SPREAD_OF_READERS, count)
            parts.append(_scores(answers, given, reader.id, name, wanted))
    verdicts = came & (random.random(count) < _VERDICTS)
    remarked = came & (random.random(count) < _COMMENTS)
    return {
        "scores": pl.concat(parts).with_columns(_times(sum(map(len, parts)))),
        "flags": _verdicts(random, answers.filter(verdicts)),
        "comments": _comments(random, answers.filter(remarked)),
    }


def _scores(
    answers: pl.DataFrame,
    given: npt.NDArray[np.bool_],
    reader: str,
    dimension: str,
    wanted: npt.NDArray[np.float64],
) -> pl.DataFrame:
    return (
        answers.select("case", "model")
        .with_columns(
            pl.lit(reader).alias("reader"),
            pl.lit(dimension).alias("dimension"),
            pl.Series("score", np.clip(np.round(wanted), 1, 5).astype(np.int64)),
        )
        .filter(pl.Series(given))
    )


def _verdicts(random: np.random.Generator, answers: pl.DataFrame) -> pl.DataFrame:
    count = len(answers)
    return answers.select("case", "model").with_columns(
        pl.lit(READERS[0].id).alias("reader"),
        pl.Series("failure", _FAILURES).gather(random.integers(0, len(_FAILURES), count)),
        pl.Series("verdict", ("confirmed", "rejected")).gather(random.integers(0, 2, count)),
        _times(count),
    )


def _comments(random: np.random.Generator, answers: pl.DataFrame) -> pl.DataFrame:
    count = len(answers)
    number = np.arange(count)
    return answers.select("case", "model").with_columns(
        pl.format("comment-{}-{}", "case", pl.col("model")).alias("comment"),
        pl.Series("reader", [one.id for one in READERS]).gather(number % len(READERS)),
        pl.Series("text", _REMARKS).gather(random.integers(0, len(_REMARKS), count)),
        _times(count),
    )


def _times(count: int) -> pl.Series:
    times = [_READERS_BEGINNING + number * _BETWEEN for number in range(count)]
    return pl.Series("created", times, dtype=pl.Datetime("us", "UTC"))


MOST_AS_JSON: Final = 100_000
"""Answers above which the tables are Parquet, as ``FORMAT.md`` recommends."""
_ROWS: Final = 150_000
"""Approximate number of answers in one part, which is the most in memory."""
MOST_FILMS: Final = 5_000
"""The most film files of a set: more would fill a disk, and no page shows more."""
_FILM: Final = (512, 640)
_ADDRESS_FILM: Final = (2048, 2500)
_NOWHERE: Final = "https://nowhere/films"
"""A valid address without any content."""
_NOTICE: Final = "Simulated, for measuring: no patient, no radiologist, no model."


@dataclass(frozen=True)
class MadeSet:
    """The size and contents of a simulated set.

    Attributes
    ----------
    cases, models : int
    pictures : int, optional
        Number of film files, which the studies share in turn. With 0, pictures have addresses
        without content. By default each study has a film, up to :data:`MOST_FILMS`.
    parquet : bool
        Whether small tables are Parquet too.
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
        """Number of film files."""
        if self.pictures is None:
            return min(studies_of(self.cases), MOST_FILMS)
        return self.pictures

    @property
    def answers(self) -> int:
        """Number of answers."""
        return self.cases * self.models


def make_set(
    made: MadeSet, folder: Path, *, told: Callable[[int, int], None] = lambda done, of: None
) -> None:
    """Write a simulated set to a folder that does not exist or is empty.

    It appears completely or not at all. ``told`` is called with the cases done and their total.

    Raises
    ------
    ReviewSetError
        The folder is not empty, or the set would be empty.
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
            save_review_set(
                load_review_set(work), folder, images=work / "images" if made.films else "refer"
            )


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


# A simulated set of generated reports with metric values, in the form of ReXrank's test sets.

METRICS: Final = (
    *(("bleu_2", 0.2, 0.08), ("bertscore", 0.4, 0.1), ("sembscore", 0.43, 0.18)),
    *(("radgraph_f1", 0.19, 0.1), ("radcliq_v1", 1.1, 0.3), ("ratescore", 0.52, 0.1)),
    *(("green", 0.46, 0.2), ("fineradscore", 2.2, 0.9)),
)
"""Name, mean and spread of each metric, approximately as in ReXrank."""
_LOWER_IS_BETTER: Final = frozenset({"radcliq_v1", "fineradscore"})
_IDENTITY: Final = {"implementation": "made", "version": "1", "scope": "findings"}
_OF_CHOICES: Final = ("options", "correct", "explanation", "category")


def make_reports(folder: Path, studies: int, models: int, *, seed: int = 1) -> None:
    """Write a set of ``studies`` studies, each with a report of every model and all its metrics.

    Studies differ in difficulty, and the metrics of one report correlate.
    """
    make_set(MadeSet(studies, models, pictures=0, seed=seed, scored=False), folder)
    cases = _rows(folder / "cases.jsonl")
    for number, case in enumerate(cases):  # one patient for each: the hardest case for resampling
        case |= {"question": "Write the report.", "question_type": "report"}
        case |= {"study_id": f"study-{number:05d}", "patient_id": f"patient-{number:05d}"}
    _write(folder / "cases.jsonl", cases)
    answers = _rows(folder / "answers.jsonl")
    _write(folder / "answers.jsonl", answers)
    random = np.random.default_rng(seed)
    names = list(dict.fromkeys(answer["model"] for answer in answers))
    good = np.linspace(-0.5, 0.5, len(names))
    of_study = random.normal(0, 0.6, len(cases))
    values: list[dict[str, Any]] = []
    for case, hard in zip(cases, of_study, strict=True):
        for name, strength in zip(names, good, strict=True):
            own = strength - hard + random.normal(0, 0.6)
            for metric, mean, wide in METRICS:
                sign = -1 if metric in _LOWER_IS_BETTER else 1
                value = mean + wide * (sign * own + random.normal(0, 0.5))
                row = {"case": case["id"], "model": name, "metric": metric} | _IDENTITY
                values.append(row | {"value": round(max(float(value), 0.01), 4)})
    _write(folder / "metrics.jsonl", values)


def _rows(path: Path) -> list[dict[str, Any]]:
    """Read a table without the columns of choice questions."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return [{key: row[key] for key in row if key not in (*_OF_CHOICES, "choice")} for row in rows]


def _write(path: Path, rows: list[dict[str, Any]]) -> None:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
