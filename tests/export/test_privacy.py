"""Pseudonyms: whole ids only, the same everywhere, never somebody else's id."""

from hypothesis import given
from hypothesis import strategies as st

from rexview.export.export_records import ExportScore
from rexview.export.pseudonyms import Pseudonyms


def test_whole_words_whatever_their_case():
    hidden = Pseudonyms({"patient": ["MRN0099"], "site": ["Sankt Göran"]})
    assert hidden.text("mrn0099, MRN00991 and xMRN0099") == "patient-001, MRN00991 and xMRN0099"
    assert hidden.text("At SANKT GÖRAN.") == "At site-001."


def test_short_ids_only_where_they_are_named():
    hidden = Pseudonyms({"patient": ["7"], "case": ["c2"]})
    text = "Patient 7: C2 fracture, 7 nodules; cf. case c2 (patient: 7)."
    expected = (
        "Patient patient-001: C2 fracture, 7 nodules; cf. case case-001 (patient: patient-001)."
    )
    assert hidden.text(text) == expected
    assert hidden.has_short


def test_the_longer_id_is_meant():
    hidden = Pseudonyms({"case": ["ABC-1234", "ABC-1234-B"]})
    assert hidden.text("ABC-1234-B") == "case-002"


def test_no_pseudonym_is_a_real_id():
    hidden = Pseudonyms({"case": ["case-002", "case-001"]})
    assert hidden.text("case-001") == "xcase-002"
    assert hidden.of("case", "case-002") == "xcase-001"


@given(st.lists(st.text(min_size=4), min_size=1, max_size=6), st.text())
def test_any_id_and_any_text(ids, text):
    hidden = Pseudonyms({"patient": ids})
    assert isinstance(hidden.text(text), str)
    for id_ in ids:
        assert hidden.of("patient", id_).startswith(("patient-", "xpatient-"))


@given(st.text(alphabet="ABCDEF0123456789", min_size=6, max_size=12), st.text(), st.text())
def test_an_id_between_other_words_is_gone(id_, before, after):
    hidden = Pseudonyms({"patient": [id_]})
    shown = hidden.text(f"{before} {id_} {after}")
    assert " patient-001 " in shown


def test_letters_that_fold_to_two_hide_no_id():
    hidden = Pseudonyms({"patient": ["PAT-9901"], "site": ["Klinik Gießen", "İzmir Merkez"]})
    text = "İzmir: pat-9901 was in KLINIK Gießen, then in İZMİR MERKEZ."
    assert hidden.text(text) == "İzmir: patient-001 was in site-001, then in site-002."


def test_our_own_words_are_no_ids():
    hidden = Pseudonyms({"patient": ["process", "unknown"]})
    score = ExportScore("process", "ra", "process", 4, comment="Patient of unknown age: process.")
    shown = hidden.everywhere(score)
    assert (shown.model, shown.dimension) == ("patient-001", "process")
    assert shown.comment == "Patient of unknown age: patient-001."
