"""The Scores page without a browser."""

import html
import json
import re
from urllib.parse import parse_qs

import pytest
from support.page_text import drawn, shown, title
from support.small_set import ANSWERS

from rexview.analysis import CaseFilter


def words(app):
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]*>", " ", drawn(app))))


def charts(app):
    return app.get("vega_lite_chart") or app.get("arrow_vega_lite_chart")


@pytest.fixture
def two_readers(review_folder):
    """Give the second case a score of each model and reader, and a tag and a site to split by."""
    rows = [
        f"{case},{model},{reader},{dimension},{score}"
        for case, model, scores in (("c2", "m", (4, 4, 4, 5)), ("c3", "n", (2, 3, 3, 4)))
        for reader in ("ra", "rb")
        for dimension, score in zip(
            ("process", "execution", "synthesis", "language"), scores, strict=True
        )
    ]
    with (review_folder / "scores.csv").open("a", encoding="utf-8") as file:
        file.write("\n".join(rows) + "\n")
    third = {"case": "c3", "model": "n", "text": "None.", "finish_reason": "stop"}
    lines = "\n".join(json.dumps(row) for row in [*ANSWERS, third])
    (review_folder / "answers.jsonl").write_text(lines, encoding="utf-8")
    cases = (review_folder / "cases.jsonl").read_text(encoding="utf-8").splitlines()
    changed = [json.loads(line) | {"site": site} for line, site in zip(cases, "AAB", strict=True)]
    text = "\n".join(json.dumps(case) for case in changed)
    (review_folder / "cases.jsonl").write_text(text, encoding="utf-8")


def test_numbers_of_the_small_set(open_app):
    text = words(open_app("scores"))
    for part in (
        "3 cases, 3 answers of 2 models: 1 with a Content score, 1 answered without one and "
        "1 counted as no full answer. Scored by 1 reader.",
        "Table 1. Content and Language",
        "Content Model M 2.00 ± – – 1 0% 0 of 1 100% 1 of 1",
        "Table 2. Process, Execution and Synthesis",
        "Process Model M 5.00 ± – – 1 100% 1 of 1 0% 0 of 1",
        "Model N – – 0 – –",
        "1 answer counted as no full answer (token limit reached 1)",
        "Model M +3.00 ± – – 1 100% 1 of 1",
        "minimum of the readers' means",
        "– No case has a score for both models.",
    ):
        assert part in text, part
    assert not re.search(r"\b(nan|NaN|None)\b", text)


def test_the_sections_in_order(open_app):
    app = open_app("scores")
    assert title(app) == "Scores"
    text = drawn(app)
    places = [
        text.index(part)
        for part in ("rx-line", "Table 1.", "Table 2.", "Execution-vs-process gap", "Asked")
    ]
    assert places == sorted(places)
    assert len(charts(app)) == 4


def test_every_link_opens_browse_with_a_filter_that_can_be_read(open_app):
    links = re.findall(r'href="(.*?)" data-rx-page', drawn(open_app("scores", published="1")))
    assert len(links) > 20
    for link in links:
        page, _, query = link.replace("&amp;", "&").partition("?")
        assert page == "browse"
        CaseFilter.from_query(parse_qs(query))


def test_two_models_stand_with_their_comparison(open_app, two_readers):
    text = words(open_app("scores"))
    assert "Difference Pairs p adjusted Effect" in text
    assert "Content Model M 3.00 ± 1.41" in text
    assert "only one of the two is scored: Content 3" in text


def test_a_split_is_in_the_link(open_app, two_readers):
    app = open_app("scores", split="site", of="language")
    assert "Means by Site" in words(app)
    assert "A 2 cases Model M" in words(app)
    assert len(charts(app)) == 5
    assert any("Language by Site" in element.value for element in app.markdown)
    app.selectbox(key="scores_split").set_value("").run()
    assert "split" not in app.query_params
    assert "Means by" not in words(app)


def test_an_unknown_split_is_told(open_app, two_readers):
    assert "does not have" in shown(open_app("scores", split="tag:nowhere"))


def test_published_figures_are_asked_for_and_set_apart(open_app):
    app = open_app("scores")
    assert "ChatGPT-o3" not in drawn(app)
    app.toggle(key="scores_published").set_value(True).run()
    assert "".join(app.query_params["published"]) == "1"
    text = words(app)
    assert "Published: other cases and models, not computed here" in text
    assert "2.71 ± 1.31 n 100" in text
    assert "100.0% 1 of 1" in text  # ours: Execution below 3


def test_a_filter_limits_every_number(open_app):
    text = words(open_app("scores", model="n"))
    assert (
        "1 case, 1 answer of 1 model: 0 with a Content score and 1 counted as no full answer."
        in text
    )
    assert "Model M" not in text


def test_without_scores_it_says_where_they_come_from(open_app, review_folder):
    (review_folder / "scores.csv").unlink()
    app = open_app("scores")
    assert "None of these answers has a score" in app.info[0].value
    assert "No full answer" in words(app)


def test_a_filter_that_leaves_nothing_says_so(open_app):
    app = open_app("scores", category="negation_assessment")
    assert "No case matches" in app.info[0].value


def test_without_answers_it_says_what_to_do(open_app, review_folder):
    (review_folder / "answers.jsonl").write_text("", encoding="utf-8")
    (review_folder / "scores.csv").unlink()
    assert "No model has answered" in open_app("scores").info[0].value


def test_hostile_names_stay_text(open_app, review_folder):
    settings = review_folder / "reviewset.yaml"
    evil = '<img src=x onerror=alert(1)>\\"]; *b*'
    text = settings.read_text(encoding="utf-8").replace("Model M", json.dumps(evil))
    settings.write_text(text, encoding="utf-8")
    app = open_app("scores", split="site", published="1")
    assert "<img" not in drawn(app)
    assert "&lt;img src=x" in drawn(app)
