"""A review set with a meeting, decisions, comments and scores in its database, to be exported."""

from rexview.cli.results import make_engine, with_finished_reviews
from rexview.export.content_builder import make_content
from rexview.export.export_request import ExportRequest, ExportSource, find_export_cases
from rexview.reviewset import load_review_set
from rexview.settings import Settings
from rexview.store import Entry, open_reviews
from support.entries.stored import ANN, comment, score
from support.small_set import CASES, write_set

IDENTIFYING = {
    "study_id": "ACC-77001",
    "patient_id": "12",
    "site": "Northfield General",
}
TOLD = "Compare with c2. Patient 12 of NORTHFIELD general has 12 ribs; see ACC-77001."


def write_exported_set(folder):
    """Write the set and what people wrote in it; return its folder."""
    first = {
        **CASES[0],
        **IDENTIFYING,
        "report": {"findings": TOLD, "impression": "=HYPERLINK(1)"},
        "reference_boxes": [{"image": "i", "label": "effusion", "box": [60, 60, 30, 30]}],
    }
    write_set(folder, cases=[first, *CASES[1:]])
    reviews = open_reviews(load_review_set(folder), Settings())
    entries = [
        Entry("meeting", subject="m1", value={"name": "Chest of c1", "held": "2026-12-01"}),
        Entry("agenda", "c2", subject="m1", value={"place": 1, "section": "Side"}),
        Entry("agenda", "c1", subject="m1", value={"place": 2, "found_by": "q=12"}),
        Entry("presenter_note", "c1", subject="m1", value={"text": "My secret note."}),
        Entry("vote", "c1", subject="m1", value={"count": 3, "right": {"m": 2, "none": 1}}),
        Entry("discussed", "c1", subject="m1", value={"seconds": 61}),
        Entry(
            "decide",
            "c1",
            "m",
            "m1",
            value={"failure": "laterality_error", "severity": 3, "decision": "retrain"},
        ),
        comment("k1", "-3 is what I would give."),
        score(2, model="n"),
    ]
    reviews.record(entries, ANN)
    return folder


def exported(folder, wanted=None, **how):
    """Return the content of an export, and its pseudonyms."""
    written, reviews = with_finished_reviews(load_review_set(folder))
    source = ExportSource(written, make_engine(written, reviews), reviews)
    return make_content(source, find_export_cases(source, wanted or ExportRequest()), **how)
