"""What an export as DICOM says of patients and people, and the UIDs that it gives."""

import re

import pytest
from support.entries.stored import ANN, comment
from support.exports.dicom_files import PATIENT
from support.exports.dicom_set import UIDS, content_items, write_as_dicom, write_dicom_set
from support.exports.exported_set import write_exported_set

from rexview.export.export_request import ExportRequest
from rexview.reviewset import load_review_set
from rexview.settings import Settings
from rexview.store import open_reviews


def said(report, name):
    """The values of all items of that name."""
    found = []
    for item in content_items(report):
        if item.get("ConceptNameCodeSequence") and (
            item.ConceptNameCodeSequence[0].CodeMeaning == name
        ):
            value = item.get("TextValue") or item.get("PersonName")
            if item.ValueType == "NUM":
                value = float(item.MeasuredValueSequence[0].NumericValue)
            if item.ValueType == "CODE":
                value = item.ConceptCodeSequence[0].CodeMeaning
            found.append(value)
    return found


def every_byte(out):
    return b"".join(path.read_bytes() for path in sorted(out.rglob("*.dcm")))


def test_nothing_of_a_header_but_uids(tmp_path):
    folder = write_dicom_set(tmp_path / "set")
    _, files = write_as_dicom(folder, tmp_path / "out")
    content = every_byte(tmp_path / "out")
    for word in (PATIENT, "Zebedee", "MRN-4711", "19520304", str(tmp_path)):
        assert word.encode() not in content
    assert {str(one.PatientName) for one in files.values()} == {"^"}
    assert {one.PatientID for (case, _), one in files.items() if case == "mixed"} == {"mixed"}
    assert max(len(one.PatientID) for one in files.values()) == 64
    assert {one.PatientComments for one in files.values()} == {"Made for a test."}
    assert files["mixed", "report-01-m"].StudyInstanceUID == "1.2.3.1"[:5] + UIDS["film"][5:-1]


def test_pseudonyms_leave_no_uid_and_no_id(tmp_path):
    folder = write_dicom_set(tmp_path / "set")
    _, files = write_as_dicom(folder, tmp_path / "out", pseudonyms=True)
    content = every_byte(tmp_path / "out")
    for uid in (*UIDS.values(), "1.2.3.4"):
        assert not re.search(rb"(?<![0-9.])" + re.escape(uid.encode()) + rb"(?![0-9.])", content)
    for word in ("mixed", "nameless", "MRN-4711", "film.dcm", "odd.png"):
        assert word.encode() not in content
    assert {case for case, _ in files} == {f"case-{number:03}" for number in range(1, 5)}
    _, again = write_as_dicom(folder, tmp_path / "again", pseudonyms=True)
    ours = {one.SOPInstanceUID for one in files.values()}
    assert ours.isdisjoint(one.SOPInstanceUID for one in again.values())
    assert len(ours) == len(files)


def test_uids_stay_until_something_else_is_said(tmp_path):
    folder = write_exported_set(tmp_path / "set")
    _, first = write_as_dicom(folder, tmp_path / "first")
    _, second = write_as_dicom(folder, tmp_path / "second")
    uids = {key: one.SOPInstanceUID for key, one in first.items()}
    assert uids == {key: one.SOPInstanceUID for key, one in second.items()}
    open_reviews(load_review_set(folder), Settings()).record(
        [comment("k2", "More.", model="m")], ANN
    )
    _, third = write_as_dicom(folder, tmp_path / "third")
    changed = {key for key, one in third.items() if one.SOPInstanceUID != uids[key]}
    assert changed == {("c1", "report-01-m"), ("c1", "selection")}


def test_what_people_said_stands_under_their_name(tmp_path):
    folder = write_exported_set(tmp_path / "set")
    _, files = write_as_dicom(folder, tmp_path / "out", ExportRequest(meeting="m1"))
    answer, case = files["c1", "report-01-m"], files["c1", "report-case"]
    assert said(answer, "Person Observer Name") == ["Reader A^", "Ann A.^"]
    assert said(answer, "Process") == [5, 5]  # the final score, and the reader's
    assert said(answer, "Decision") == ["Retrain"]
    assert 3 in said(answer, "Harm to the patient")
    assert "Serious" in said(answer, "Harm in words")
    assert "Laterality error" in " ".join(said(answer, "Failure"))
    assert said(answer, "Meeting") == ["Chest of c1 (2026-12-01)"]
    assert said(case, "Comment") == ["-3 is what I would give."]
    assert said(case, "Votes") == [3]
    assert said(case, "Shown in the meeting") == [61]
    assert "My secret note." not in every_byte(tmp_path / "out").decode("latin-1")


def test_people_have_numbers_with_pseudonyms(tmp_path):
    folder = write_exported_set(tmp_path / "set")
    write_as_dicom(folder, tmp_path / "out", pseudonyms=True)
    content = every_byte(tmp_path / "out")
    assert b"Reader A" not in content
    assert b"Ann A." not in content
    assert b"Reader 1^" in content


@pytest.mark.parametrize(
    ("wanted", "title"),
    [(None, "For Peer Review"), (ExportRequest(meeting="m1"), "For Conference")],
)
def test_a_case_is_listed_with_what_it_is_for(tmp_path, wanted, title):
    folder = write_exported_set(tmp_path / "set")
    _, files = write_as_dicom(folder, tmp_path / "out", wanted)
    selection = files["c1", "selection"]
    assert selection.ConceptNameCodeSequence[0].CodeMeaning == title
    listed = {
        item.ReferencedSOPSequence[0].ReferencedSOPInstanceUID
        for item in content_items(selection)
        if "ReferencedSOPSequence" in item
    }
    others = {
        one.SOPInstanceUID
        for (case, name), one in files.items()
        if case == "c1" and name != "selection"
    }
    assert listed == others
    told = " ".join(said(selection, "Key Object Description"))
    assert "Made for a test." in told
    assert "burned into pictures" in told


def test_a_code_of_our_own_means_one_thing(tmp_path):
    folder = write_exported_set(tmp_path / "set")
    _, files = write_as_dicom(folder, tmp_path / "out", ExportRequest(meeting="m1"))
    meanings = {}
    for report in files.values():
        for item in content_items(report):
            for keyword in ("ConceptNameCodeSequence", "ConceptCodeSequence"):
                for code in item.get(keyword, ()):
                    if code.CodingSchemeDesignator == "99REXVIEW":
                        value = code.get("CodeValue") or code.LongCodeValue
                        meanings.setdefault(value, set()).add(code.CodeMeaning)
    assert {"failure", "decision", "harm"} <= meanings.keys()
    assert {value: found for value, found in meanings.items() if len(found) > 1} == {}


def test_harm_is_told_in_the_words_of_the_set(tmp_path):
    folder = write_exported_set(tmp_path / "set")
    with (folder / "reviewset.yaml").open("a", encoding="utf-8") as info:
        info.write("harm: harm.yaml\n")
    (folder / "harm.yaml").write_text("levels: {3: Long in hospital. Or worse.}", encoding="utf-8")
    _, files = write_as_dicom(folder, tmp_path / "out", ExportRequest(meeting="m1"))
    told = {word for report in files.values() for word in said(report, "Harm in words")}
    assert "Long in hospital" in told  # what the meeting said of it; "Some" is of another flag
