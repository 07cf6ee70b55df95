"""The Readers page without a browser: tables, choices in the link, empty states."""

import re
from html import unescape
from urllib.parse import parse_qs

import pytest
from support.page_text import StrictReader, drawn, shown, title

from rexview.analysis import CaseFilter

HEAD = "case,model,reader,dimension,score,comment,created\n"
DIMENSIONS = ("process", "execution")


def write_scores(folder, rows):
    (folder / "scores.csv").write_text(HEAD + "".join(f"{row}\n" for row in rows), encoding="utf-8")


def two_readers(first="ra", second="rb"):
    """Both readers on both answers that came: 4 and 2, then 3 and 3 for execution."""
    return [
        *(
            f"c1,m,{first},execution,4,Side is right,2026-03-01",
            f"c1,m,{second},execution,2,Wrong,",
        ),
        *(f"c2,m,{first},execution,3,,2026-03-09", f"c2,m,{second},execution,3,,"),
    ]


def said_by(app):
    """Return the texts of the page without the escapes of their markdown."""
    return re.sub(r"\\(.)", r"\1", shown(app))


def text_of(app):
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", drawn(app)))


class Tables(StrictReader):
    def check(self, tag, attributes):
        assert not any(name.startswith("on") for name, _ in attributes)
        assert tag not in ("script", "img")


def test_two_readers(open_app, review_folder):
    write_scores(review_folder, two_readers())
    app = open_app("readers")
    assert title(app) == "Readers"
    text = text_of(app)
    assert "Table 3. Agreement of Reader A and rb" in text
    # Two answers, 2 and 0 points apart: MAD 1; same score in 1 of 2; means 3.5 and 2.5.
    assert re.search(r"Execution 2 .* 1\.00 .* 3\.50 ± 0\.71 2\.50 ± 0\.71 50% 50%", text)
    assert "1 answer in 1 case" in text
    assert "Execution: Reader A 4 · rb 2" in text
    # Half have the same score, the other half makes the MAD, none is within one but those.
    opened = {
        unescape(label): CaseFilter.from_query(parse_qs(unescape(query))).reader_pairs
        for query, label in re.findall(
            r'href="browse\?([^"]*)"[^>]*title="([^"]*: [^"]*)"', drawn(app)
        )
    }
    assert opened == {
        "1 answer in 1 case: different scores": ("execution:1..4:ra:rb",),
        "1 answer in 1 case: the same score": ("execution:0:ra:rb",),
        "1 answer in 1 case: at most one point apart": ("execution:0..1:ra:rb",),
    }
    charts = app.get("vega_lite_chart") or app.get("arrow_vega_lite_chart")
    assert len(charts) == 3  # one map, one plot, one of differences: nothing over time
    assert "Reader A: There are too few scores for two blocks of at least 10" in said_by(app)


def test_links_hold_filters_and_html_is_well_formed(open_app, review_folder):
    name = "<img src=x onerror=alert(1)>"
    write_scores(review_folder, [row.replace("Wrong", name) for row in two_readers(second=name)])
    app = open_app("readers")
    html = drawn(app)
    Tables.read(html)
    assert name in re.sub("&lt;", "<", re.sub("&gt;", ">", html))
    links = re.findall(r'href="(.*?)" data-rx-page', html)
    assert len(links) > 8
    pages = set()
    for link in links:
        page, _, query = link.replace("&amp;", "&").partition("?")
        pages.add(page)
        assert CaseFilter.from_query(parse_qs(query)).active
    assert pages == {"browse", "case"}


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([], "None of these answers has a reader's score."),
        (["c1,m,ra,process,4,,"], "Only Reader A has scored these answers"),
        (["c1,m,ra,process,4,,", "c2,m,rb,process,4,,"], "2 readers have scored, but no two"),
        (["c1,n,ra,process,4,,", "c1,n,rb,process,4,,"], "None of these answers"),  # cut off
    ],
)
def test_nothing_to_compare(open_app, review_folder, rows, said):
    write_scores(review_folder, rows)
    app = open_app("readers")
    assert said in app.info[0].value
    assert not app.error


def test_undefined_kappa_gives_its_reason(open_app, review_folder):
    rows = [f"{case},m,{reader},process,4,," for case in ("c1", "c2") for reader in ("ra", "rb")]
    write_scores(review_folder, rows)
    text = text_of(open_app("readers"))
    assert "Both readers gave all 2 answers the score 4: kappa is undefined." in text
    assert "No answer was scored by both readers." in text  # the other dimensions
    assert "nan" not in text.lower()


def test_the_link_chooses_pair_dimension_and_threshold(open_app, review_folder):
    rows = [
        f"{case},m,{reader},{dimension},{1 + (place + number) % 5},,"
        for number, case in enumerate(("c1", "c2"))
        for place, reader in enumerate(("ra", "rb", "rc"))
        for dimension in DIMENSIONS
    ]
    write_scores(review_folder, rows)
    app = open_app("readers", pair=["rc", "rb"], dimension="execution", apart="1")
    text = text_of(app)
    assert "Table 3. Agreement of rb and rc" in text
    assert "All pairs of readers" in text
    assert "All readers together" in text
    assert app.selectbox(key="readers_pair").value == 2
    assert "**Execution: one reader against the other**" in said_by(app)
    assert "2 answers in 2 cases" in text
    app.number_input(key="readers_apart").set_value(3.0).run()
    assert app.query_params["apart"] in ("3", ["3"])
    assert "No answer has two readers 3 points or more apart" in said_by(app)
    strange = open_app("readers", pair=["rc", "x"], dimension="toe", apart="nan")
    assert "Table 3. Agreement of Reader A and rb" in text_of(strange)
    assert strange.number_input(key="readers_apart").value == 2.0


def test_published_figures_come_on_demand_and_apart(open_app, review_folder):
    write_scores(review_folder, two_readers())
    assert "0.215" not in drawn(open_app("readers"))
    app = open_app("readers", published="1")
    html = drawn(app)
    assert "0.215" in html
    assert html.index("rx-published") < html.index("0.215")


def test_a_filter_limits_the_page(open_app, review_folder):
    write_scores(review_folder, two_readers())
    app = open_app("readers", q="Question 2")
    assert "2 readers scored 1 of 1 answer" in text_of(app)
    assert "Readers:" in title(app)
