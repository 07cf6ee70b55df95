from dataclasses import replace

import pytest

from rexview.importers import propose_mapping
from rexview.importers.table.cells import COLUMN_FIELDS
from rexview.importers.table.column_mapping import JudgementColumn
from rexview.ui.data.column_meanings import (
    KEEP,
    LEAVE_OUT,
    MEANINGS,
    duplicate_meanings,
    mapping_from_choices,
    proposed_choices,
)


@pytest.fixture
def proposal(tmp_path):
    path = tmp_path / "answers.csv"
    path.write_text(
        "case_id,question,model,answer,patient_name,process_reader1,shoe size\n"
        "c1,Is there an effusion?,gpt,Right effusion,Jane Doe,4,42\n"
        "c2,Is there a nodule?,gpt,None,John Doe,2,43\n",
        encoding="utf-8",
    )
    return propose_mapping(path)


def changed(proposal, **changes):
    """Return the choices of a proposal with those of some columns changed."""
    return [replace(one, **changes.get(one.column, {})) for one in proposed_choices(proposal)]


def test_a_proposal_read_back_unchanged_means_the_same(proposal):
    back = mapping_from_choices(proposal, proposed_choices(proposal))
    for field in COLUMN_FIELDS:
        assert back.column_of(field) == proposal.column_of(field)
    assert [(m.column, m.judges, m.reader) for m in back.judgements] == [
        (m.column, m.judges, m.reader) for m in proposal.judgements
    ]
    assert set(back.identity) == set(proposal.identity)
    assert back.extra_columns == proposal.extra_columns
    assert not back.problems()


def test_every_column_has_a_choice_and_all_but_private_ones_an_example(proposal):
    choices = proposed_choices(proposal)
    assert [one.column for one in choices] == list(proposal.columns)
    for one in choices:
        assert bool(one.examples) is not one.private
    assert [one.column for one in choices if one.private] == ["patient_name"]
    assert next(one for one in choices if one.column == "shoe size").examples == ("42", "43")


def test_every_meaning_shown_can_be_read(proposal):
    choices = proposed_choices(proposal)
    assert {one.meaning for one in choices} <= set(MEANINGS)
    for meaning in MEANINGS:
        first, *others = (replace(one, meaning=KEEP) for one in choices)
        edited = [replace(first, meaning=meaning), *others]
        assert not mapping_from_choices(proposal, edited).problems()


def test_an_edit_is_taken_over(proposal):
    choices = changed(
        proposal,
        **{
            "shoe size": {"meaning": "Score: Execution", "reader": "Dr X", "scale": "40-50"},
            "question": {"meaning": LEAVE_OUT},
            "answer": {"model": "GPT"},
        },
    )
    edited = mapping_from_choices(proposal, choices)
    scored = next(one for one in edited.judgements if one.column == "shoe size")
    assert replace(scored, samples=()) == JudgementColumn(
        "shoe size", "execution", "Dr X", scale="40-50"
    )
    assert "question" in edited.identity
    assert edited.column_of("question") is None
    assert [(one.column, one.model, one.field) for one in edited.answers] == [
        ("answer", "GPT", "answer")
    ]


def test_two_columns_of_one_meaning_are_named(proposal):
    assert duplicate_meanings(proposed_choices(proposal)) == []
    choices = [
        replace(one, meaning=COLUMN_FIELDS["question"]) for one in proposed_choices(proposal)
    ]
    assert duplicate_meanings(choices) == [COLUMN_FIELDS["question"]]
