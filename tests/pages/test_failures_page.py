"""The Failures page without a browser: rates, whose word counts, on what, and files to take."""

import html
import re
from urllib.parse import parse_qs

import pytest
from support.page_text import drawn

from rexview.analysis import CaseFilter
from rexview.analysis.failures import COUNTED_SOURCES


def words(app):
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]*>", " ", drawn(app))))


@pytest.fixture
def with_verdicts(review_folder):
    (review_folder / "flags.csv").write_text(
        "case,model,reader,failure,verdict\nc2,m,ra,laterality_error,confirmed\n", encoding="utf-8"
    )


def test_rates_say_what_could_be_judged_and_why_the_rest_not(open_app, with_verdicts):
    text = words(open_app("failures"))
    for part in (
        "Laterality errors Can be judged: answers that name a side, or draw a box, which can "
        "be checked against the report, a reference box or the answer itself "
        "Model M 100% 2 of 2 34% to 100% 2 of 2",
        "Model N – – 0 of 1",
        "Shares are of the answers that can be judged or have a reader's verdict; the others are "
        "not counted as right.",
        "95% intervals are Wilson's",
        "McNemar's exact test, p adjusted by Benjamini-Hochberg",
        "Rule: in tests",  # where the failure is explained
    ):
        assert part in text, part


@pytest.mark.parametrize(
    ("counted", "flagged"), [("any", 2), ("rule", 1), ("reader", 1), ("both", 0)]
)
def test_rule_and_reader_are_counted_apart_on_demand(open_app, with_verdicts, counted, flagged):
    app = open_app("failures", counted=counted)
    text = words(app)
    assert re.search(rf"Model M \d+% {flagged} of 2 ", text)
    links = [
        CaseFilter.from_query(parse_qs(address.replace("&amp;", "&").partition("?")[2]))
        for address in re.findall(r'href="(.*?)" data-rx-page', drawn(app))
    ]
    sources = {link.sources for link in links if link.failures == ("laterality_error",)}
    assert sources <= {COUNTED_SOURCES[counted][1]}
    assert sources or not flagged


def test_failures_by_finding_are_sorted_and_open_their_cases(open_app, with_verdicts):
    app = open_app("failures", failure_shown="laterality_error")
    text = words(app)
    assert "Table 5. Laterality errors by finding" in text
    assert "pleural effusion 1 1 of 2 50%" in text
    assert "Not known 1 1 of 2 50%" in text
    assert "finding=pleural_effusion" in drawn(app)
    assert "finding=unknown" in drawn(app)


def test_tables_can_be_taken_along(open_app):
    app = open_app("failures")
    labels = [button.proto.label for button in app.get("download_button")]
    assert labels == ["CSV", "Word"] * 2


def test_a_choice_that_the_link_makes_up_is_passed_over(open_app):
    text = words(open_app("failures", counted="nobody", failure_shown="x", split="y"))
    assert "Rejected flags do not count" in text
