import pytest

from rexview.reviewset.importers import propose_mapping
from rexview.reviewset.importers.table.column_mapping import JudgementColumn
from rexview.reviewset.importers.table.column_names import FIELDS
from rexview.ui.data.mapping_table import KEEP, LEAVE_OUT, MEANINGS, doubled, from_table, to_table


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


def test_a_proposal_read_back_unchanged_means_the_same(proposal):
    back = from_table(proposal, to_table(proposal))
    for field in FIELDS:
        assert back.column_of(field) == proposal.column_of(field)
    assert [(m.column, m.judges, m.reader) for m in back.judgements] == [
        (m.column, m.judges, m.reader) for m in proposal.judgements
    ]
    assert set(back.identity) == set(proposal.identity)
    assert back.extra_columns == proposal.extra_columns
    assert not back.problems()


def test_every_meaning_shown_can_be_read(proposal):
    table = to_table(proposal)
    assert set(table["Meaning"]) <= set(MEANINGS)
    for meaning in MEANINGS:
        edited = table.assign(Meaning=KEEP)
        edited.loc[0, "Meaning"] = meaning
        assert not from_table(proposal, edited).problems()


def test_an_edit_is_taken_over(proposal):
    table = to_table(proposal).set_index("Column")
    table.loc["shoe size", ["Meaning", "Reader"]] = ["Score: Execution", "Dr X"]
    table.loc["question", "Meaning"] = LEAVE_OUT
    table.loc["answer", "Model"] = "GPT"
    edited = from_table(proposal, table.reset_index())
    assert JudgementColumn("shoe size", "execution", "Dr X") in edited.judgements
    assert "question" in edited.identity
    assert edited.column_of("question") is None
    assert [(one.column, one.model, one.field) for one in edited.answers] == [
        ("answer", "GPT", "answer")
    ]


def test_two_columns_of_one_meaning_are_named(proposal):
    table = to_table(proposal)
    assert doubled(table) == []
    table["Meaning"] = FIELDS["question"]
    assert doubled(table) == [FIELDS["question"]]
