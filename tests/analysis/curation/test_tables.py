"""Numbers and charts of the curated set."""

import pytest
from support.curation.candidate_set import RATINGS, SELECTIONS, rating, write_candidate_set

from rexview.analysis.charts.curation import MAX_TAG_BARS, curation_charts
from rexview.analysis.curation import build_curated_tables, build_curation, sums_caption
from rexview.reviewset import load_review_set
from rexview.vocab import QUESTION_TAGS


def tables_of(folder, **tables):
    return build_curated_tables(
        build_curation(load_review_set(write_candidate_set(folder, **tables)))
    )


def chosen(*names):
    given = {"reader": "anna", "decision": "chosen"}
    return [{"case": case, "candidate": name, **given} for case, name in names]


def test_candidates_are_counted_by_our_sum_and_decision(tmp_path):
    tables = tables_of(tmp_path / "set")
    assert tables.sums == {(11, False): 1, (18, True): 1, (12, False): 1, (17, False): 1}
    assert tables.criteria == {
        ("relevance", 5): 1,
        ("answerability", 4): 1,
        ("complexity", 4): 1,
        ("clarity", 5): 1,
    }
    assert (tables.scored, tables.unscored, tables.low, tables.risky) == (1, 0, 0, 0)
    assert tables.misstated == 1


def test_chosen_questions_are_held_against_the_papers(tmp_path):
    wanted = chosen(("c1", "q-high"), ("c1", "q-low"), ("c1", "q-unscored"), ("c1", "q-compare"))
    tables = tables_of(tmp_path / "set", selections=wanted)
    assert (tables.low, tables.risky, tables.unscored, tables.unflagged) == (2, 1, 1, 1)
    assert sums_caption(tables) == (
        "Of 3 chosen questions scored by a model, 2 have a sum below 16 and 1 a risk flag; in "
        "the paper none had. Sums are computed here, not taken from the model. Left out: 1 chosen "
        "question without all four. For 1 question the model does not state whether it is a risk."
    )


def test_scores_with_one_missing_have_no_sum(tmp_path):
    partial = [*RATINGS[1:], rating("c1", "q-low", "scorer", 5, 5, 5)]
    tables = tables_of(
        tmp_path / "set", candidate_ratings=partial, selections=chosen(("c1", "q-low"))
    )
    assert tables.unscored == 1
    assert not any(is_chosen for _, is_chosen in tables.sums)


def test_charts_show_what_is_counted(tmp_path):
    charts = {chart.title: chart for chart in curation_charts(tables_of(tmp_path / "set"))}
    assert list(charts) == [
        "Sum of the model's scores",
        "Scores by criterion",
        "Categories",
        "Laterality",
        "Subtype",
    ]
    sums = charts["Sum of the model's scores"].table
    assert sums["Questions"].sum() == 4
    assert sums[sums["Decision"] == "Chosen"].set_index("Sum")["Questions"][18] == 1
    laterality = charts["Laterality"].table.set_index("Value")
    assert laterality["Chosen"].to_dict() == {"Right": 1, "Left": 1}


def test_values_beyond_the_commonest_are_drawn_together(tmp_path):
    regions = [f"Region {n}" for n in range(MAX_TAG_BARS + 3)]
    row = {"case": "c1", "candidate": "q-high", "source": "reader", "by": "anna"}
    tags = [{**row, "tags": {"anatomical_region": regions}}]
    charts = curation_charts(tables_of(tmp_path / "set", candidate_tags=tags))
    (region,) = (one for one in charts if one.title == QUESTION_TAGS["anatomical_region"])
    assert len(region.table) == MAX_TAG_BARS + 1
    assert region.table.iloc[-1].to_dict() == {"Value": "3 others", "Chosen": 3, "Offered": 3}


@pytest.mark.parametrize("selections", [[], [{**SELECTIONS[0], "decision": "rejected"}]])
def test_without_a_chosen_question_only_the_sums_are_drawn(tmp_path, selections):
    charts = curation_charts(tables_of(tmp_path / "set", selections=selections))
    assert [chart.title for chart in charts] == ["Sum of the model's scores"]
