"""Which answer a score is of: what changes the digest, and rows of earlier answers."""

import hashlib
import json

import polars as pl
import pytest
from support.small_set import ANSWERS, write_set

from rexview.answer_digest import digests_of, split_stale_rows
from rexview.cli import main
from rexview.reviewset import check_review_set, load_review_set, save_review_set

FIRST = ANSWERS[0]


def rewrite(folder, **changes):
    """Change the first answer of the set."""
    rows = [{**FIRST, **changes}, *ANSWERS[1:]]
    text = "\n".join(json.dumps(row) for row in rows)
    (folder / "answers.jsonl").write_text(text, encoding="utf-8")


def digest(folder):
    return digests_of(load_review_set(folder)).of("c1", "m")


@pytest.fixture
def folder(tmp_path):
    return write_set(tmp_path / "set")


def given_scores(folder, *digests):
    lines = [f"c1,m,r{number},process,4,{one}" for number, one in enumerate(digests)]
    text = "\n".join(["case,model,reader,dimension,score,answer_digest", *lines])
    (folder / "scores.csv").write_text(text + "\n", encoding="utf-8")
    readers = ", ".join(f"{{id: r{number}}}" for number in range(len(digests)))
    info = f"format: 1\nname: x\nmodels: [{{id: m}}, {{id: n}}]\nreaders: [{readers}]\n"
    (folder / "reviewset.yaml").write_text(info, encoding="utf-8")


def test_it_is_what_the_format_says(folder):
    box = ["i", "left effusion", [5.0, 60.0, 30.0, 30.0], None]
    read = [FIRST["text"], None, None, "", [box], []]
    text = json.dumps(read, separators=(",", ":"))
    assert digest(folder) == hashlib.sha256(text.encode("ascii")).hexdigest()


@pytest.mark.parametrize(
    "change",
    [
        {"text": FIRST["text"] + "."},
        {"text": None},
        {"choice": 0},
        {"explanation": "Because"},
        {"boxes": []},
        {"boxes": [{**FIRST["boxes"][0], "label": "right effusion"}]},
        {"boxes": [{**FIRST["boxes"][0], "box": [5, 60, 30, 31]}]},
        {"boxes": [{**FIRST["boxes"][0], "score": 0.5}]},
        {"images": ["one.png"]},
        {"images": ["nowhere.png"]},
    ],
)
def test_what_a_reader_reads_changes_it(folder, change):
    before = digest(folder)
    rewrite(folder, **change)
    assert digest(folder) != before


@pytest.mark.parametrize(
    "change",
    [
        {"finish_reason": "end_turn"},
        {"latency_s": 3.5, "created": "2026-01-02", "run_id": "again", "prompt_id": "p"},
        {"usage": {"output_tokens": 5}},
        {"something": "else"},
        {"explanation": ""},
    ],
)
def test_what_only_describes_it_does_not(folder, change):
    before = digest(folder)
    rewrite(folder, **change)
    assert digest(folder) == before


def test_a_picture_is_its_bytes_and_not_its_name(folder):
    images = folder / "images"
    (images / "two.png").write_bytes((images / "one.png").read_bytes())
    rewrite(folder, images=["one.png"])
    before = digest(folder)
    rewrite(folder, images=["two.png"])
    assert digest(folder) == before
    review_set = load_review_set(folder)
    assert digests_of(review_set).of("c1", "m") == before
    content = bytearray((images / "two.png").read_bytes())
    content[-1] ^= 1
    (images / "two.png").write_bytes(content)  # of the same size
    assert digests_of(review_set).of("c1", "m") != before, "noticed in an open set, too"
    rewrite(folder, images=["../../etc/passwd"])
    assert not [one for one in check_review_set(folder) if "answer_digest" in str(one)]


def test_the_words_of_the_chosen_option_belong_to_it(tmp_path):
    def of(options):
        folder = write_set(tmp_path / "-".join(options))
        case = {"id": "c1", "question": "?", "question_type": "choice", "options": options}
        (folder / "cases.jsonl").write_text(json.dumps({**case, "correct": 0}), encoding="utf-8")
        row = {"case": "c1", "model": "m", "text": "B", "choice": 1}
        (folder / "answers.jsonl").write_text(json.dumps(row), encoding="utf-8")
        (folder / "scores.csv").unlink()
        return digests_of(load_review_set(folder)).of("c1", "m")

    first = of(["a", "b"])
    assert first == of(["other", "b"])
    assert first != of(["b", "a"])


def test_the_newest_run_is_the_answer(folder):
    before = digest(folder)
    rows = [*ANSWERS, {**FIRST, "run_id": "2", "text": "Another run"}]
    (folder / "answers.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    given_scores(folder, before)
    review_set = load_review_set(folder)
    assert (review_set.scores.height, review_set.stale_scores.height) == (0, 1)


def test_given_rows_of_an_earlier_answer_count_nowhere_and_check_says_so(folder, capsys):
    given_scores(folder, digest(folder), "", "0" * 64, "nonsense")
    flags = f"case,model,reader,failure,answer_digest\nc1,m,r0,omission,{'1' * 64}\n"
    (folder / "flags.csv").write_text(flags, encoding="utf-8")
    review_set = load_review_set(folder)
    assert review_set.scores["reader"].to_list() == ["r0", "r1"]
    assert review_set.stale_scores["reader"].to_list() == ["r2", "r3"]
    assert (review_set.flags.height, review_set.stale_flags.height) == (0, 1)
    found = [one for one in check_review_set(folder) if one.field == "answer_digest"]
    assert [(one.severity, one.file, one.row) for one in found] == [
        ("warning", "scores.csv", 3),
        ("warning", "scores.csv", 4),
        ("warning", "flags.csv", 1),
    ]
    assert main(["check", str(folder)]) == 0
    assert "of an earlier answer" in capsys.readouterr().out


@pytest.mark.parametrize("table_format", ["jsonl", "csv", "parquet"])
def test_digests_outlive_a_round_trip(folder, tmp_path, table_format):
    given_scores(folder, digest(folder), "", "0" * 64)
    first = load_review_set(folder)
    save_review_set(first, tmp_path / "copy", table_format=table_format, images="copy")
    second = load_review_set(tmp_path / "copy")
    for name in ("scores", "stale_scores"):
        assert getattr(second, name).drop("_row").equals(getattr(first, name).drop("_row"))
    assert digest(tmp_path / "copy") == digest(folder)


def test_rows_keep_their_order_and_those_of_no_answer_stay(folder):
    review_set = load_review_set(folder)
    now = digests_of(review_set).of("c1", "m")
    rows = pl.DataFrame(
        {
            "case": ["c1", "gone", "c1", "c1", "c2"],
            "model": ["m", "m", "m", "m", "m"],
            "answer_digest": [now, "x", "x", None, "x"],
            "n": [1, 2, 3, 4, 5],
        }
    )
    fits, stale = split_stale_rows(rows, review_set)
    assert (fits["n"].to_list(), stale["n"].to_list()) == ([1, 2, 4], [3, 5])
