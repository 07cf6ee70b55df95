"""The one form of what benches give: rows, ratios, goals, tables and JSON."""

import json
import sys

import pytest

from bench.measure import (
    Measured,
    at_least,
    at_most,
    document,
    in_turn,
    memory_mb,
    milliseconds,
    missing,
    processor_milliseconds,
    ratio_at_most,
    result,
    text,
)


@pytest.mark.parametrize(
    ("goal", "ours", "alternative", "met"),
    [
        (ratio_at_most(1.3), 130.0, 100.0, True),
        (ratio_at_most(1.3), 131.0, 100.0, False),
        (ratio_at_most(1.3), 130.0, None, None),
        (ratio_at_most(1.3), None, 100.0, None),
        (at_most(100), 100.0, None, True),
        (at_most(100), 101.0, None, False),
        (at_least(0.9), 0.9, None, True),
        (at_least(0.9), 0.89, None, False),
        (at_least(0.9), None, None, None),
        (None, 1.0, 2.0, None),
    ],
)
def test_a_goal_is_held_against_what_was_measured(goal, ours, alternative, met):
    assert result("x", ours, "ms", alternative=alternative, goal=goal).met is met


def test_a_ratio_is_ours_over_the_alternative():
    assert result("x", 50.0, "ms", alternative=200.0, name="pandas").ratio == 0.25
    assert result("x", 50.0, "ms").ratio is None
    assert str(ratio_at_most(0.05)) == "ratio <= 0.05"
    assert str(at_least(1000)) == "ours >= 1000"


def test_measures_take_turns_and_the_first_round_does_not_count():
    calls = []

    def measure(name, values):
        def one():
            calls.append(name)
            return values.pop(0)

        return one

    medians = in_turn(measure("a", [99, 3, 1, 2]), measure("b", [99, 6, 6, 5]), rounds=3)
    assert medians == [2, 6]
    assert calls == ["a", "b"] * 4


def test_times_are_those_of_the_work():
    assert milliseconds(lambda: sum(range(10)))() >= 0
    busy = processor_milliseconds(lambda: sum(range(300_000)))()
    assert busy > 0


def test_what_is_not_installed_is_named_with_how_to_get_it():
    assert missing("numpy") is None
    name = "surely_not_installed"
    assert missing(name) == f"{name} is not installed: pip install {name}"


@pytest.mark.skipif(sys.platform != "linux", reason="there is no /proc")
def test_memory_grows_with_what_is_held():
    before = memory_mb("RssAnon")
    held = bytearray(b"x" * 50_000_000)
    assert memory_mb("RssAnon") > before + 40
    assert memory_mb("VmHWM") >= memory_mb("RssAnon")
    del held


def test_a_run_is_one_json_document_and_tables():
    rows = [
        result("filter", 12.345678, "ms", alternative=100.0, name="pandas", goal=ratio_at_most(1)),
        result("other", None, "ms", note="medspacy is not installed: pip install medspacy"),
    ]
    measured = Measured(rows, {"By form": [{"form": "plain", "n": 3}]}, "Keep in mind.")
    given = json.loads(json.dumps(document("filters", measured), allow_nan=False))
    assert given["bench"] == "filters"
    assert {"processor", "cores", "system"} <= given["machine"].keys()
    assert {"rexview", "python", "polars"} <= given["versions"].keys()
    first = dict(
        zip(
            ("what", "ours", "unit", "alternative", "name", "ratio", "goal", "met", "note"),
            ("filter", 12.35, "ms", 100.0, "pandas", 0.1235, "ratio <= 1", True, ""),
            strict=True,
        )
    )
    assert given["rows"][0] == first
    assert given["details"] == {"By form": [{"form": "plain", "n": 3}]}
    printed = text("filters", measured)
    assert "pip install medspacy" in printed
    assert "By form" in printed
    assert printed.endswith("Keep in mind.")
    assert not {"nan", "None", "True"} & set(printed.split())
