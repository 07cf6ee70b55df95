"""From ten studies to the paper's tables: questions made and chosen, models asked, scored blind."""

import json
import re
import statistics
from html import unescape
from uuid import uuid4

import pytest
from support import model_server
from support.opened_app import opened_set, run_page
from support.page_text import drawn
from support.review_folder import RAMP, write_review_set

from rexview.cli import main
from rexview.people import Person
from rexview.reviewset import load_review_set
from rexview.settings import load_settings
from rexview.store import Entry, open_reviews
from rexview.store.database.connection import close_databases
from rexview.ui.web.saving.entries import SCORE_PAGE, SentEntry
from rexview.ui.web.saving.reader_study import load_reader_study
from rexview.ui.web.saving.route import EntryWriter
from rexview.ui.web.server import review_sets
from rexview.vocab import CRITERIA, QUESTION_TAGS

STUDIES = 10
WRITER, GOOD, POOR = "question-writer", "model-good", "model-poor"
CATEGORIES = ("broad_abnormality", "diagnostic_reasoning", "measurement_temporal")
PROPOSED = {
    "questions": [
        {"question": f"What is abnormal in zone {zone} of this image?", "category": category}
        for zone, category in enumerate((*CATEGORIES, *CATEGORIES[:2]), start=1)
    ]
}
TAGGED = {name: ["Lung"] for name in QUESTION_TAGS}


def rated(*scores):
    criteria = {
        word: {"score": score, "reason": "so"} for word, score in zip(CRITERIA, scores, strict=True)
    }
    return {"json": {**criteria, "risk": {"flag": False, "reason": ""}, "total": sum(scores)}}


RULES = [
    {"match": "Write 5 questions", "model": WRITER, "turns": [{"json": PROPOSED}]},
    {"match": "Tag it on eight", "model": WRITER, "turns": [{"json": TAGGED}]},
    {"match": "zone 3", "model": WRITER, "turns": [rated(5, 5, 4, 5)]},
    {"match": "Score the question", "model": WRITER, "turns": [rated(3, 3, 3, 3)]},
    {"model": GOOD, "turns": [{"text": "A nodule of 2 cm in the right upper zone."}]},
    {"model": POOR, "turns": [{"text": "Nothing abnormal is seen."}]},
]
# Process, Execution, Synthesis, Language of the two readers, by what they read
SCORES = {
    "nodule": {"ra": (5, 4, 5, 5), "rb": (5, 5, 4, 4)},
    "Nothing": {"ra": (3, 1, 2, 5), "rb": (4, 2, 2, 4)},
}
DIMENSIONS = ("process", "execution", "synthesis", "language")


@pytest.fixture(autouse=True)
def plain_environment(tmp_path, monkeypatch):
    monkeypatch.setenv("REXVIEW_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("OPENAI_API_KEY", "a-key-of-a-test")


def write_studies(folder):
    """Write ten studies of a ReXrank kind: reports and images, nothing that is asked."""
    cases = [
        {
            "id": f"s{number}",
            "study_id": f"s{number}",
            "patient_id": f"p{number}",
            "question": "Write the report.",
            "question_type": "report",
            "report": {"findings": f"A nodule of {number + 1} cm in the right upper zone."},
            "images": [{"id": "pa", "path": f"{number}.png", "view": "PA"}],
        }
        for number in range(STUDIES)
    ]
    pictures = {f"{number}.png": RAMP for number in range(STUDIES)}
    return write_review_set(folder, info={"name": "Ten studies"}, cases=cases, pictures=pictures)


def choose_the_best(folder):
    """Choose the candidate of each study that the model scored highest, as a radiologist would."""
    review_set = load_review_set(folder)
    best = {}
    for row in review_set.candidate_ratings.iter_rows(named=True):
        total = sum(row[word] for word in CRITERIA)
        best[row["case"]] = max(best.get(row["case"], (0, "")), (total, row["candidate"]))
    chosen = [
        Entry("select", case, None, candidate, value={"decision": "chosen"})
        for case, (_, candidate) in best.items()
    ]
    open_reviews(review_set, load_settings()).record(chosen, Person("anna", "Anna", "lead"))
    close_databases()
    return len(chosen)


def score_blind(review_set, name):
    """Score every answer on a reader's list, as the Score page sends it: by letter and text."""
    reader = Person(name, name.upper(), "reader")
    reviews = review_sets.reviews(review_set)
    study = load_reader_study(review_set, reader)
    letters = set()
    for case in study.worklist.page(0, len(study.worklist)):
        texts = {answer.model: answer.text for answer in review_set.answers_of(case)}
        writer = EntryWriter(review_set, reviews, reader)
        for letter, model in study.slots(case).items():
            (read,) = [given for word, given in SCORES.items() if word in texts[model]]
            letters.add((letter, model))
            shown = study.shown(case)[letter]
            writer.write(
                [
                    sent(case, letter, shown, dimension, score)
                    for dimension, score in zip(DIMENSIONS, read[name], strict=True)
                ]
            )
        assert not writer.refused
        assert len(writer.saved) == 2 * len(DIMENSIONS)
    return letters


def sent(case, letter, shown, dimension, score):
    return SentEntry(
        token=str(uuid4()),
        case=case,
        kind="score",
        page=SCORE_PAGE,
        slot=letter,
        shown=shown,
        subject=dimension,
        picture=None,
        field="score",
        value=score,
        was=None,
        seen=1_000_000,
    )


def final(word, *names):
    """The readers' means of some dimensions of an answer, the lowest of them."""
    means = {
        dimension: statistics.mean(given[place] for given in SCORES[word].values())
        for place, dimension in enumerate(DIMENSIONS)
    }
    return min(means[name] for name in names)


def test_ten_studies_to_the_tables_of_the_paper(tmp_path, monkeypatch, capsys):
    from sklearn.metrics import cohen_kappa_score

    studies, questions = write_studies(tmp_path / "studies"), tmp_path / "questions"
    with model_server.started(RULES) as server:
        at = ("--base-url", server.base_url)
        assert main(["curate", str(studies), "--model", WRITER, *at]) == 0
        assert load_review_set(studies).candidates.height == 5 * STUDIES
        assert choose_the_best(studies) == STUDIES
        written = ["curated", str(studies), "--out", str(questions), "--copy-images"]
        assert main([*written, "--boxes", "without"]) == 0
        for model in (GOOD, POOR):
            assert main(["run", str(questions), "--model", model, *at]) == 0
    assert main(["check", str(questions)]) == 0
    with opened_set(questions, tmp_path, monkeypatch) as review_set:
        assert {case.question for case in map(review_set.case, review_set.cases["id"])} == {
            "What is abnormal in zone 3 of this image?"
        }
        assert set(review_set.cases["category"]) == {"measurement_temporal"}
        assert score_blind(review_set, "ra") | score_blind(review_set, "rb") == {
            (letter, model) for letter in "AB" for model in (GOOD, POOR)
        }, "whose answer is A changes from case to case"
        page = run_page("scores")
        assert not page.exception
        text = re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]*>", " ", drawn(page))))
        for part in (
            "10 cases, 20 answers of 2 models: 20 with a Content score and 0 counted as "
            "no full answer. Scored by 2 readers.",
            f"Content {GOOD} {final('nodule', *DIMENSIONS[:3]):.2f}",
            f"{POOR} {final('Nothing', *DIMENSIONS[:3]):.2f}",
            f"Process {GOOD} {final('nodule', 'process'):.2f}",
            f"Execution {GOOD} {final('nodule', 'execution'):.2f}",
            f"Synthesis {GOOD} {final('nodule', 'synthesis'):.2f}",
            f"Language {GOOD} {final('nodule', 'language'):.2f}",
        ):
            assert part in text, part
    capsys.readouterr()
    assert main(["stats", str(questions), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    tests = {test["dimension"]: test for test in told["tests"]}
    assert {name: test["n_pairs"] for name, test in tests.items()} == dict.fromkeys(
        ("content", *DIMENSIONS), STUDIES
    )
    # all ten differences go one way: 2 of 2 ** 10 orders of signs; four alike in one family
    assert tests["content"]["p"] == tests["content"]["p_adj"] == pytest.approx(2 / 2**STUDIES)
    assert tests["language"]["p"] is None
    readers = {row["dimension"]: row for row in told["readers"]}
    for place, name in enumerate(DIMENSIONS):
        one, two = (
            [given[reader][place] for given in SCORES.values() for _ in range(STUDIES)]
            for reader in ("ra", "rb")
        )
        kappa = cohen_kappa_score(one, two, weights="quadratic", labels=[1, 2, 3, 4, 5])
        # all Language scores of a reader are alike: no kappa
        assert readers[name]["qwk"] == (None if len(set(one)) == 1 else pytest.approx(kappa))
        assert readers[name]["n"] == 2 * STUDIES
