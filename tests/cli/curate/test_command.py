"""``python -m rexview curate``: asked over real HTTP, kept, told, gone on with."""

import json
import signal
import subprocess
import sys
import time

import pytest
from support import ROOT
from support.review_folder import RAMP, write_review_set
from support.runs.killed_run import environment

from rexview.cli import main
from rexview.cli.reviews import open_set_reviews
from rexview.curation.candidates import summarize_candidates
from rexview.people import Person
from rexview.reviewset import load_review_set
from rexview.store import Entry, merge_reviews
from rexview.vocab import CRITERIA, QUESTION_TAGS

pytestmark = pytest.mark.usefixtures("asks_models")

MODEL = "gpt-5-mini"
STUDIES = 3
PROPOSED = {
    "questions": [
        {"question": f"Which {word} is abnormal in this image?", "category": "broad_abnormality"}
        for word in ("lung zone", "pleural space")
    ]
}
RATED = {
    **{name: {"score": n, "reason": "so"} for n, name in enumerate(CRITERIA, 2)},
    "risk": {"flag": False, "reason": ""},
    "total": 15,
}
TAGGED = {name: ["Lung"] for name in QUESTION_TAGS}
PROPOSE, RATE, TAG = "Write 2 questions", "Score the question", "Tag it on eight"
RULES = [
    {"match": PROPOSE, "turns": [{"json": PROPOSED}]},
    {"match": RATE, "turns": [{"json": RATED}]},
    {"match": TAG, "turns": [{"json": TAGGED}]},
]


@pytest.fixture
def folder(tmp_path):
    cases = [
        {
            "id": f"c{n}",
            "study_id": f"s{n // 2}",
            "question": "What is seen?",
            "report": {"findings": f"Effusion of {n // 2 + 1} cm on the left."},
            "context": {"age": "64", "indication": f"Cough since day {n // 2 + 1}"},
        }
        for n in range(2 * STUDIES)
    ]
    return write_review_set(tmp_path / "set", info={"name": "Curate"}, cases=cases)


def arguments(folder, server, *more):
    about = ("--model", MODEL, "--base-url", server.base_url, "--candidates", "2")
    return ["curate", str(folder), *about, *more]


def curated(folder, server, *more):
    return main(arguments(folder, server, *more))


def asked(server, words):
    return [one for one in server.requests() if words in one["text"]]


def rows(folder, table):
    return list(getattr(load_review_set(folder), table).iter_rows(named=True))


def heights(folder):
    found = load_review_set(folder)
    return tuple(
        getattr(found, name).height
        for name in ("candidates", "candidate_ratings", "candidate_tags")
    )


def told_steps(capsys):
    return {one["step"]: one for one in json.loads(capsys.readouterr().out)["steps"]}


def test_all_three_steps_in_one_call(folder, server, capsys):
    before = {path: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    assert curated(folder, server) == 0
    assert "propose: 3 of 3 answered. 6 questions in candidates/" in capsys.readouterr().out
    assert heights(folder) == (6, 6, 6)
    first = rows(folder, "candidates")[0]
    assert first["candidate"].startswith("q-")
    assert len(first["candidate"]) == 14
    given = ("case", "source", "by", "prompt_id", "category", "question_type")
    assert tuple(first[name] for name in given) == (
        *("c0", "model", MODEL, "propose-2", "broad_abnormality", "open"),
    )
    assert json.loads(first["extra"]) == {"from": "findings"}
    assert first["run_id"] in {run.name for run in (folder / "curating").iterdir()}
    rating = rows(folder, "candidate_ratings")[0]
    assert [rating[name] for name in CRITERIA] == [2, 3, 4, 5]
    assert (rating["risk"], rating["stated_total"], rating["by"]) == (False, 15, MODEL)
    assert "Clinical relevance: so" in rating["comment"]
    assert {row["case"] for row in rows(folder, "candidates")} == {"c0", "c2", "c4"}
    assert {path: path.read_bytes() for path in before} == before
    assert not [one for one in load_review_set(folder).warnings if "candidate" in str(one)]
    assert "a-key-of-a-test" not in "".join(
        path.read_text() for path in folder.rglob("*") if path.is_file()
    )


def test_a_model_is_told_what_was_chosen_of_a_study_and_nothing_else(folder, server):
    assert curated(folder, server, "--step", "propose", "--from", "indication") == 0
    texts = [one["text"] for one in server.requests()]
    assert all("Cough since" in text and "Age: 64" in text for text in texts)
    assert not any("Effusion" in text or "c0" in text or "s0" in text for text in texts)
    assert all("There is no earlier image" in text for text in texts)
    assert {json.loads(row["extra"])["from"] for row in rows(folder, "candidates")} == {
        "indication"
    }


def test_a_study_with_an_earlier_image_may_be_compared(tmp_path, server):
    images = [
        {"id": "pa", "path": "a.png", "view": "PA", "width": 100, "height": 120},
        {"id": "old", "path": "b.png", "view": "PA", "prior": True, "width": 100, "height": 120},
    ]
    case = {"id": "c", "question": "?x", "report": {"impression": "Larger."}, "images": images}
    other = {"id": "d", "question": "?x"}
    pictures = {"a.png": RAMP, "b.png": RAMP}
    one = {"info": {"name": "One"}, "cases": [case, other]}
    made = write_review_set(tmp_path / "one", **one, pictures=pictures)
    assert curated(made, server, "--step", "propose") == 0
    [request] = server.requests()  # of the other study nothing is known
    assert "An earlier image is shown" in request["text"]
    assert "from its impression:\n-----\nLarger.\n-----" in request["text"]
    gone = write_review_set(tmp_path / "gone", **one, pictures={"a.png": RAMP})
    assert curated(gone, server, "--step", "propose") == 0
    assert "There is no earlier image" in server.requests()[-1]["text"]


def test_nothing_is_asked_twice(folder, server, capsys):
    assert curated(folder, server) == 0
    many = len(server.requests())
    parts = {path: path.stat().st_mtime_ns for path in folder.glob("cand*/*")}
    for more in ((), ("--resume",), ("--again",)):
        capsys.readouterr()
        assert curated(folder, server, *more) == 0
        assert f"rate: 6 answered before by {MODEL}" in capsys.readouterr().err
    assert len(server.requests()) == many == 3 + 6 + 6
    assert heights(folder) == (6, 6, 6)
    assert {path: path.stat().st_mtime_ns for path in folder.glob("cand*/*")} == parts


def test_another_model_has_rows_of_its_own_and_a_question_stays_whose_it_was(folder, server):
    assert curated(folder, server) == 0
    assert curated(folder, server, "--model", "gpt-5") == 0
    assert heights(folder) == (6, 12, 12)
    assert {row["by"] for row in rows(folder, "candidates")} == {MODEL}
    assert {row["by"] for row in rows(folder, "candidate_ratings")} == {MODEL, "gpt-5"}


def test_another_text_of_the_report_is_asked_about_anew(folder, server):
    assert curated(folder, server) == 0
    cases = folder / "cases.jsonl"
    cases.write_text(cases.read_text().replace("Effusion of 1 cm", "Effusion of 9 cm"))
    many = len(server.requests())
    assert curated(folder, server) == 0
    assert len(server.requests()) == many + 1 + 2  # tags are of the question alone
    assert heights(folder) == (6, 6, 6)
    created = sorted(row["created"] for row in rows(folder, "candidate_ratings"))
    assert created[-1] > created[0]


OF_FIRST_STUDY = "Effusion of 1 cm on the left.\nAge: 64\n-----\n\nWrite"
WRONG = {"text": "It is a fine film."}


@pytest.mark.parametrize(
    ("match", "turn", "good", "step", "outcome", "many"),
    [
        (OF_FIRST_STUDY, WRONG, PROPOSED, "propose", "malformed", 1),
        (TAG, WRONG, TAGGED, "tag", "malformed", 2),  # the same is asked for three studies
        (RATE, WRONG, RATED, "rate", "malformed", 6),
        (RATE, {"text": ""}, RATED, "rate", "empty", 6),
        (RATE, {"refusal": "I cannot do this."}, RATED, "rate", "refused", 6),
        (RATE, {"text": "5", "incomplete": "max_output_tokens"}, RATED, "rate", "cut_off", 6),
        (RATE, {"text": json.dumps(RATED), "filtered": True}, RATED, "rate", "filtered", 6),
    ],
)
def test_what_cannot_be_read_is_kept_told_and_asked_again_on_request(
    folder, server, capsys, match, turn, good, step, outcome, many
):
    server.script([{"match": match, "turns": [turn, {"json": good}]}, *RULES])
    assert curated(folder, server, "--json") == 1
    found = told_steps(capsys)[step]
    assert [one["outcome"] for one in found["unreadable"]] == [outcome] * many
    assert all(one["why"] for one in found["unreadable"]) or outcome != "malformed"
    table = found["table"]
    assert len(rows(folder, table)) == (4 if step == "propose" else 6 - many)
    asked_before = len(server.requests())
    assert curated(folder, server, "--step", step, "--resume") == 1
    assert len(server.requests()) == asked_before
    assert curated(folder, server, "--step", step, "--again") == 0
    assert len(server.requests()) == asked_before + many
    assert len(rows(folder, table)) == 6


def test_a_budget_is_of_all_steps_together(folder, server, capsys):
    more = ("--concurrency", "1", "--json")
    assert curated(folder, server, "--budget", "3600tokens", *more) == 1
    first = told_steps(capsys)
    assert first["propose"]["unasked"] == 0
    assert 0 < first["rate"]["answered"] < 6
    assert "Budget reached" in first["rate"]["run"]["message"]
    assert "tag" not in first
    assert curated(folder, server, "--resume", "--budget", "200000tokens", *more) == 0
    again = told_steps(capsys)
    assert again["rate"]["run"]["run"] == first["rate"]["run"]["run"]
    assert len(server.requests()) == 3 + 6 + 6
    assert heights(folder) == (6, 6, 6)


def begun(folder, server, words):
    """Begin the command in a process of its own; return when it has asked twice in a step."""
    slow = [{**rule, "turns": [{**rule["turns"][0], "delay_s": 0.3}]} for rule in RULES]
    server.script(slow)
    quiet = {"stderr": subprocess.DEVNULL, "stdout": subprocess.DEVNULL}
    command = [sys.executable, "-m", "rexview", *arguments(folder, server, "--concurrency", "1")]
    process = subprocess.Popen(command, cwd=ROOT, env=environment(folder), **quiet)
    until = time.monotonic() + 120
    while len(asked(server, words)) < 2:
        assert time.monotonic() < until
        time.sleep(0.02)
    return process


@pytest.mark.parametrize(("words", "table"), [(PROPOSE, "candidates"), (RATE, "candidate_ratings")])
def test_a_killed_step_is_gone_on_with_and_pays_nothing_twice(folder, server, words, table):
    process = begun(folder, server, words)
    process.kill()
    process.wait()
    assert not (folder / table).exists()
    server.script(RULES)
    assert curated(folder, server, "--resume") == 0
    assert heights(folder) == (6, 6, 6)
    assert len(list((folder / "curating").iterdir())) == 3
    assert len(server.requests()) <= 3 + 6 + 6 + 1  # the one under way may have been asked again


def test_a_step_that_is_stopped_keeps_what_came_and_no_other_begins(folder, server):
    process = begun(folder, server, RATE)
    process.send_signal(signal.SIGINT)
    assert process.wait(60) == 1
    made, rated, tagged = heights(folder)
    assert (made, tagged) == (6, 0)
    assert 1 <= rated < 6
    server.script(RULES)
    assert curated(folder, server, "--resume") == 0
    assert heights(folder) == (6, 6, 6)
    assert len(server.requests()) == 3 + 6 + 6


def test_peoples_own_and_edited_questions_are_scored_and_tagged(folder, server, capsys):
    assert curated(folder, server) == 0
    lead = Person("lead@x", "Lead", "lead")
    reviews = open_set_reviews(folder)
    candidate = rows(folder, "candidates")[0]["candidate"]
    own = {"question": "What is my own question about the hilum?", "category": None}
    edited = {"decision": None, "question": "Which lung zone is abnormal, and how?"}
    reviews.record(
        [
            Entry("propose", "c0", subject="o-0123456789ab", value=own),
            Entry("select", "c0", subject=candidate, value=edited),
        ],
        lead,
    )
    many = len(server.requests())
    assert curated(folder, server) == 0
    assert len(server.requests()) == many + 2
    assert "my own question" in server.requests()[-1]["text"]
    found = {row["candidate"] for row in rows(folder, "candidate_ratings")}
    assert "o-0123456789ab" in found
    assert not [one for one in load_review_set(folder).warnings if "candidate" in str(one)]
    assert curated(folder, server, "--edited") == 0
    assert len(server.requests()) == many + 4
    by = {(row["candidate"], row["by"]) for row in rows(folder, "candidate_ratings")}
    assert (candidate, MODEL) in by
    assert (candidate, f"{MODEL}, edited") in by
    reviews = open_set_reviews(folder)
    assert merge_reviews(reviews.review_set, reviews).candidate_ratings.height == 8
    assert _counts(reviews, candidate) == f"{MODEL}, edited"
    again = {**edited, "question": "Which zone is abnormal, once more?"}
    reviews.record([Entry("select", "c0", subject=candidate, value=again)], lead)
    assert _counts(reviews, candidate) == MODEL  # nobody has scored these words


def _counts(reviews, candidate):
    """Return whose scores of a candidate count: those that the page sorts by; and whose tags."""
    found = summarize_candidates(merge_reviews(reviews.review_set, reviews), "c0")["c0"]
    one = next(one for one in found if one.id == candidate)
    assert one.model_rating.by == one.tagged_by
    return one.tagged_by


def test_a_dry_run_sends_and_writes_nothing_and_counts_questions_to_come(folder, server, capsys):
    before = sorted(folder.rglob("*"))
    assert curated(folder, server, "--dry-run", "--json") == 0
    steps = told_steps(capsys)
    assert {name: one["estimate"]["requests"] for name, one in steps.items()} == {
        "propose": 3,
        "rate": 6,
        "tag": 6,
    }
    assert "Effusion of 1 cm" in steps["propose"]["first_request"]["parts"][0]["text"]
    assert curated(folder, server, "--dry-run") == 0
    assert "6 questions not proposed yet" in capsys.readouterr().out
    assert sorted(folder.rglob("*")) == before
    assert server.requests() == []


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["--resume", "20260101-000000-gone-0000"], "no run 20260101-000000-gone-0000"),
        (["--budget", "5EUR"], "5USD or 200000tokens"),
        (["--base-url", "ftp://x"], "must begin with https"),
    ],
)
def test_what_cannot_be_asked_is_told(folder, server, capsys, more, words):
    assert curated(folder, server, *more) == 2
    assert words in capsys.readouterr().err
    assert not (folder / "curating").exists()
    assert server.requests() == []


@pytest.mark.parametrize("step", ["score", "", "propose,score"])
def test_a_step_that_is_none_is_told(folder, server, step):
    with pytest.raises(SystemExit) as ended:
        curated(folder, server, "--step", step)
    assert ended.value.code == 2


def test_a_set_that_takes_no_parts_loses_nothing(folder, server, capsys):
    (folder / "candidates").write_text("a file in its place")
    assert curated(folder, server, "--step", "propose") == 1
    assert "candidates/ of the review set cannot be written" in capsys.readouterr().err
    (folder / "candidates").unlink()
    assert curated(folder, server, "--step", "propose") == 0
    assert len(server.requests()) == 3
    assert len(rows(folder, "candidates")) == 6
