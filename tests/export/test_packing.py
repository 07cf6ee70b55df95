"""Films of the HTML file: whole where they fit, else smaller at full depth; scripts joined."""

import re

import numpy as np
import pytest
from support.exports.exported_set import exported
from support.review_folder import named, write_review_set

from rexview.export import html
from rexview.export.export_formats import EXPORT_FORMATS
from rexview.export.export_job import ExportProgress, write_export
from rexview.export.html import MAX_CASE_BYTES
from rexview.export.html.film_packing import (
    MAX_FILM_PIXELS,
    film_from_radiograph,
    pack_films,
    reduce_codes,
)
from rexview.imaging import Radiograph
from rexview.imaging.radiograph import Window


def noise(rows, columns, top=4096):
    values = np.random.default_rng(3).integers(0, top, (rows, columns), dtype=np.uint16)
    return Radiograph(values, "dicom", 12, windows=(Window("DOE^JANE", "linear", 40, 400),))


def test_what_fits_stays_as_it_is():
    (one,) = pack_films([film_from_radiograph(noise(60, 50))], 10**6)
    assert (one.header["packed_width"], one.header["packed_height"]) == (50, 60)
    assert one.header["warnings"] == []
    assert "DOE" not in str(one.header)


@pytest.mark.parametrize("most", [200_000, 50_000])
def test_what_does_not_fit_is_made_smaller_all_alike(most):
    films = [film_from_radiograph(noise(900, 700)), film_from_radiograph(noise(450, 350))]
    found = pack_films(films, most)
    assert sum(len(one.data) for one in found) <= most
    assert sum(len(one.data) for one in found) > most * 0.75
    first, second = (one.header for one in found)
    assert (first["width"], first["height"]) == (700, 900)
    assert first["packed_width"] / first["width"] == pytest.approx(
        second["packed_width"] / second["width"], rel=0.1
    )
    assert first["packed_height"] / first["packed_width"] == pytest.approx(900 / 700, rel=0.01)
    assert "full depth" in first["warnings"][-1]
    assert first["bits"] == 12


def test_a_very_large_film_is_bounded_first():
    codes = film_from_radiograph(Radiograph(np.zeros((4000, 3000), np.uint16), "dicom", 12)).codes
    assert codes.size <= MAX_FILM_PIXELS
    assert codes.dtype == np.uint16


@pytest.mark.parametrize(("rows", "columns", "factor"), [(1001, 777, 2.3), (64, 500, 3.9)])
def test_a_place_stays_where_it_was(rows, columns, factor):
    film = np.zeros((rows, columns), np.uint16)
    x, y = columns * 3 // 4, rows * 9 // 10
    film[y - 8 : y + 9, x - 8 : x + 9] = 60000
    small = reduce_codes(film, factor)
    step = columns / small.shape[1]
    assert small.dtype == np.uint16
    assert small.shape[0] * step >= rows - 1
    weights = small.astype(float)
    across = (weights.sum(axis=0) * (np.arange(small.shape[1]) + 0.5)).sum() / weights.sum() * step
    down = (weights.sum(axis=1) * (np.arange(small.shape[0]) + 0.5)).sum() / weights.sum() * step
    assert across == pytest.approx(x + 0.5, abs=0.5)
    assert down == pytest.approx(y + 0.5, abs=0.5)


def test_the_script_is_whole_and_asks_for_nothing():
    text = html.build_script()
    asks = (
        r"\b(?:fetch|import|importScripts)\(|XMLHttpRequest|WebSocket|Worker\(|EventSource|Beacon"
    )
    assert re.findall(asks, text) == []
    assert text.count("class Viewer ") == 1
    assert "class Painter " in text


@pytest.mark.parametrize(
    "module",
    [
        'import * as all from "./b.js";\n',
        'import "./b.js";\n',
        "export default 1;\n",
        "export { a };\n",
        "const address = import.meta.url;\n",
        'const ends = "</script>";\n',
    ],
)
def test_what_cannot_be_joined_is_refused(monkeypatch, module):
    monkeypatch.setattr(html, "_text", lambda path: module)
    with pytest.raises(ValueError, match=r"joined|would end"):
        html.build_script("a.js")


def test_a_case_takes_no_more_than_it_may(tmp_path):
    images = [
        {"id": str(place), "path": f"{place}.png", "view": "PA", "prior": place > 0}
        for place in range(3)
    ]
    folder = write_review_set(
        tmp_path / "set",
        info={"name": "Deep", "models": named(m="Model M")},
        cases=[{"id": "c", "question": "What?", "images": images}],
        answers=[{"case": "c", "model": "m", "text": "& " * 50_000}],
        pictures={f"{place}.png": noise(1200, 1000, 65536).pixels for place in range(3)},
    )
    content, _ = exported(folder)
    out = tmp_path / "out.html"
    write_export(content, EXPORT_FORMATS["html"], out, ExportProgress())
    text = out.read_text(encoding="utf-8")
    taken = len(text[text.index('<article id="case-1"') : text.rindex("</div></main>")].encode())
    assert MAX_CASE_BYTES * 0.85 < taken <= MAX_CASE_BYTES
