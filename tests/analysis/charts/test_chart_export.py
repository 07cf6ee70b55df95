"""Charts as files: really converted, and read back."""

from __future__ import annotations

import io
import xml.etree.ElementTree as ET
from dataclasses import replace
from typing import Any

import pandas as pd
import pytest
from PIL import Image

from rexview.analysis.charts.export import chart_file_name, export_chart, print_spec
from rexview.analysis.charts.linked_chart import MARK_KEY, LinkedChart
from rexview.analysis.charts.overview import means_chart
from rexview.analysis.download_files import encode_csv
from rexview.analysis.overview import build_overview
from rexview.analysis.query.memory.memory_engine import build_memory_engine
from rexview.errors import ChartError

HOSTILE = {
    "a": '"><script>alert(1)</script><image href="http://localhost:9/x.png"/>',
    "b": "it's \\ \"quoted\" ${1} {signal: 'x'} \u202egnp.exe \x07 \x00 &amp;",
    "c": "=HYPERLINK(1) " + "a very long name " * 40,
}
TEXT = "{http://www.w3.org/2000/svg}text"


@pytest.fixture(name="chart", scope="module")
def chart_fixture(make_set: Any) -> LinkedChart:
    answers = [{"case": "c1", "model": model} for model in HOSTILE]
    scores = [
        {"case": "c1", "model": model, "reader": "r", "dimension": name, "score": score}
        for model in HOSTILE
        for name, score in (("process", 4), ("execution", 2), ("synthesis", 3))
    ]
    review_set = make_set(cases=[{"id": "c1"}], answers=answers, scores=scores)
    numbers = build_overview(build_memory_engine(review_set))
    drawn = means_chart(replace(numbers, models=HOSTILE))
    assert drawn is not None
    return replace(drawn, caption="Mean of 1 answer; 2 <were> left out & counted. " * 4)


def test_svg_has_title_caption_notice_and_names_as_text(chart: LinkedChart) -> None:
    root = ET.fromstring(export_chart(chart, "svg", "Simulated data."))
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    tags = {element.tag.rpartition("}")[2] for element in root.iter()}
    assert not tags & {"script", "image", "foreignObject", "a"}
    told = " ".join("".join(text.itertext()) for text in root.iter(TEXT))
    for part in ("Scores per dimension", "2 <were> left out & counted.", "Simulated data.", "4.00"):
        assert part in told, part
    assert "<script>alert(1)</script>" in told  # as text
    assert "it's \\ \"quoted\" ${1} {signal: 'x'}" in told
    background = next(element for element in root.iter() if element.get("fill") == "white")
    assert background.get("width") == root.get("width")


def test_png_has_two_pixels_a_unit(chart: LinkedChart) -> None:
    drawn = export_chart(chart, "png", "Simulated data.")
    assert drawn.startswith(b"\x89PNG\r\n\x1a\n")
    picture = Image.open(io.BytesIO(drawn))
    svg = ET.fromstring(export_chart(chart, "svg", "Simulated data."))
    wanted = tuple(2 * float(svg.get(side) or 0) for side in ("width", "height"))
    assert picture.size == pytest.approx(wanted, abs=2)
    assert picture.size[0] > 1120
    grey = picture.convert("L")
    assert grey.getpixel((2, 2)) == 255
    assert grey.getextrema()[0] < 60  # ink


def test_csv_keeps_every_digit_and_is_safe_in_spreadsheets(chart: LinkedChart) -> None:
    table = pd.DataFrame(
        {
            "Model": ["=1+1", "+44", "-0.5", "@SUM(A1)", "-x", "\t=2", 'plain, "quoted"\nline'],
            "Mean": [1 / 3, -2.0, 3.0, None, 1e-17, 5.0, 2 / 3],
            "=cmd": [1, 2, 3, 4, 5, 6, 7],
        }
    )
    written = encode_csv(table)
    assert written.startswith("\ufeff".encode())
    read = pd.read_csv(io.BytesIO(written), encoding="utf-8-sig", dtype={"Model": str})
    assert read["Model"].tolist() == [
        *("'=1+1", "+44", "-0.5", "'@SUM(A1)", "'-x", "'\t=2"),
        'plain, "quoted"\nline',
    ]
    assert read.columns[2] == "'=cmd"
    pd.testing.assert_series_equal(read["Mean"], table["Mean"], check_exact=True)
    own = pd.read_csv(io.BytesIO(export_chart(chart, "csv")))
    assert MARK_KEY not in own.columns
    assert own["Model"].tolist()[-1] == f"'{HOSTILE['c']}"


def test_names_of_files_come_from_the_title(chart: LinkedChart) -> None:
    assert chart_file_name(chart, "png") == "scores-per-dimension.png"
    assert chart_file_name(replace(chart, title="../Å: <b> 50 %"), "csv") == "b-50.csv"
    assert chart_file_name(replace(chart, title="…"), "svg") == "chart.svg"


@pytest.mark.parametrize(
    "change",
    [
        {"data": {"url": "http://localhost:9/rows.json"}},
        {"layer": [{"mark": {"type": "image"}}]},
        {"layer": [{"mark": "image"}]},
        {"encoding": {"href": {"field": "Model"}}},
    ],
)
def test_what_refers_outside_is_refused(chart: LinkedChart, change: dict[str, Any]) -> None:
    with pytest.raises(ChartError, match="outside itself"):
        export_chart(replace(chart, spec={**chart.spec, **change}), "png")


def test_the_print_is_light_and_leaves_the_chart_on_screen_alone(chart: LinkedChart) -> None:
    before = str(chart.spec)
    printed = print_spec(chart)
    assert printed["config"]["background"] == "white"
    assert printed["width"] == 560
    assert str(chart.spec) == before
    side_by_side = replace(chart, spec={"hconcat": [{"mark": "bar"}, {"facet": {}, "spec": {}}]})
    first, second = print_spec(side_by_side)["hconcat"]
    assert (first["width"], second["spec"]["width"]) == (560, 560)


def test_a_chart_that_cannot_be_drawn_says_so(chart: LinkedChart) -> None:
    with pytest.raises(ChartError, match="could not be made"):
        export_chart(replace(chart, spec={"mark": "no such mark"}), "svg")


def test_a_chart_that_is_so_far_says_so_in_every_form(chart: LinkedChart) -> None:
    words = "So far: 12 of 400 answers checked for failures."
    read = pd.read_csv(io.BytesIO(export_chart(chart, "csv", so_far=words)), encoding="utf-8-sig")
    assert set(read["So far"]) == {words}
    assert "So far" not in export_chart(chart, "csv").decode()
    assert "So far: 12 of 400" in export_chart(chart, "svg", so_far=words).decode()
