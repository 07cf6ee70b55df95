"""The bench of the statistics, on sizes that take no time."""

import json

import numpy as np
import pytest

from rexview import cli
from rexview.bench import stats


@pytest.fixture(scope="module")
def rows():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stats, "ROUNDS", 1)
        patch.setattr(stats, "SMALL", (30, 2))
        patch.setattr(stats, "ONE", 200)
        patch.setattr(stats, "_SLACK", 0.2)
        patch.setattr(stats, "MANY", (10, 4))
        patch.setattr(stats, "LARGE", ((40, 2), (20, 3)))
        return stats.run()


def test_every_size_and_target_has_a_row(rows):
    sizes = [(row["cases"], row["models"]) for row in rows if row.get("what") == "whole report"]
    assert sizes == [(30, 2), (10, 4), (40, 2), (20, 3)]
    for row in rows:
        assert row["seconds"] >= 0
        if row.get("target"):
            assert row["reached"] == ("yes" if row["seconds"] < row["target"] else "no")


def test_the_plain_way_stands_beside(rows):
    beside = [row for row in rows if row.get("ratio") is not None]
    assert beside
    for row in beside:
        assert row["plain seconds"] > 0


def test_numbers_that_differ_are_an_error():
    ours = {("content", "a"): (3.0, 2.5, 3.5)}
    stats._same(ours, {("content", "a"): (3.0, 2.51, 3.49)})
    for other in ((3.01, 2.5, 3.5), (3.0, 2.3, 3.5), (np.nan, 2.5, 3.5)):
        with pytest.raises(AssertionError, match="content"):
            stats._same(ours, {("content", "a"): other})


def test_it_prints_as_table_and_json(rows, monkeypatch, capsys):
    monkeypatch.setattr(stats, "run", lambda: rows)
    assert cli.main(["bench", "stats", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == rows
    assert cli.main(["bench", "stats"]) == 0
    printed = capsys.readouterr().out
    assert "whole report" in printed
    assert not {"nan", "None"} & set(printed.split())
