"""Cards, tallies and worklists against a plain reading of the same files."""

from __future__ import annotations

import hashlib
import random
from collections import Counter, defaultdict
from collections.abc import Iterable
from datetime import date
from itertools import combinations
from typing import Any

import pytest
from support.plain_reading import MODELS, READERS, Reading, engine_and_reading, random_filter

from rexview.analysis.query.filter.case_filter import CaseFilter
from rexview.analysis.query.memory.memory_engine import MemoryEngine
from rexview.analysis.query.memory.study_engine import MemoryStudyEngine
from rexview.vocab import DIMENSIONS, FAILURES, IMAGE_DIMENSIONS, TEXT_DIMENSIONS

FILTERS = 150
SEED = "1"
"""What FORMAT.md says of a set that names none."""
EVERYBODY = ("detector", "reader", "both")
Row = dict[str, Any]
Left = list[tuple[CaseFilter, list[Row]]]


@pytest.fixture(scope="module", name="both")
def both_fixture(tmp_path_factory: pytest.TempPathFactory) -> tuple[MemoryEngine, Reading]:
    return engine_and_reading(tmp_path_factory.mktemp("tallies"))


@pytest.fixture(scope="module", name="left")
def left_fixture(both: tuple[MemoryEngine, Reading]) -> Left:
    """Filters with the answers that they leave, as the plain reading has them."""
    _, reading = both
    rng = random.Random(7)
    found = [CaseFilter(), *(random_filter(rng) for _ in range(FILTERS))]
    plain = [sorted(reading.left(reading.conditions(chosen))) for chosen in found]
    answers = [[reading.rows[at] for at in rows if reading.rows[at]["model"]] for rows in plain]
    return list(zip(found, answers, strict=True))


def units(reading: Reading, rows: Iterable[Row], dimension: str) -> dict[Any, dict[str, Row]]:
    """Scores by answer (picture) and reader, of answers that came."""
    found: dict[Any, dict[str, Row]] = defaultdict(dict)
    for row in rows:
        for score in reading.scores[row["case"], row["model"]]:
            if score["dimension"] == dimension and row["status"] == "answered":
                picture = score["image"] if dimension in IMAGE_DIMENSIONS else None
                found[row["case"], row["model"], picture][score["reader"]] = score
    return found


def test_cards(both: tuple[MemoryEngine, Reading], left: Left) -> None:
    engine, reading = both
    every = list(reading.cases)
    rng = random.Random(3)
    for chosen, rows in left:
        ids = rng.sample(every, 4)
        cards = engine.cards(chosen, ids)
        assert [card.case.id for card in cards] == ids
        met = {(row["case"], row["model"]) for row in rows}
        for card in cards:
            of_case = [row for row in reading.rows if row["case"] == card.case.id and row["model"]]
            assert [answer.model for answer in card.answers] == [row["model"] for row in of_case]
            assert card.comments == reading.comments.get(card.case.id)
            for answer, row in zip(card.answers, of_case, strict=True):
                assert answer.status == row["status"]
                assert answer.chosen == ((row["case"], row["model"]) in met)
                assert dict(answer.failures) == row["sources"]
                for name in (*DIMENSIONS, "content", "gap"):
                    assert answer.finals[name] == pytest.approx(row[name]), name


def test_score_tallies(both: tuple[MemoryEngine, Reading], left: Left) -> None:
    engine, reading = both
    for chosen, rows in left:
        tallies = engine.score_tallies(chosen)
        assert tallies.answers == Counter(r["model"] for r in rows if r["status"] == "answered")
        for dimension in (*TEXT_DIMENSIONS, "content", "gap"):
            values = engine.final_scores(chosen, dimension)
            for model in MODELS:
                plain = Counter(
                    round(row[dimension], 9)
                    for row in rows
                    if row["model"] == model and row[dimension] is not None
                )
                counted = tallies.of(dimension, model).by_value()
                assert {round(value, 9): n for value, n in counted.items()} == plain
                given = values.filter(model=model)["value"].to_list()
                assert Counter(round(value, 9) for value in given) == plain
        for dimension in IMAGE_DIMENSIONS:
            marks = units(reading, rows, dimension)
            for model in MODELS:
                plain = Counter(
                    round(sum(one["score"] for one in by.values()) / len(by), 9)
                    for (_, of, _), by in marks.items()
                    if of == model
                )
                counted = tallies.of(dimension, model).by_value()
                assert {round(value, 9): n for value, n in counted.items()} == plain
                answers = {(case, of) for case, of, _ in marks if of == model}
                assert tallies.pictured[dimension].get(model, 0) == len(answers)
                of_answers = engine.final_scores(chosen, dimension).filter(model=model)
                assert of_answers["case"].n_unique() == len(of_answers) == len(answers)


def test_readers(both: tuple[MemoryEngine, Reading], left: Left) -> None:
    engine, reading = both
    for chosen, rows in left[::2]:
        marks = {dimension: units(reading, rows, dimension) for dimension in DIMENSIONS}
        met = {name for of in marks.values() for by in of.values() for name in by}
        assert engine.readers(chosen) == tuple(name for name in READERS if name in met)
        scored = {unit[:2] for of in marks.values() for unit in of}
        assert sum(model.scored for model in engine.tally(chosen).by_model) == len(scored)
        tables, patterns = engine.pair_tables(chosen), engine.score_patterns(chosen)
        assert bool(patterns) == (len(met) > 2)
        for dimension, pattern in patterns.items():
            several = [by for by in marks[dimension].values() if len(by) > 1]
            plain = Counter(
                tuple(sum(one["score"] == level for one in by.values()) for level in range(1, 6))
                for by in several
            )
            found = zip(map(tuple, pattern.patterns.tolist()), pattern.counts, strict=True)
            assert dict(found) == plain
            assert pattern.n_readers == len({name for by in several for name in by})
        for a, b in combinations(engine.readers(chosen), 2):
            cases = engine.pair_cases(chosen, (a, b))
            for dimension in DIMENSIONS:
                shared = [
                    (unit[0], by[a]["score"], by[b]["score"])
                    for unit, by in marks[dimension].items()
                    if {a, b} <= set(by)
                ]
                met_pairs = Counter((one, two) for _, one, two in shared)
                plain_table = [[met_pairs[i, j] for j in range(1, 6)] for i in range(1, 6)]
                assert tables[dimension, a, b].tolist() == plain_table
                points = [(case, abs(one - two)) for case, one, two in shared]
                inside = cases[dimension]
                assert inside.shared == len({case for case, _ in points})
                assert inside.same == len({case for case, n in points if not n})
                assert inside.close == len({case for case, n in points if n <= 1})
                assert inside.apart == len({case for case, n in points if n})
                by_scores = defaultdict(set)
                for case, one, two in shared:
                    by_scores[one, two].add(case)
                assert inside.by_scores == {pair: len(met) for pair, met in by_scores.items()}
                days = Counter(
                    (day_of(by[a]), by[a]["score"], by[b]["score"] if b in by else None)
                    for by in marks[dimension].values()
                    if a in by
                )
                found_days = engine.score_days(chosen, dimension, a, b)
                assert {row[:3]: row[3] for row in found_days.iter_rows()} == days


def day_of(score: Row) -> date | None:
    created = score["created"]
    return date.fromisoformat(created[:10]) if isinstance(created, str) else None


def test_patients(both: tuple[MemoryEngine, Reading], left: Left) -> None:
    engine, reading = both
    rng = random.Random(5)
    for chosen, rows in left:
        failures = rng.sample(tuple(FAILURES), 3)
        sources = rng.choice(((), ("detector", "both"), ("reader", "both"), ("both",)))
        words = rng.choice(((), ("pleural_effusion",), ("unknown",), ("region:pleura",)))
        as_filter = CaseFilter(failures=(), sources=sources, findings=words)
        tallies = engine.judged_tallies(chosen, failures, sources, words)
        pairs = engine.judged_pairs(chosen, failures, sources)
        present = [model for model in MODELS if any(row["model"] == model for row in rows)]
        assert list(pairs) == [(f, *two) for f in failures for two in combinations(present, 2)]
        for failure in failures:
            judged: dict[str, dict[str, bool]] = {}
            about: dict[str, dict[str, bool]] = {}
            for model in present:
                own = [r for r in rows if r["model"] == model and failure in r["judged"]]
                judged[model] = {
                    r["case"]: r["sources"].get(failure) in (sources or EVERYBODY) for r in own
                }
                about[model] = {
                    r["case"]: reading._flagged(r, failure, as_filter, "findings")
                    if words
                    else judged[model][r["case"]]
                    for r in own
                }
                patients: dict[str, list[bool]] = defaultdict(list)
                for case, flagged in about[model].items():
                    patients[reading.cases[case]["patient"]].append(flagged)
                plain = Counter((sum(flags), len(flags)) for flags in patients.values())
                assert counted(tallies.get((failure, model))) == plain
            for a, b in combinations(present, 2):
                both_judged = judged[a].keys() & judged[b].keys()
                pair = pairs[failure, a, b]
                flags = [(judged[a][case], judged[b][case]) for case in both_judged]
                assert pair.only_a == flags.count((True, False))
                assert pair.only_b == flags.count((False, True))
                assert pair.both == flags.count((True, True))
                assert pair.left_out == len(judged[a].keys() ^ judged[b].keys())
                points: dict[str, list[int]] = defaultdict(list)
                for case in both_judged:
                    patient = reading.cases[case]["patient"]
                    points[patient].append(judged[a][case] - judged[b][case])
                plain = Counter((sum(of), len(of)) for of in points.values())
                assert counted(pair.by_patient) == plain


def counted(tally: Any) -> dict[tuple[int, int], int]:
    """A tally of patients by points and answers."""
    if tally is None:
        return {}
    points, answers = tally.points.tolist(), tally.answers.tolist()
    return dict(zip(zip(points, answers, strict=True), tally.patients.tolist(), strict=True))


def test_worklists(both: tuple[MemoryEngine, Reading]) -> None:
    engine, reading = both
    study = MemoryStudyEngine(engine.table.scores.review_set)
    wanted: dict[str, Counter[tuple[str, str]]] = defaultdict(Counter)
    for row in reading.rows:
        if row["model"] and row["status"] == "answered":
            if row["has_text"]:
                wanted[row["case"]].update((row["model"], name) for name in TEXT_DIMENSIONS)
            if row["pictures"]:
                names = [*IMAGE_DIMENSIONS] * row["pictures"]
                wanted[row["case"]].update((row["model"], name) for name in names)
    wanted = {case: items for case, items in wanted.items() if items}
    assert study.n_scorable == len(wanted)
    rng = random.Random(9)
    for _ in range(200):
        some = frozenset(rng.sample([*reading.cases, "gone"], rng.randint(0, 40)))
        assigned = rng.choice((None, some))
        reader = rng.choice(READERS)
        plain = sorted(
            (case for case in wanted if assigned is None or case in assigned),
            key=lambda case: hashlib.sha256(
                "\x1f".join((SEED, reader, "order", case)).encode()
            ).hexdigest(),
        )
        worklist = study.worklist(reader, assigned)
        assert len(worklist) == len(plain)
        start = rng.randint(0, 50)
        assert worklist.page(start, 9) == tuple(plain[start : start + 9])
        case, closed = rng.choice([*reading.cases, "gone"]), set(rng.sample([*reading.cases], 30))
        position = worklist.position(case)
        at = plain.index(case) if case in plain else None
        assert position.total == len(plain)
        assert position.number == (None if at is None else at + 1)
        assert position.before == (plain[at - 1] if at else None)
        assert position.after == next(iter(plain[0 if at is None else at + 1 :]), None)
        turned = plain[at or 0 :] + plain[: at or 0]
        to_do = next((one for one in turned if one not in closed), None)
        assert worklist.next_open(closed, case) == to_do
        assert study.scorable(some) == {one for one in some if one in wanted}
        required: dict[str, Counter[tuple[str, str]]] = defaultdict(Counter)
        for of, model, dimension, _ in study.required(some).iter_rows():
            required[of][model, dimension] += 1
        assert required == {one: wanted[one] for one in some if one in wanted}
