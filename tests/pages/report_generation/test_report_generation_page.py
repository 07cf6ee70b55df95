"""The page Report generation without a browser: boards, places, corrections, printed boards."""

import html
import re
from urllib.parse import parse_qs

import pytest
from support.made_rows.reports import MODELS, TABLES
from support.page_text import drawn, shown
from support.review_folder import named, write_review_set
from support.small_set import write_set

from rexview.analysis import CaseFilter
from rexview.analysis.published.rexrank import published_board
from rexview.analysis.query.memory.memory_engine import build_memory_engine
from rexview.reviewset import load_review_set

HOSTILE = '<img src=x onerror="alert(1)"> **x** $y$'


def info(**models):
    return {
        "name": "Reports",
        "models": named(**{model: f"Model {model.upper()}" for model in MODELS} | models),
        "readers": named(ra="Reader A", rb="Reader B"),
    }


@pytest.fixture
def review_folder(tmp_path):
    return write_review_set(tmp_path / "set", info=info(), **TABLES)


def words(app):
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]*>", " ", drawn(app))))


def test_the_board_says_mean_n_identity_and_place(open_app):
    text = words(open_app("report_generation"))
    for part in (
        "6 cases that ask for a report: 18 reports of 3 models",
        "Board: findings",
        "BLEU-2 radeval 2.0",
        "1/RadCliQ-v1 radeval 2.0 computed over n = 6",
        "1/RadCliQ-v1: 1 divided by the mean, never a mean of reciprocals.",
        "resample patients",
    ):
        assert part in text, part
    assert re.search(r"1 \(1 to \d\) Model A 0\.700 n 6 ", text)
    assert re.search(r"Model B 0\.500 n 6 .* 0\.500 n 6", text)  # 1/2 beside the mean of BLEU-2
    assert "Model C 0.180 n 5" in text


def test_any_metric_ranks(open_app):
    text = words(open_app("report_generation", ranked_by="radcliq_v1:radeval:2.0:findings"))
    board = text.split("Board: findings")[1].split("Mean over the answers")[0]
    assert re.findall(r"Model ([ABC]) ", board) == ["A", "C", "B"]
    places = text.split("Place by each metric")[1].split("1 is the best")[0]
    assert re.search(r"Model B 2 .*? 3 ", places)


def test_other_sections_have_a_board_of_their_own(open_app):
    app = open_app("report_generation", scope="not_said")
    assert "scope=not_said" in drawn(app).split("data-rx-page title=")[0]  # to rank by stays there
    text = words(app)
    assert "Board: sections not given" in text
    assert "BLEU-2 computed here" in text
    assert "Model B " not in text.split("Board:")[1].split("Mean over the answers")[0]


def test_each_number_opens_as_many_answers_as_it_counts(open_app, review_folder):
    engine = build_memory_engine(load_review_set(review_folder))
    app = open_app("report_generation")
    links = re.findall(r'<a href="browse\?(.*?)"[^>]*>(.*?)</a>', drawn(app))
    assert len(links) > 20
    for address, label in links:
        query = parse_qs(html.unescape(address))
        opened = engine.tally(CaseFilter.from_query(query))
        text = re.sub(r"<[^>]*>", " ", label)
        if found := re.search(r"\bn ([\d,]+)", text):
            n = int(found[1])
            if "Model C" not in opened.names(engine.facts).values():
                assert opened.answers == n, (query, text)
        elif found := re.search(r"(\d+) of \d+", text):
            assert opened.answers == int(found[1]), (query, text)


def test_groups_have_places_only_from_so_many_answers_on(open_app):
    few = words(open_app("report_generation")).split("BLEU-2 by site")[1].split("Table 4")[0]
    assert "place" not in few.split("BLEU-2 (")[0]
    enough = words(open_app("report_generation", least="3"))
    part = enough.split("BLEU-2 by site")[1].split("Table 4")[0]
    assert re.search(r"Model A 0\.800 n 3 .*? place 1 ", part)
    study = words(open_app("report_generation", split="study"))
    part = study.split("by normal or abnormal study")[1].split("Table 4")[0]
    assert "Normal study 2 cases Abnormal study 3 cases" in part
    assert "1 case without a value left out." in part


def test_error_free_shares_and_preferences(open_app):
    text = words(open_app("report_generation"))
    errors = text.split("Reports without errors")[1].split("Which report readers prefer")[0]
    assert re.search(
        r"Reader A Model A All studies 67% 2 of 3 .*? 67% 2 of 3 .*? 33% 1 of 3", errors
    )
    assert "FineRadScore (gpt)" in errors
    assert "severity 2 (actionable, not urgent) or more" in errors
    preferred = text.split("Which report readers prefer")[1]
    assert re.search(r"1 \(1 to \d\) Model A ", preferred)
    assert "6 comparisons of two reports (1 tie) in 5 cases by 2 readers" in preferred


def test_printed_boards_have_every_figure_and_ours_apart(open_app):
    app = open_app("report_generation", published="1", dataset="IU-Xray")
    text = words(app).split("Published: other studies")[1]
    board = published_board("rexrank_challenge_v1", "IU-Xray", "findings")
    for model in board.models:
        row = " ".join(
            board.cells[model, name].text
            for name in (
                *("bleu_2", "bertscore", "sembscore", "radgraph_f1"),
                *("inv_radcliq_v1", "ratescore", "green", "inv_fineradscore"),
            )
        )
        assert f"{model} {row}" in text
    assert "IU-Xray: findings, 590 studies" in text
    assert "tables 1 to 4" in text
    ours = re.findall(r'<tr class="rx-own">(.*?)</tr>', drawn(app))
    assert len(ours) == 3
    assert "yours" in ours[0]
    assert "0.700" in ours[0]  # the best of ours stands first
    assert "n 6" in ours[0]
    assert "radeval 2.0" in ours[0]
    assert "Another implementation of a metric is another number" in text
    odd = words(
        open_app(
            "report_generation",
            published="1",
            edition="rexrank_2024",
            dataset="MIMIC-CXR",
            section="findings+impression",
        )
    )
    assert "723 of 2,347 impressions" in odd
    assert "none is shown here" in odd  # ours are of the findings


def test_words_from_files_stay_words(open_app, review_folder):
    text = (review_folder / "metrics.jsonl").read_text(encoding="utf-8")
    (review_folder / "metrics.jsonl").write_text(
        text.replace('"radeval"', f'"{HOSTILE}"'.replace('="', '=\\"').replace(')">', ')\\">')),
        encoding="utf-8",
    )
    app = open_app("report_generation", published="1")
    assert "<img" not in drawn(app)
    assert html.escape(HOSTILE) in drawn(app)


class TestWithoutReports:
    @pytest.fixture
    def review_folder(self, tmp_path):
        return write_set(tmp_path / "set")

    def test_one_sentence_and_the_printed_boards(self, open_app):
        app = open_app("report_generation")
        assert "No case here asks for a report" in shown(app)
        text = words(app)
        assert "ReXGradient: findings, 10,000 studies" in text
        assert "MedVersa 0.210" in text
        assert "43.32%" in text


class TestReaders:
    @pytest.fixture
    def review_folder(self, tmp_path):
        said = info()
        said["models"][2]["kind"] = "reader"
        return write_review_set(tmp_path / "set", info=said, **TABLES)

    def test_reports_of_readers_are_named_as_such(self, open_app):
        text = words(open_app("report_generation"))
        assert "Model C (reader) 0.180" in text
        assert "Readers' reports are measured as models' are." in text
