"""Make the studies of a simulated set: findings, reports, pictures, and questions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import polars as pl
from numpy.typing import NDArray

from rexview.columns import CASES
from rexview.untrusted_input import read_untrusted_yaml

# Texts from a grammar: whole columns at a time, so that millions take minutes.

SIDES: Final = ("right", "left")
WAYS: Final = 4
"""Number of degrees, and of places, of each finding."""
Numbers = npt.NDArray[np.int64]


@cache
def grammar() -> dict[str, Any]:
    """Read ``grammar.yaml``."""
    read: dict[str, Any] = read_untrusted_yaml(Path(__file__).with_name("grammar.yaml"))
    return read


@cache
def findings() -> list[dict[str, Any]]:
    """Return the findings of the grammar in order; the position is a finding's number."""
    return list(grammar()["findings"])


def has_side(finding: dict[str, Any]) -> bool:
    """Whether a finding is on one side of the patient."""
    return "SIDE" in finding["degrees"][0]


@cache
def noun_phrases() -> pl.Series:
    """Return phrases such as "a small left pleural effusion", indexed by :func:`place_of`."""
    return _said("degrees", " {name}")


@cache
def places() -> pl.Series:
    """Return phrases such as "at the left base", indexed by :func:`place_of`."""
    return _said("places", "")


def place_of(finding: Numbers, side: Numbers, way: Numbers) -> Numbers:
    """Return the index of a finding with its side and wording in the lists."""
    return (finding * len(SIDES) + side) * WAYS + way


def _said(field: str, after: str) -> pl.Series:
    ways = product(findings(), SIDES, range(WAYS))
    return pl.Series(
        [
            finding[field][way].replace("SIDE", side) + after.format(**finding)
            for finding, side, way in ways
        ]
    )


def drawn(random: np.random.Generator, among: int, count: int) -> Numbers:
    """Draw numbers below ``among``, small ones more often, as sentences recur in real texts."""
    weights = 1 / np.arange(2, among + 2)
    limits = np.cumsum(weights / weights.sum())[:-1]
    return np.searchsorted(limits, random.random(count))


def phrases(
    random: np.random.Generator,
    among: Sequence[str],
    count: int,
    *,
    slot: str = "NUMBER",
    fill: pl.Series | None = None,
) -> pl.Series:
    """Draw phrases; ``fill`` replaces the ``slot`` in a phrase (by default with a number)."""
    place = drawn(random, len(among), count)
    chosen = pl.Series(list(among)).gather(place)
    if not any(slot in phrase for phrase in among):
        return chosen
    if fill is None:
        fill = pl.Series(random.integers(3, 97, count)).cast(pl.String)
    parts = [phrase.partition(slot) for phrase in among]
    before = pl.Series([part[0] for part in parts]).gather(place)
    after = pl.Series([part[2] for part in parts]).gather(place)
    has = pl.Series([bool(part[1]) for part in parts]).gather(place)
    return either(has, joined(before, fill, after), chosen)


def joined(*parts: pl.Series | str) -> pl.Series:
    """Join texts row by row; a null counts as empty."""
    columns = [pl.lit(part) for part in parts]
    return pl.select(pl.concat_str(columns, ignore_nulls=True)).to_series()


def either(
    condition: pl.Series | npt.NDArray[np.bool_],
    yes: pl.Series | str | None,
    no: pl.Series | str | None,
) -> pl.Series:
    """Take one text if the condition holds, otherwise the other."""
    holds = pl.lit(pl.Series(condition))
    return pl.select(pl.when(holds).then(pl.lit(yes)).otherwise(pl.lit(no))).to_series()


def capitalised(texts: pl.Series) -> pl.Series:
    """Capitalise the first letters."""
    return joined(texts.str.head(1).str.to_uppercase(), texts.str.slice(1))


_CASES_A_STUDY: Final = (2, 3, 4, 4, 5, 5, 7)
"""Used in turn: 30 cases in seven studies, as ReXVQA asks four to five questions a study."""
TURN: Final = sum(_CASES_A_STUDY)
_STUDY_IN_TURN: Final = np.repeat(np.arange(len(_CASES_A_STUDY)), _CASES_A_STUDY)
_STUDIES_A_PATIENT: Final = (1, 1, 2, 1, 3)
_PATIENT_IN_TURN: Final = np.repeat(np.arange(len(_STUDIES_A_PATIENT)), _STUDIES_A_PATIENT)
_SITES: Final = 40
_MOST_FINDINGS: Final = 3
NORMAL: Final = 0.3
"""Share of studies without a finding."""
OPTIONS: Final = 4
CATEGORIES: Final = (
    "presence_assessment",
    "location_and_distribution",
    "negation_assessment",
    "differential_diagnosis",
    "geometric_information",
)
PRESENCE, LOCATION, NEGATION, DIFFERENTIAL, GEOMETRY = range(len(CATEGORIES))
SHARES: Final = (0.36, 0.19, 0.2, 0.15, 0.1)
_NEGATION_OPTIONS: Final = ("No", "Yes, on the right", "Yes, on the left", "Yes, on both sides")
_NO_ABNORMALITY: Final = "No acute abnormality"


@dataclass(frozen=True)
class Claim:
    """The claim of each option of each case; arrays of shape (cases, options), the right one first.

    ``finding``, ``side``, ``degree`` and ``place`` are numbers of the grammar. Where ``absent`` is
    true, the claim is that there is nothing (of that finding, or at all in a ``normal`` study).
    """

    finding: Numbers
    side: Numbers
    degree: Numbers
    place: Numbers
    absent: npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Cases:
    """Cases as a table of the declared columns, with the data needed to make answers.

    ``first`` is the position of the right option; claim ``k`` is ``k`` positions after it.
    """

    table: pl.DataFrame
    claim: Claim
    category: Numbers
    normal: npt.NDArray[np.bool_]
    first: Numbers


@dataclass(frozen=True)
class Films:
    """Pictures of the set: the number of files (0: addresses), and their size in pixels."""

    count: int
    width: int
    height: int


def made_cases(
    random: np.random.Generator,
    start: int,
    stop: int,
    films: Films,
    *,
    shares: Sequence[float] = SHARES,
) -> Cases:
    """Make the cases from number ``start``, where a cycle of studies begins, up to ``stop``.

    ``shares`` are the frequencies of :data:`CATEGORIES`. In a normal study (share :data:`NORMAL`)
    everything except negation becomes presence.
    """
    number = np.arange(start, stop)
    study = number // TURN * len(_CASES_A_STUDY) + _STUDY_IN_TURN[number % TURN]
    studies, inside = np.unique(study, return_inverse=True)
    count = len(studies)
    normal = random.random(count) < NORMAL
    found = np.where(normal, 0, 1 + drawn(random, _MOST_FINDINGS, count))
    steps = np.stack([np.zeros(count, int), random.integers(1, 6, count)], axis=1)
    steps = np.column_stack([steps, random.integers(6, 12, count)])
    finding = (drawn(random, len(findings()), count)[:, None] + steps) % len(findings())
    side = random.integers(0, len(SIDES), finding.shape)
    degree = drawn(random, WAYS, finding.size).reshape(finding.shape)
    place = drawn(random, WAYS, finding.size).reshape(finding.shape)
    report = _reports(random, found, finding, side, degree, place)

    cases = len(number)
    normal = normal[inside]
    category = np.searchsorted(np.cumsum(shares)[:-1], random.random(cases))
    category = np.where(normal & (category != NEGATION), PRESENCE, category)
    asked = number % np.maximum(found[inside], 1)
    claim = _claims(
        random, category, normal, *(each[inside, asked] for each in (finding, side, degree, place))
    )
    first = random.integers(0, OPTIONS, cases)
    patient = _patients(studies)
    table = pl.DataFrame(
        {
            "id": _named("vqa-", number),
            "question": _questions(category, claim.finding[:, 0]),
            "question_type": pl.Series(["choice"]).new_from_index(0, cases),
            "category": pl.Series(CATEGORIES).gather(category),
            "tags": _tags(claim.finding[:, 0], category),
            "difficulty": pl.Series(["easy", "medium", "hard"]).gather(drawn(random, 3, cases)),
            "study_id": _named("study-", study),
            "patient_id": _named("patient-", patient[inside]),
            "site": _named("site-", patient[inside] % _SITES, 2),
            "normal": pl.Series(normal),
            "context": _contexts(random, count).gather(inside),
            "report": report.gather(inside),
            "images": _images(studies, films).gather(inside),
            "options": _options(random, category, normal, claim, first),
            "correct": pl.Series(first),
        }
    ).with_columns(_explanation(claim, normal))
    return Cases(table, claim, category, normal, first)


def _named(prefix: str, numbers: Numbers, digits: int = 7) -> pl.Series:
    return joined(prefix, pl.Series(numbers).cast(pl.String).str.zfill(digits))


def _patients(studies: Numbers) -> Numbers:
    turn = len(_PATIENT_IN_TURN)
    patients: Numbers = studies // turn * len(_STUDIES_A_PATIENT)
    return patients + _PATIENT_IN_TURN[studies % turn]


def _claims(
    random: np.random.Generator,
    category: Numbers,
    normal: npt.NDArray[np.bool_],
    finding: Numbers,
    side: Numbers,
    degree: Numbers,
    place: Numbers,
) -> Claim:
    cases = len(category)
    option = np.arange(OPTIONS)

    def spread(column: npt.NDArray[Any]) -> npt.NDArray[Any]:
        return np.repeat(column[:, None], OPTIONS, axis=1)

    where = spread(category)
    others = np.column_stack(
        [finding, *(finding + random.integers(n, n + 4, cases) for n in (1, 5, 9))]
    ) % len(findings())
    of = np.where(where == PRESENCE, others, spread(finding))
    asked_absent = (finding + random.integers(12, len(findings()), cases)) % len(findings())
    of = np.where(where == NEGATION, spread(asked_absent), of)
    turned = (spread(side) + option) % len(SIDES)
    sides = np.where((where == LOCATION) | (where == NEGATION), turned, spread(side))
    degrees = np.where(where == GEOMETRY, (spread(degree) + option) % WAYS, spread(degree))
    put = np.where(where == LOCATION, (spread(place) + option) % WAYS, spread(place))
    nothing = (where == NEGATION) | (spread(normal) & (where == PRESENCE))
    return Claim(of, sides, degrees, put, nothing & (option == 0))


def _options(
    random: np.random.Generator,
    category: Numbers,
    normal: npt.NDArray[np.bool_],
    claim: Claim,
    first: Numbers,
) -> pl.Series:
    """Return the four options in the order shown."""
    diagnoses = grammar()["diagnoses"]
    words = pl.concat(
        [
            capitalised(noun_phrases()),
            capitalised(places()),
            pl.Series(_NEGATION_OPTIONS),
            pl.Series(diagnoses),
            pl.Series([_NO_ABNORMALITY]),
        ]
    )
    places_at, negation_at = len(noun_phrases()), 2 * len(noun_phrases())
    diagnoses_at = negation_at + len(_NEGATION_OPTIONS)
    option = np.arange(OPTIONS)
    where = category[:, None]
    start = random.integers(0, len(diagnoses), (len(category), 1))
    word = np.select(
        [where == LOCATION, where == NEGATION, where == DIFFERENTIAL],
        [
            places_at + place_of(claim.finding, claim.side, claim.place),
            negation_at + option,
            diagnoses_at + (start + option) % len(diagnoses),
        ],
        place_of(claim.finding, claim.side, claim.degree),
    )
    word[normal & (category == PRESENCE), 0] = len(words) - 1
    shown = np.take_along_axis(word, (option - first[:, None]) % OPTIONS, axis=1)
    return (
        pl.DataFrame([words.gather(column) for column in shown.T])
        .select(pl.concat_list(pl.all()))
        .to_series()
    )


def _questions(category: Numbers, finding: Numbers) -> pl.Series:
    asked = [
        "Which of the following is present on this chest radiograph?",
        "Where is the {name}?",
        "Is a {name} seen, and if so, on which side?",
        "Which is the most likely cause of the {name}?",
        "How is the {name} best described?",
    ]
    words = [question.format(**one) for question in asked for one in findings()]
    return pl.Series(words).gather(category * len(findings()) + finding)


def _explanation(claim: Claim, normal: npt.NDArray[np.bool_]) -> pl.Series:
    right = place_of(claim.finding[:, 0], claim.side[:, 0], claim.degree[:, 0])
    names = pl.Series([finding["name"] for finding in findings()]).gather(claim.finding[:, 0])
    there = joined("The report describes ", noun_phrases().gather(right), ".")
    nothing = either(normal, "The report describes no abnormality.", joined("No ", names, "."))
    return either(claim.absent[:, 0], nothing, there).alias("explanation")


def _tags(finding: Numbers, category: Numbers) -> pl.Series:
    kinds = ("presence", "location", "negation", "cause", "size")
    rows = [
        [
            {"name": "class", "values": [one["topic"]]},
            {"name": "region", "values": [one["region"]]},
            {"name": "subcategory", "values": [f"{kind} of {one['name']}"]},
        ]
        for kind in kinds
        for one in findings()
    ]
    words = pl.Series(rows, dtype=CASES.by_name["tags"].dtype)
    return words.gather(category * len(findings()) + finding)


def _contexts(random: np.random.Generator, count: int) -> pl.Series:
    words = grammar()
    return pl.DataFrame(
        {
            "age": pl.Series(random.integers(18, 95, count)).cast(pl.String),
            "sex": pl.Series(["F", "M"]).gather(random.integers(0, 2, count)),
            "indication": phrases(random, words["indications"], count),
            "comparison": phrases(random, words["comparisons"], count),
        }
    ).to_struct()


def _reports(
    random: np.random.Generator,
    found: Numbers,
    finding: Numbers,
    side: Numbers,
    degree: Numbers,
    place: Numbers,
) -> pl.Series:
    words, count = grammar(), len(found)
    topics = np.array([list(words["clear"]).index(one["topic"]) for one in findings()])
    noun = [noun_phrases().gather(row) for row in place_of(finding, side, degree).T]
    where = [places().gather(row) for row in place_of(finding, side, place).T]
    sentences = [phrases(random, words["techniques"], count)]
    for one in range(_MOST_FINDINGS):
        there = found > one
        opening = phrases(random, words["openings"], count)
        change = phrases(random, words["changes"], count)
        size = phrases(random, words["sizes"], count)
        said = joined(opening, " ", noun[one], " ", where[one], change, size, " ")
        sentences.append(either(there, said, ""))
    shown = np.arange(_MOST_FINDINGS) < found[:, None]
    for number, topic in enumerate(words["clear"].values()):
        spoken_of = ((topics[finding] == number) & shown).any(axis=1)
        left_out = spoken_of | (random.random(count) < 0.15)
        sentences.append(either(left_out, "", joined(phrases(random, topic, count), " ")))
    text = joined(*sentences).str.strip_chars()
    probable = joined(phrases(random, words["impressions"], count), noun[0])
    probable = either(found > 1, joined(probable, " and ", noun[1]), probable)
    probable = joined(capitalised(probable), ".", phrases(random, words["follow_ups"], count))
    nothing = phrases(random, words["normal_impressions"], count)
    return pl.DataFrame(
        {
            "findings": joined(text, phrases(random, words["devices"], count)),
            "impression": either(found == 0, nothing, probable),
        }
    ).to_struct()


def _images(studies: Numbers, films: Films) -> pl.Series:
    """Return one frontal film a study; without files, every second study also has a lateral one."""

    def image(key: str, view: pl.Expr, path: pl.Expr) -> pl.Expr:
        size = [pl.lit(films.width).alias("width"), pl.lit(films.height).alias("height")]
        return pl.struct(pl.lit(key).alias("id"), path.alias("path"), view.alias("view"), *size)

    study = pl.lit(pl.Series(studies))
    view = pl.when(study % 3 == 1).then(pl.lit("AP")).otherwise(pl.lit("PA"))
    name = study.cast(pl.String)
    if films.count:
        file = pl.lit(film_names(films.count)).gather(study % films.count)
        return pl.select(pl.concat_list(image("i1", view, file))).to_series()
    one = image("i1", view, pl.concat_str(name, pl.lit("/1.png")))
    two = image("i2", pl.lit("LATERAL"), pl.concat_str(name, pl.lit("/2.png")))
    both = pl.concat_list(one, two)
    return pl.select(pl.when(study % 2 == 0).then(both).otherwise(pl.concat_list(one))).to_series()


def studies_of(cases: int) -> int:
    """Return the number of studies that this many cases are about."""
    turns, rest = divmod(max(cases, 0), TURN)
    begun = int(_STUDY_IN_TURN[rest - 1]) + 1 if rest else 0
    return turns * len(_CASES_A_STUDY) + begun


def film_names(count: int) -> pl.Series:
    """Return the names of the picture files."""
    return pl.Series([f"film-{number:05d}.png" for number in range(count)])


def sided() -> npt.NDArray[np.bool_]:
    """Return whether each finding, by number, is on one side."""
    return np.array([has_side(finding) for finding in findings()])


# Pictures that resemble chest radiographs and compress similarly; drawn, of no patient.

DEPTH = 4095
"""The highest grey level: 12 bits, as from detectors."""


def film(width: int, height: int, seed: int) -> NDArray[np.uint16]:
    """Draw a 12-bit picture with two lungs, a heart, ribs and detector noise.

    Returns
    -------
    array of uint16, shape (height, width)
        Dark where rays pass, like air on a film (MONOCHROME2). Each seed gives another film.
    """
    random = np.random.default_rng(seed)
    y = np.linspace(-1, 1, height, dtype=np.float32)[:, None]
    x = np.linspace(-1, 1, width, dtype=np.float32)[None, :]
    apart, wide, tall, heart = random.uniform((0.36, 0.2, 0.5, 0.1), (0.46, 0.28, 0.66, 0.3))
    lungs = _bell((np.abs(x) - apart) / wide, 4) * _bell(y / tall, 4)
    shadow = _bell((x - 0.15) / (0.2 + heart), 2) * _bell((y - 0.35) / 0.3, 2)
    down, across = 18 * y + np.float32(random.uniform(0, 6)), 6 * np.abs(x)
    waves = np.sin(down) * np.cos(across) + np.cos(down) * np.sin(across)  # sin(down + across)
    ribs = np.clip(waves, 0.6, 1) - 0.6
    grey = 2600 - 1900 * lungs + 900 * shadow + 500 * ribs + 200 * y
    noise = 12 * random.standard_normal(grey.shape, dtype=np.float32)
    drawn: NDArray[np.uint16] = np.clip(grey + noise, 0, DEPTH).astype(np.uint16)
    return drawn


def _bell(values: NDArray[np.float32], power: int) -> NDArray[np.float32]:
    bell: NDArray[np.float32] = np.exp(-(values**power)).astype(np.float32)
    return bell
