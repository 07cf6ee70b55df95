"""Tables to take away: as CSV and as a document, with the set's notice, hostile text escaped."""

import csv
import io
from html.parser import HTMLParser

import pandas as pd
import pytest

from rexview.analysis.download_files import TableFile, encode_table
from rexview.analysis.download_frames import FAILURE_SHARES, failure_frame, score_frame
from rexview.analysis.failures import build_failure_tables
from rexview.analysis.query.memory.memory_engine import build_memory_engine
from rexview.analysis.scores import MAIN_SCORES, build_score_tables
from rexview.reviewset import load_review_set

HOSTILE = '<script src="http://x"></script>&<img src=x onerror=alert(1)>'
NOTICE = "Simulated <b>data</b>."


@pytest.fixture(scope="module")
def demo():
    return build_memory_engine(load_review_set("assets/demo"))


class Reader(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.tags, self.text = set(), []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)

    def handle_data(self, data):
        self.text.append(data)


def test_a_document_is_whole_and_escaped():
    frame = pd.DataFrame({"Model": [HOSTILE], "Share": [0.125], "p": [0.0004], "n": [1204]})
    text = encode_table(
        TableFile(f"Table 9. {HOSTILE}", lambda: frame, HOSTILE, ("Share",)), "doc", NOTICE
    ).decode()
    found = Reader(text)
    known = {"html", "head", "meta", "title", "style", "body", "table", "caption"}
    assert found.tags == known | {"thead", "tbody", "tr", "th", "td", "p"}
    assert found.text.count(HOSTILE) == 2  # the cell and the caption
    assert NOTICE in found.text
    assert [part for part in found.text if part in ("12.5%", "<0.001", "1,204")] == [
        "12.5%", "<0.001", "1,204"
    ]  # fmt: skip
    assert "http" not in text.replace("http://x", "")


def test_a_csv_carries_every_digit_and_the_notice():
    frame = pd.DataFrame({"Model": ["=1+1"], "Share": [1 / 3]})
    file = TableFile("Table 1. Content, & more", lambda: frame, "")
    rows = list(csv.DictReader(io.StringIO(encode_table(file, "csv", NOTICE).decode("utf-8-sig"))))
    assert rows == [{"Model": "'=1+1", "Share": str(1 / 3), "Notice": NOTICE}]
    assert (file.name("csv"), file.name("doc")) == (
        "table-1-content-more.csv", "table-1-content-more.doc"
    )  # fmt: skip


def test_scores_have_their_n_and_their_comparison(demo):
    frame = score_frame(build_score_tables(demo, resamples=0), MAIN_SCORES)
    content = frame[frame["Score"] == "Content"]
    assert content["Model"].tolist() == [
        "Generalist (simulated)",
        "Medical 4B (simulated)",
        "Generalist (simulated) minus Medical 4B (simulated)",
    ]
    assert content["n"].tolist() == [34, 26, 26]
    assert content["p adjusted"].notna().tolist() == [False, False, True]


def test_failures_have_what_could_be_judged(demo):
    frame = failure_frame(build_failure_tables(demo, resamples=0))
    sides = frame[frame["Failure"] == "Laterality error"]
    assert sides[["Failed", "n", "Answers"]].iloc[:2].to_numpy().tolist() == [
        [6, 56, 62], [5, 40, 62]
    ]  # fmt: skip
    assert sides.iloc[2][["n", "Only first", "Only second"]].tolist() == [39, 4, 4]
    text = encode_table(TableFile("x", lambda: frame, "", FAILURE_SHARES), "csv").decode(
        "utf-8-sig"
    )
    assert text.splitlines()[1].startswith("Laterality error,Generalist (simulated),6,56,0.1071")
    document = encode_table(TableFile("x", lambda: frame, "", FAILURE_SHARES), "doc").decode()
    assert '<td class="n">6</td><td class="n">56</td><td class="n">10.7%</td>' in document


def test_numbers_that_are_so_far_say_so_in_every_form():
    words = "So far: 12 of 400 answers checked for failures."
    frame = pd.DataFrame({"Model": ["m"], "Share": [0.5]})
    table = TableFile("Table 4. Failures by model so far", lambda: frame, "Counted: all.")
    rows = list(
        csv.DictReader(io.StringIO(encode_table(table, "csv", so_far=words).decode("utf-8-sig")))
    )
    assert rows == [{"Model": "m", "Share": "0.5", "So far": words}]
    assert words in encode_table(table, "doc", NOTICE, so_far=words).decode()
    told = TableFile("Table", lambda: frame, f"{words} Counted: all.")
    assert encode_table(told, "doc", so_far=words).decode().count(words) == 1
    assert table.name("csv").endswith("so-far.csv")
