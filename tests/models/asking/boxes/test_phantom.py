"""The phantom, against a server that counts in ways of its own."""

import json
import subprocess
import sys
from dataclasses import replace
from functools import cache
from typing import get_args

import pytest
from support import ROOT
from support.model_server import started
from support.rows import each_row

from rexview import cli
from rexview.models.asking.box_coordinates import from_stored_pixels
from rexview.models.asking.calibration import (
    FILMS,
    draw_film,
    evaluate_replies,
    film_squares,
    phantom_requests,
    save_form,
)
from rexview.models.asking.model_cards import find_card
from rexview.models.asking.prompts import find_prompt
from rexview.models.backend import Parameters
from rexview.text.written_boxes import BoxForm, Convention, Corners

CARD = find_card("gpt-5-mini")
PROMPT = find_prompt("expert-1-boxes", CARD)
KNOWN = [one for one in get_args(Convention) if one != "unknown"]


@cache
def requests_of(**changes):
    card = replace(CARD, **changes)
    return phantom_requests(card, PROMPT, Parameters("m", "chat"))


def answers(requests, form):
    """Answer for each film exactly as a form says."""
    return [
        json.dumps(
            [
                {"label": letter, "box": list(from_stored_pixels(box, form, request.images[0]))}
                for letter, box in film_squares(name).items()
            ]
        )
        for request, name in zip(requests, FILMS, strict=True)
    ]


def test_the_squares_are_where_they_are_said_to_be():
    for name, (width, height) in FILMS.items():
        pixels = draw_film(name)
        assert pixels.shape == (height, width)
        for x, y, w, h in film_squares(name).values():
            inside = pixels[y : y + h, x : x + w]
            assert {int(pixels[y, x]), int(pixels[y + h - 1, x + w - 1])} == {230}
            assert (inside != 230).any()  # the letter
            assert {int(pixels[y - 1, x]), int(pixels[y + h, x])} == {40}


@each_row("shape", [{"longest_side": 2048}, {"longest_side": 896, "square": True}])
@each_row("convention", KNOWN)
@each_row("corners", get_args(Corners))
def test_one_way_of_counting_fits_and_no_other(shape, convention, corners):
    requests = requests_of(**shape)
    form = BoxForm(convention, corners)
    found = evaluate_replies(requests, answers(requests, form), BoxForm())
    assert found.form == form
    assert found.overlap > 0.99
    others = {one: n for one, n in found.tried.items() if one != (convention, corners)}
    assert max(others.values()) < 0.4


def test_what_the_card_says_wins_where_two_are_the_same():
    requests = requests_of(longest_side=None)  # sent as stored
    form = BoxForm("pixels_stored", "xyxy")
    texts = answers(requests, form)
    assert evaluate_replies(requests, texts, form).form.convention == "pixels_stored"
    assert evaluate_replies(requests, texts, BoxForm()).form.convention == "pixels_sent"


@pytest.mark.parametrize(
    "text", ["I see no squares.", "[]", '[{"label": "A", "box": [1, 2, 3, 4]}]']
)
def test_nothing_fits(text):
    found = evaluate_replies(requests_of(), [text, text], BoxForm())
    assert found.form is None


class TestCommand:
    """``python -m rexview calibrate`` in a folder of its own, once as a process of its own."""

    @pytest.fixture(name="run")
    def run_fixture(self, tmp_path, monkeypatch, capsys):
        monkeypatch.chdir(tmp_path)
        monkeypatch.setenv("HOME", str(tmp_path))

        def run(server, *, apart=False):
            arguments = ["calibrate", "--model", "some-model", "--base-url", server.base_url]
            arguments += ["--api", "chat"]
            if not apart:
                status = cli.main(arguments)
                return subprocess.CompletedProcess(arguments, status, *capsys.readouterr())
            return subprocess.run(
                [sys.executable, "-m", "rexview", *arguments],
                env={"PYTHONPATH": str(ROOT), "HOME": str(tmp_path), "POLARS_MAX_THREADS": "1"},
                capture_output=True,
                text=True,
                timeout=120,
            )

        return run

    def turns(self, convention, corners, shift=0):
        """Rules that draw the squares of each film, in pixels as it was sent."""
        rules = []
        for name, (width, height) in FILMS.items():
            fit = 2048 / max(width, height)
            boxes = [[n * fit + shift for n in box] for box in film_squares(name).values()]
            told = {"at": boxes, "labels": list(film_squares(name)), "before": "Here:\n"}
            turn = {"boxes": {**told, "convention": convention, "corners": corners}}
            rules.append({"match": ", ".join(film_squares(name)), "turns": [turn]})
        return rules

    @pytest.mark.parametrize(
        ("convention", "corners"),
        [
            ("pixels_sent", "xyxy"),
            ("normalised_1000", "yxyx"),
            ("normalised_1", "cxcywh"),
            ("normalised_1000", "xywh"),
        ],
    )
    def test_what_is_found_is_written_and_used(self, run, tmp_path, convention, corners):
        (tmp_path / "models.yaml").write_text(
            "# mine\nmodels:\n  - match: some-*\n    images: 3  # so many\n", encoding="utf-8"
        )
        with started(self.turns(convention, corners)) as server:
            ended = run(server, apart=corners == "cxcywh")
            asked = server.requests()
        assert (ended.returncode, len(asked)) == (0, 2), ended.stderr
        assert f"counts as {convention}, {corners}: mean IoU" in ended.stdout
        text = (tmp_path / "models.yaml").read_text(encoding="utf-8")
        assert text.startswith("# mine\n")
        assert "images: 3  # so many" in text
        card = find_card("some-model", config=tmp_path / "models.yaml")
        assert (card.boxes.convention, card.boxes.corners) == (convention, corners)
        assert PROMPT.hash[:12] in card.boxes.calibrated
        assert (card.images, card.draws_boxes) == (3, True)

    def test_where_nothing_fits_nothing_is_written(self, run, tmp_path):
        with started(self.turns("pixels_sent", "xyxy", shift=700)) as server:
            ended = run(server)
        assert ended.returncode == 1
        assert "No way of counting fits" in ended.stdout
        assert not (tmp_path / "models.yaml").exists()

    def test_a_wrong_key_is_one_line(self, run):
        told = {"error": {"status": 401, "code": "invalid_api_key", "message": "Wrong key."}}
        with started([{"turns": [told]}]) as server:
            ended = run(server)
        assert (ended.returncode, ended.stdout) == (1, "")
        assert len(ended.stderr.strip().splitlines()) == 1


def test_a_name_with_signs_of_patterns_fits_itself_only(tmp_path):
    path = save_form("acme/x[1]*", BoxForm("pixels_sent"), tmp_path / "models.yaml")
    assert find_card("acme/x[1]*", config=path).boxes.convention == "pixels_sent"
    assert find_card("acme/x1y", config=path).boxes.convention == "unknown"
    save_form("acme/x[1]*", BoxForm("normalised_1"), path)
    assert find_card("acme/x[1]*", config=path).boxes.convention == "normalised_1"
