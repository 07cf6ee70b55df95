"""Answers of a made set: choices, explanations, boxes, and mistakes of known kinds."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Final

import numpy as np
import numpy.typing as npt
import polars as pl

from rexview.bench.made_set.phrases import (
    SIDES,
    Numbers,
    either,
    findings,
    grammar,
    joined,
    noun_phrases,
    phrases,
    place_of,
    places,
)
from rexview.bench.made_set.studies import (
    LOCATION,
    OPTIONS,
    PRESENCE,
    Cases,
    Films,
    sided,
)

TOKEN_LIMIT: Final = 512
_BEST: Final = 0.86
_WORST: Final = 0.58
"""Shares of right choices of the first and the last model."""
_SIDE_SWAPPED: Final = 0.015
_CUT_OFF: Final = 0.012
_NO_CHOICE: Final = 0.004
_FAILED: Final = 0.002
_BOXED: Final = 0.6
"""Share of what could be boxed that is, by models that draw boxes."""
_STOP_WORDS: Final = ("stop", "end_turn", "STOP", "eos")
_BEGINNING: Final = datetime(2025, 3, 1, tzinfo=UTC)
_EVERY_THIRD: Final = 3
_EVERY_FOURTH: Final = 4


def draws_boxes(model: int) -> bool:
    """Whether the model with that number draws boxes: every third one."""
    return model % _EVERY_THIRD == 0


def made_answers(
    random: np.random.Generator, cases: Cases, models: int, films: Films
) -> pl.DataFrame:
    """Make one answer of each model to each case, as a table of the declared columns.

    Every fourth model gives the letter as its text and the explanation in its own column; the
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
    """Return the ids of the models in their order."""
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
    """One box on the frontal film, on the side that the chosen option names, for some answers."""
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
