import re

from streamlit.testing.v1 import AppTest
from support import ROOT
from support.page_text import drawn, title, unlabelled

from rexview.analysis import CaseFilter


def test_numbers_of_the_small_set(open_app):
    app = open_app()
    text = re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", drawn(app)))
    for part in (
        "3 Cases",
        "3 Answers",
        "1 of 3 Answers scored",
        "1 of 3 No full answer",
        "2 Models",
        "Laterality errors A finding is placed on the wrong side. "
        "Model M 1 of 1 answer 1 rule only",
        "Model N none of 1 answer can be judged",
        "Model M 2.00 n 1 5.00 n 1",
    ):
        assert part in text, part
    assert title(app) == "Small set"


def test_every_link_holds_a_filter_that_can_be_read(open_app):
    from urllib.parse import parse_qs

    links = re.findall(r'href="(.*?)" data-rx-page', drawn(open_app()))
    assert len(links) > 12
    for link in links:
        page, _, query = link.replace("&amp;", "&").partition("?")
        assert page in ("browse", "case")
        CaseFilter.from_query(parse_qs(query))


def test_charts_and_their_tables(open_app):
    app = open_app()
    assert len(app.get("vega_lite_chart") or app.get("arrow_vega_lite_chart")) == 3
    assert not app.get("download_button")  # nothing is prepared before it is asked for
    app.session_state["overview_chart_0_table"] = True
    app.run()
    (table,) = [html for html in app.get("html") if "rx-behind" in html.proto.body]
    written = unlabelled(table.proto.body)
    rows = re.findall(r"<tr><td>(.*?)</td><td>Model M</td><td.*?>(.*?)</td>", written)
    assert dict(rows) == {
        "Content": "2",
        "Process": "5",
        "Execution": "2",
        "Synthesis": "3",
        "Language": "4",
    }
    assert [button.proto.label for button in app.get("download_button")] == ["PNG", "SVG", "CSV"]


def test_without_scores_the_charts_say_so(open_app, review_folder):
    (review_folder / "scores.csv").unlink()
    app = open_app()
    assert "No answer has been scored yet" in app.info[0].value


def test_a_filter_limits_every_number(open_app):
    app = open_app(model="n")
    text = re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", drawn(app)))
    assert "1 of 3 Cases" in text
    assert "1 Answers" in text
    assert "Model M" not in text.split("Most severe first")[0]


def write_second_reader(folder):
    """Reader B scores Process and Execution the other way round than Reader A (5 and 2)."""
    with (folder / "scores.csv").open("a", encoding="utf-8") as file:
        for dimension, score in (("process", 2), ("execution", 5), ("synthesis", 3)):
            file.write(f"c1,m,rb,{dimension},{score}\n")


def content_of(app):
    cell = r'<th scope="row">Model M</th><td><a [^>]*><b>([\d.]+)</b>'
    return re.search(cell, drawn(app)).group(1)


def test_the_order_of_the_link_holds_for_numbers_and_links(open_app, review_folder):
    write_second_reader(review_folder)
    assert content_of(open_app()) == "3.00"
    app = open_app(content_order="minimum_first")
    assert content_of(app) == "2.00"
    assert any("mean of the readers' minimums" in caption.value for caption in app.caption)
    links = re.findall(r'href="(.*?)" data-rx-page', drawn(app))
    assert links
    assert all("content_order=minimum_first" in link for link in links)


def test_an_unknown_order_is_told(open_app):
    app = open_app(content_order="*best*")
    assert any("unknown order of Content" in item.value for item in app.warning)


def test_what_a_new_session_did_not_hear_is_done_before_the_page_runs(open_app):
    """The rest of it: ``tests/ui/web/streamlit_adapter/test_pressed.py``."""
    open_app()
    app, done = AppTest.from_file(str(ROOT / "app.py"), default_timeout=180), []
    app.session_state["pressed_unheard"] = done.append, ("told",)
    assert not app.run().exception
    assert done == ["told"]


def test_it_opens_with_the_worst_cases_and_their_class_is_no_tables(open_app):
    text = drawn(open_app())
    assert text.index("Look here first") < text.index("rx-tiles")
    assert '<div class="rx-look-first"><a href="case?' in text
    style = (ROOT / "rexview/ui/web/app/style.css").read_text(encoding="utf-8")
    assert ".rx-first" not in style  # rows of tables have it
