"""Made review sets: they open without a word, hold what is asked for, and come out the same."""

import polars as pl
import pytest

from bench.made_set import MadeSet, make_set
from bench.made_set.studies import CATEGORIES, studies_of
from rexview import cli
from rexview.errors import ReviewSetError
from rexview.reviewset import check_review_set, find_image_file, load_review_set
from rexview.vocab import DIMENSIONS

CASES = 95


def made(folder, **more):
    make_set(MadeSet(**{"cases": CASES, "models": 5, **more}), folder)
    return folder


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    folder = made(tmp_path_factory.mktemp("made") / "set")
    return folder, load_review_set(folder)


def as_table(table, **columns):
    return table.select(**{name: pl.col(of) for name, of in columns.items()})


@pytest.mark.parametrize("parquet", [False, True])
@pytest.mark.parametrize("pictures", [0, 3])
def test_it_opens_without_a_problem(tmp_path, parquet, pictures):
    folder = made(tmp_path / "set", parquet=parquet, pictures=pictures)
    assert check_review_set(folder, pixels=pictures > 0) == []
    kinds = {path.name for path in folder.iterdir()} - {"images", "reviewset.yaml"}
    tables = {"cases", "answers", "scores", "flags", "comments"}
    assert kinds == (tables if parquet else {f"{name}.jsonl" for name in tables})


def test_each_study_has_a_film_of_its_own(written):
    folder, review_set = written
    films = {tuple(one["path"] for one in images) for images in review_set.cases["images"]}
    assert len(films) == review_set.cases["study_id"].n_unique() == studies_of(CASES)
    assert len({path.read_bytes() for path in (folder / "images").iterdir()}) == len(films)


def test_two_readers_scored_it_and_left_some_out(written):
    _, review_set = written
    scores, answers = review_set.scores, review_set.answers
    by_reader = scores.group_by("reader").agg(pl.struct("case", "model").n_unique().alias("n"))
    given = dict(by_reader.rows())
    assert 0.85 * answers.height < given["reader-1"] < answers.height
    assert 0.4 * answers.height < given["reader-2"] < 0.75 * answers.height
    assert set(scores["dimension"]) == set(DIMENSIONS)
    assert 4 < scores.height / answers.height < 8
    assert set(review_set.flags["verdict"]) == {"confirmed", "rejected"}
    assert 0 < review_set.comments.height < 0.1 * answers.height


def test_it_can_be_without_readers(tmp_path):
    review_set = load_review_set(made(tmp_path / "set", scored=False, pictures=0))
    assert review_set.scores.is_empty()
    assert review_set.comments.is_empty()
    assert not review_set.info.readers


def test_it_is_as_large_as_asked_for(written):
    _, review_set = written
    assert review_set.cases.height == CASES
    assert review_set.answers.height == CASES * 5
    assert [model.id for model in review_set.models] == [f"model-{n:02d}" for n in range(1, 6)]
    assert "Simulated" in review_set.info.notice


def test_it_is_shaped_like_what_models_answer_to_rexvqa(written):
    _, review_set = written
    cases, answers = review_set.cases, review_set.answers
    assert set(cases["category"]) == set(CATEGORIES)
    assert cases["options"].list.n_unique().unique().to_list() == [4]
    assert 1 < cases.height / cases["study_id"].n_unique() < 6
    assert cases["patient_id"].n_unique() < cases["study_id"].n_unique()
    assert answers["choice"].drop_nulls().is_between(0, 3).all()
    lengths = pl.concat([answers["text"], answers["explanation"]]).str.len_chars()
    assert 100 < lengths.filter(lengths > 60).median() < 400
    assert answers["boxes"].list.len().sum() > 0
    assert answers["text"].drop_nulls().n_unique() > 0.6 * answers.height


def test_most_choices_are_right_and_better_models_are_better(tmp_path):
    review_set = load_review_set(made(tmp_path / "set", cases=1_500, models=2, parquet=True))
    right = (
        review_set.answers.join(as_table(review_set.cases, case="id", correct="correct"), on="case")
        .group_by("model")
        .agg((pl.col("choice") == pl.col("correct")).mean().alias("share"))
        .sort("model")["share"]
    )
    assert right[0] > right[1] + 0.1
    assert right[1] > 0.4


def test_the_words_of_an_answer_are_those_of_its_option(written):
    _, review_set = written
    of_case = as_table(review_set.cases, case="id", options="options")
    joined = review_set.answers.join(of_case, on="case").filter(
        pl.col("model") == "model-01",
        pl.col("finish_reason") == "stop",
        pl.col("choice").is_not_null(),
    )
    assert joined.height > CASES / 2
    for row in joined.iter_rows(named=True):
        letter, option = "ABCD"[row["choice"]], row["options"][row["choice"]]
        assert row["text"].startswith(f"{letter}. {option}")


def test_parts_join_into_one_set(tmp_path, monkeypatch):
    monkeypatch.setattr("bench.made_set.writing._ROWS", 150)
    folder = made(tmp_path / "set", parquet=True)
    assert len(list((folder / "cases").iterdir())) == 4
    assert check_review_set(folder) == []
    ids = load_review_set(folder).cases["id"]
    assert ids.to_list() == [f"vqa-{number:07d}" for number in range(CASES)]


def test_the_same_seed_makes_the_same_set_and_another_another(tmp_path, written):
    again = load_review_set(made(tmp_path / "again"))
    other = load_review_set(made(tmp_path / "other", seed=2))
    assert again.answers.equals(written[1].answers)
    assert again.cases.equals(written[1].cases)
    assert not other.answers["text"].equals(written[1].answers["text"])


def test_pictures_are_shared_by_the_studies_in_turn(tmp_path):
    review_set = load_review_set(made(tmp_path / "set", pictures=3))
    paths = review_set.cases["images"].explode().struct.field("path")
    assert sorted(paths.unique()) == ["film-00000.png", "film-00001.png", "film-00002.png"]
    contents = {find_image_file(review_set, path).read_bytes() for path in paths.unique()}
    assert len(contents) == 3
    studies = review_set.cases.group_by("study_id").agg(pl.col("images").n_unique())
    assert studies["images"].max() == 1


def test_nothing_is_written_where_something_is(tmp_path):
    (tmp_path / "note.txt").write_text("kept")
    with pytest.raises(ReviewSetError, match="not empty"):
        made(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["note.txt"]


def test_nothing_is_not_made(tmp_path):
    with pytest.raises(ReviewSetError, match="at least one case"):
        made(tmp_path / "set", cases=0)


def test_the_command_line_makes_a_set(tmp_path, capsys):
    folder = tmp_path / "set"
    command = ["bench", "make-set", "--cases", "40", "--models", "3", str(folder), "--parquet"]
    assert cli.main(command) == 0
    assert capsys.readouterr().out == "40 cases, 120 answers written.\n"
    assert check_review_set(folder) == []
