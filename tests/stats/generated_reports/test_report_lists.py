"""The lists of generated reports in the JSON and as text, on files, with numbers by hand."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from support.documented_fields import documented
from support.made_rows.reports import MODELS, TABLES
from support.review_folder import named, write_review_set

from rexview import cli

LISTS = ("boards", "site_ranks", "correlations", "error_free", "preferences")


@pytest.fixture(name="folder", scope="module")
def folder_fixture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("reports") / "set"
    info = {
        "name": "Reports",
        "models": named(**{model: model.upper() for model in MODELS}),
        "readers": named(ra="Reader A", rb="Reader B"),
    }
    return write_review_set(folder, info=info, **TABLES)


@pytest.fixture(name="lists", scope="module")
def lists_fixture(folder: Path) -> dict[str, Any]:
    from contextlib import redirect_stdout
    from io import StringIO

    written = StringIO()
    with redirect_stdout(written):
        assert cli.main(["stats", str(folder), "--json"]) == 0
    found: dict[str, Any] = json.loads(written.getvalue())
    return found


@pytest.mark.parametrize("section", LISTS)
def test_every_field_is_documented_in_its_order(lists: dict[str, Any], section: str) -> None:
    assert lists[section]
    for row in lists[section]:
        assert list(row) == documented(section)


def test_boards_by_hand(lists: dict[str, Any]) -> None:
    found = {(row["metric"], row["implementation"], row["model"]): row for row in lists["boards"]}
    best = found["bleu_2", "radeval", "a"]
    assert best["value"] == best["mean"] == pytest.approx(0.7)
    assert (best["place"], best["n"], best["patients"]) == (1, 6, 5)
    turned = found["radcliq_v1", "radeval", "b"]
    assert (turned["mean"], turned["value"], turned["shown_as"]) == (2.0, 0.5, "inv_radcliq_v1")
    assert (turned["place"], turned["computed_together"]) == (3, [6])
    assert found["bleu_2", "rexview", "a"]["scope"] is None  # another implementation, apart
    assert len(found) == 7


def test_sites_have_too_few_answers_for_places(lists: dict[str, Any]) -> None:
    north = [row for row in lists["site_ranks"] if row["site"] == "North"]
    of_a = next(row for row in north if row["metric"] == "bleu_2" and row["model"] == "a")
    assert of_a["n"] == 3
    assert of_a["value"] == pytest.approx((0.9 + 0.7 + 0.8) / 3)
    assert of_a["place"] is None
    assert of_a["why"]


def test_error_free_shares_by_hand(lists: dict[str, Any]) -> None:
    found = {
        (row["reader"], row["model"], row["studies"], row["free_of_severity"]): row
        for row in lists["error_free"]
    }
    assert found["ra", "a", None, 2]["share"] == pytest.approx(2 / 3)
    assert found["ra", "a", "abnormal", 1]["free"] == 0
    assert found["ra", "a", "normal", 1]["free"] == 1
    assert found["fineradscore:gpt", "a", None, 3]["share"] == 1


def test_preferences_by_hand(lists: dict[str, Any]) -> None:
    found = {row["model"]: row for row in lists["preferences"]}
    assert (found["a"]["won"], found["a"]["tied"], found["a"]["lost"]) == (2, 1, 1)
    assert (found["c"]["n"], found["c"]["won"], found["c"]["lost"]) == (2, 1, 1)
    assert found["a"]["strength"] - found["b"]["strength"] == pytest.approx(0.5108, abs=1e-3)


def test_numbers_are_never_nan_and_nulls_say_why(lists: dict[str, Any]) -> None:
    json.dumps(lists, allow_nan=False)
    for section in LISTS:
        for row in lists[section]:
            if row.get("low", 0) is None or row.get("place", 0) is None:
                assert row["why"], (section, row)


def test_the_tables_are_written_for_a_terminal(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["stats", str(folder)]) == 0
    written = capsys.readouterr().out
    assert "Report generation: boards" in written
    assert re.search(r"findings\s+inv_radcliq_v1\s+radeval 2.0\s+b\s+6\s+0.500", written)
    assert "Report generation: preferences" in written


def test_a_reason_says_of_which_two_metrics_it_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [{**row, "value": 1 if row["n"] else row["value"]} for row in TABLES["metrics"][:-2]]
    info = {"name": "Reports", "models": named(a="A", b="B", c="C")}
    folder = write_review_set(tmp_path / "set", info=info, **{**TABLES, "metrics": rows})
    assert cli.main(["stats", str(folder)]) == 0
    written = capsys.readouterr().out
    for coefficient in ("pearson", "kendall"):
        apart = f"bleu_2 (radeval 2.0) radcliq_v1 (radeval 2.0) findings {coefficient}"
        assert apart in written


def test_a_reciprocal_of_single_answers_is_not_averaged(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [{**row, "metric": "inv_radcliq_v1"} for row in TABLES["metrics"]]
    info = {"name": "Reports", "models": named(a="A", b="B", c="C")}
    folder = write_review_set(tmp_path / "set", info=info, **{**TABLES, "metrics": rows[:6]})
    assert cli.main(["stats", str(folder), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["boards"] == []
