"""What other packages compute, tried with stand-ins that take the same calls."""

import os
from pathlib import Path

import pytest
from support import ROOT
from support.reports.compared_reports import write_reports
from support.reports.metric_packages import standing_in, write_packages

from rexview.errors import MetricsError
from rexview.metrics.blocking_computation import NAMES
from rexview.metrics.external.calculators import CALCULATORS, compute_model_values, load_scorer
from rexview.metrics.identity import known_metric
from rexview.metrics.reference_pairs import pair_with_references
from rexview.reviewset import load_review_set


@pytest.fixture
def packages(tmp_path):
    """The stand-ins, before all that is installed here."""
    with standing_in(write_packages(tmp_path / "packages")) as folder:
        yield folder


@pytest.fixture
def pairs(tmp_path):
    review_set = load_review_set(write_reports(tmp_path / "set"))
    return pair_with_references(review_set, "findings", ("a",)).pairs["a"]


def computed(name, pairs, *, download=False):
    calculator = CALCULATORS[name]
    with load_scorer(calculator, download=download) as scorer:
        return compute_model_values(calculator, scorer, pairs, "findings")


def test_nothing_is_there_without_the_packages():
    missing = {name: one.missing for name, one in CALCULATORS.items()}
    assert all(
        f"pip install {CALCULATORS[name].distribution}" in one for name, one in missing.items()
    )
    with (
        pytest.raises(MetricsError, match="pip install crimson-score"),
        load_scorer(CALCULATORS["crimson"], download=False),
    ):
        pass


@pytest.mark.usefixtures("packages")
@pytest.mark.parametrize(
    ("name", "metric", "version", "values", "n"),
    [
        ("bertscore", "bertscore", "2.2.1 distilbert-base-uncased", (1.0, 45 / 51, 1.0), None),
        (
            *("radcliq", "radcliq_v1", "2.2.1 distilroberta-base, radgraph, CheXbert"),
            *((3.0, 9.0, 3.0), 3),
        ),
        ("sembscore", "sembscore", "2.2.1 CheXbert", (0.75, -0.25, 0.75), None),
        (
            *("ratescore", "ratescore", "0.6.0 RaTE-NER-Deberta, BioLORD-2023-C"),
            *((0.9, 0.1, 0.9), None),
        ),
    ],
)
def test_each_report_gets_its_own_value_with_its_identity(
    pairs, name, metric, version, values, n, capsys
):
    [found] = computed(name, pairs)
    implementation = CALCULATORS[name].distribution
    assert found.identity == (metric, implementation, version, "findings")
    assert [value for _, _, value in found.values] == pytest.approx(values)
    assert [case for case, _, _ in found.values] == ["r1", "r2", "r3"]
    assert (found.n, found.without) == (n, 0)
    assert capsys.readouterr().out == ""


@pytest.mark.usefixtures("packages")
def test_one_call_can_make_several_metrics(pairs):
    levels = computed("radgraph", pairs)
    assert {one.identity for one in levels} == {
        (f"radgraph_{level}", "radgraph", "0.1.18 radgraph-xl", "findings")
        for level in ("simple", "partial", "complete")
    }
    assert [one.values[0][2] for one in levels] == pytest.approx([0.78, 0.53, 0.28])
    found = computed("rouge", pairs)
    assert [one.identity.metric for one in found] == ["rouge_1", "rouge_2", "rouge_l"]
    assert [one.values[0][2] for one in found] == [0, 1, 2]


@pytest.mark.usefixtures("packages")
def test_what_has_no_number_is_left_out_and_counted(pairs):
    [green] = computed("green", pairs)
    assert ([case for case, _, _ in green.values], green.without) == (["r2", "r3"], 1)
    [crimson] = computed("crimson", pairs)  # which is told the age that the first case has
    assert (crimson.values, crimson.without) == ((("r1", "a", -0.5),), 2)


@pytest.mark.usefixtures("packages")
def test_another_number_of_values_than_of_reports_is_refused(pairs):
    with pytest.raises(MetricsError, match=r"1 values of CheXbert accuracy .* for 3 reports"):
        computed("f1chexbert", pairs)


@pytest.mark.usefixtures("packages")
def test_what_goes_wrong_there_is_told_in_one_line_with_what_to_do(pairs):
    with pytest.raises(MetricsError) as told:
        computed("radgraph_radcliq", pairs)
    said = str(told.value)
    assert "radeval failed on radgraph_radcliq (OSError: We couldn't connect" in said
    assert "--download" in said
    assert "\n" not in said


@pytest.mark.usefixtures("packages")
def test_weights_are_fetched_only_where_that_is_allowed(pairs, monkeypatch):
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    seen = {}
    for download in (False, True):
        with load_scorer(CALCULATORS["bertscore"], download=download):
            seen[download] = os.environ["HF_HUB_OFFLINE"]
    assert seen == {False: "1", True: "0"}
    assert "HF_HUB_OFFLINE" not in os.environ
    with pytest.raises(MetricsError, match="allow it with --download"):
        computed("srrbert", pairs)
    assert computed("srrbert", pairs, download=True)[0].identity.metric == "srr_bert"


@pytest.mark.usefixtures("packages")
def test_files_that_packages_leave_behind_go(tmp_path, pairs, monkeypatch):
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    computed("bertscore", pairs)
    assert Path.cwd() == here
    assert not list(here.iterdir())


def test_what_is_made_is_known_by_its_name():
    made = {metric for one in CALCULATORS.values() for metric in one.makes}
    assert all(known_metric(metric).name != metric for metric in made)
    assert all(known_metric(metric).higher_is_better is not None for metric in made)


def test_the_document_has_a_row_for_each():
    text = (ROOT / "docs" / "metrics.md").read_text()
    for name in NAMES:
        [row] = [line for line in text.splitlines() if line.startswith(f"| `{name}` |")]
        if name in CALCULATORS:
            one = CALCULATORS[name]
            assert all(f"`{metric}`" in row for metric in one.makes)
            assert f"| {one.distribution} | `pip install {one.distribution}` |" in row
