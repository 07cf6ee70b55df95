"""The printed boards of ReXrank as the page reads them: every figure, and nothing else."""

from __future__ import annotations

import csv

import pytest
from support import ROOT

from rexview.analysis.published.rexrank import (
    EDITIONS,
    METRICS,
    SECTIONS,
    THRESHOLDS,
    published_board,
    published_boards,
    published_error_free,
)

PUBLISHED = ROOT / "assets" / "published"


def rows(name: str) -> list[dict[str, str]]:
    with (PUBLISHED / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("edition", EDITIONS)
def test_each_figure_of_the_paper_is_shown_to_the_last_digit(edition: str) -> None:
    boards = {
        (one.dataset, one.section): one for one in published_boards() if one.edition.id == edition
    }
    given = rows(edition)
    for row in given:
        cell = boards[row["dataset"], row["section"]].cells[row["model"], row["metric"]]
        assert float(cell.text) == float(row["mean"])
        assert len(cell.text) >= len(row["mean"])
        assert cell.half_width is None or float(cell.half_width) == float(row["ci95_half_width"])
    assert sum(len(one.cells) for one in boards.values()) == len(given)
    assert {row["metric"] for row in given} == set(METRICS)
    assert {row["section"] for row in given} <= set(SECTIONS)


def test_cells_by_hand_from_the_tables() -> None:
    board = published_board("rexrank_2024", "ReXGradient", "findings+impression")
    assert board is not None
    assert board.models[0] == "MedVersa"
    cell = board.cells["CheXpertPlus_CheX_MIMIC", "bleu_2"]
    assert (cell.text, cell.half_width, board.studies) == ("0.20", "0.00", None)
    newer = published_board("rexrank_challenge_v1", "ReXGradient", "findings")
    assert newer is not None
    assert newer.cells["MedVersa", "bleu_2"].text == "0.210"
    assert newer.cells["MedVersa", "bleu_2"].half_width is None
    assert (newer.studies, len(newer.models)) == (10_000, 24)
    assert published_board("rexrank_challenge_v1", "ReXGradient", "findings+impression") is None


def test_boards_over_literal_none_sections_say_so() -> None:
    odd = {
        (one.edition.id, one.dataset, one.section): one.oddity
        for one in published_boards()
        if one.oddity
    }
    assert set(odd) == {
        ("rexrank_2024", "CheXpert Plus", "findings"),
        ("rexrank_2024", "CheXpert Plus", "findings+impression"),
        ("rexrank_2024", "MIMIC-CXR", "findings+impression"),
    }
    assert "723 of 2,347 impressions" in odd["rexrank_2024", "MIMIC-CXR", "findings+impression"]
    newer = published_board("rexrank_challenge_v1", "CheXpert Plus", "findings")
    assert newer is not None
    assert newer.studies == 200 - 138  # that edition left them out


def test_error_free_shares_as_printed() -> None:
    found = published_error_free()
    assert len(found) == len(rows("rexrank_error_rates"))
    first = found[0]
    assert (first.dataset, first.studies, first.model) == ("ReXGradient", "abnormal", "MedVersa")
    assert first.shares == dict(zip(THRESHOLDS, ("43.32", "11.7"), strict=True))
    for one in found:  # the second threshold is the stricter one
        significant, actionable = (one.shares[name] for name in THRESHOLDS)
        if significant and actionable:
            assert float(actionable) < float(significant)
