"""Any review set, written in any format and read again, is the same."""

import json
import tempfile
from datetime import UTC, datetime
from pathlib import Path

import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from rexview import frames, vocab
from rexview.reviewset import load_review_set, save_review_set

texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12)
ids = st.text("abC1 é.:/-_'\"", min_size=1, max_size=8).map(str.strip).filter(bool)
numbers = st.floats(allow_nan=False, allow_infinity=False)
small_integers = st.integers(0, 2**62)
dates = st.datetimes(datetime(1950, 1, 1), datetime(2200, 1, 1)).map(
    lambda moment: moment.replace(tzinfo=UTC).isoformat()
)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | numbers | texts | st.just(""),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(texts, inner, max_size=2),
    max_leaves=4,
)
unknown_names = st.sampled_from(["x", "Y z", "größe", "a.b", "_row", "colour"])
unknown = st.dictionaries(unknown_names, json_values, max_size=3)
boxes = st.lists(st.floats(-10, 5000) | st.none() | st.just(float("inf")), max_size=5)
paths = st.text("abc/._-", min_size=1, max_size=8).map(lambda text: "p/" + text.replace("..", "."))


@st.composite
def objects(draw, **fields):
    """An object with some of the fields, and unknown ones."""
    given = {name: draw(values) for name, values in fields.items() if draw(st.booleans())}
    return draw(unknown) | given


def rows(required, **optional):
    return st.builds(lambda must, may: may | must, required, objects(**optional))


def words(choices):
    return st.sampled_from(list(choices))


images = st.lists(
    rows(
        st.fixed_dictionaries({"id": ids, "path": paths}),
        view=words(["PA", "PORTABLE AP", "odd"]),
        key=st.booleans(),
        prior=st.booleans(),
        width=st.integers(1, 9000),
        height=st.integers(1, 9000),
        patient_orientation=st.lists(texts, max_size=2),
        laterality_flip=st.booleans(),
        pixel_mm=st.floats(0.01, 2),
    ),
    max_size=3,
    unique_by=lambda image: image["id"],
)


@st.composite
def cases(draw):
    found = draw(
        st.lists(
            rows(
                st.fixed_dictionaries({"id": ids, "question": texts, "images": images}),
                category=words(vocab.CATEGORY_NAMES),
                tags=st.dictionaries(texts, st.lists(texts | st.just(""), max_size=2), max_size=2),
                difficulty=texts.filter(lambda text: text.strip(" -\n\t\r").isalpha()),
                site=texts,
                patient_id=ids,
                normal=st.booleans(),
                context=objects(age=texts, sex=texts, indication=texts),
                report=objects(findings=texts, impression=texts),
                options=st.lists(texts | st.just(""), min_size=1, max_size=3),
                explanation=texts,
                extra=unknown,
            ),
            min_size=1,
            max_size=3,
            unique_by=lambda row: row["id"],
        )
    )
    for case in found:
        names = [image["id"] for image in case["images"]]
        if names:
            case["reference_boxes"] = draw(
                st.lists(box_rows(names, side=words(vocab.SIDES)), max_size=2)
            )
        if case.get("options") and draw(st.booleans()):
            case |= {
                "question_type": "choice",
                "correct": draw(st.integers(0, len(case["options"]) - 1)),
            }
    return found


def box_rows(names, **fields):
    return rows(st.fixed_dictionaries({"image": words(names), "box": boxes}), label=texts, **fields)


_CANDIDATE = ("case", "candidate")


@st.composite
def review_sets(draw):
    """The files of a review set without errors, as parsed content by name."""
    case_rows = draw(cases())
    about = st.fixed_dictionaries({"case": words([c["id"] for c in case_rows]), "model": ids})
    of_case = st.fixed_dictionaries({"case": words([c["id"] for c in case_rows])})
    by_a_reader = st.builds(lambda row, reader: row | {"reader": reader}, about, ids)
    of_candidate = st.fixed_dictionaries(
        {
            "case": words([c["id"] for c in case_rows]),
            "candidate": ids,
            "source": words(vocab.SOURCES),
            "by": ids,
        }
    )
    named_by = ("case", "model", "reader", "dimension", "failure", "metric", "run_id")

    def table(required, *, key=named_by, **optional):
        return draw(
            st.lists(
                rows(required, **optional),
                max_size=3,
                unique_by=lambda row: tuple(str(row.get(name)) for name in key),
            )
        )

    def also(base, **fields):
        return st.builds(lambda one, two: one | two, base, st.fixed_dictionaries(fields))

    return {
        "cases": case_rows,
        "answers": table(
            also(about, run_id=ids),
            text=texts,
            finish_reason=words(["stop", "MAX_TOKENS", "unknown", "odd"]),
            usage=objects(input_tokens=small_integers, output_tokens=small_integers),
            boxes=st.lists(box_rows(["a", "b"], score=numbers), max_size=2),
            images=st.lists(paths, max_size=2),
            choice=st.integers(-1, 5),
            explanation=texts,
            error=texts,
            latency_s=st.floats(0, 1e6),
            created=dates,
            prompt_id=ids,
            extra=unknown,
        ),
        "scores": table(
            also(by_a_reader, dimension=words(vocab.DIMENSIONS)),
            score=st.integers(1, 5) | st.none(),
            image=st.integers(0, 3),
            comment=texts,
            created=dates,
        ),
        "flags": table(
            also(by_a_reader, failure=words(vocab.FAILURES)),
            verdict=words(vocab.VERDICTS),
            comment=texts,
        ),
        "metrics": table(also(about, metric=ids), value=numbers, version=ids, n=st.integers(1, 9)),
        "edits": table(
            also(about, action=words(vocab.EDIT_ACTIONS)),
            line=st.integers(0, 99),
            severity=st.integers(0, 4),
            original=texts,
            edited=texts,
            kind=words([*vocab.EDIT_KINDS, "odd"]),
            significance=words(vocab.SIGNIFICANCES),
            created=dates,
        ),
        "choices": table(
            also(of_case, reader=ids, choice=st.integers(0, 5)),
            option=texts,
            seconds=st.floats(0, 1e6),
        ),
        "preferences": table(
            also(
                of_case,
                reader=ids,
                first=st.just("a"),
                second=st.just("b"),
                preferred=words(vocab.PREFERENCE_WORDS),
            ),
            comment=texts,
        ),
        "references": table(also(of_case, reader=ids), findings=texts, impression=texts),
        "opinions": table(
            also(about, judge=ids, prompt_id=ids, failure=words(vocab.FAILURES)),
            reason=texts,
            quote=texts,
        ),
        "comments": table(
            also(of_case, reader=ids, text=texts, comment=ids),
            key=("comment",),
            model=words(("a", "b")),
            on=st.just({"what": "case"}),
            resolved=st.booleans(),
        ),
        "decisions": table(
            also(of_case, reader=ids, meeting=ids),
            key=("case", "model", "meeting"),
            failure=words(vocab.FAILURES),
            severity=st.integers(0, 4),
            decision=words(vocab.MEETING_DECISIONS),
            owner=texts,
            due=st.just("2026-12-01"),
            comment=texts,
        ),
        "candidates": table(
            also(of_candidate, question=texts),
            key=_CANDIDATE,
            statement=texts,
            options=st.lists(texts),
        ),
        "candidate_ratings": table(
            of_candidate, key=_CANDIDATE, relevance=st.integers(1, 5), comment=texts
        ),
        "candidate_tags": table(
            of_candidate, key=_CANDIDATE, tags=st.just({"laterality": ["Left"]})
        ),
        "selections": table(
            also(of_case, candidate=ids, reader=ids),
            key=_CANDIDATE,
            decision=words(vocab.DECISIONS),
            boxes_question=texts,
        ),
        "validations": table(
            also(of_candidate, check=ids), key=_CANDIDATE, defect=words(vocab.QUESTION_DEFECTS)
        ),
        "info": draw(
            objects(description=texts, notice=texts, models=st.just([{"id": "a", "note": 1}]))
        ),
    }


def make(folder, content):
    folder.mkdir()
    info = {"format": 1, "name": "x"} | content["info"]
    (folder / "reviewset.yaml").write_text(yaml.safe_dump(info), encoding="utf-8")
    for name in frames.TABLES:
        lines = [json.dumps(row, ensure_ascii=False) + "\n" for row in content[name]]
        (folder / f"{name}.jsonl").write_text("".join(lines), encoding="utf-8", newline="")


@given(review_sets())
@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
def test_any_review_set_comes_back(content):
    with tempfile.TemporaryDirectory() as folder:
        make(Path(folder) / "given", content)
        given_set = load_review_set(Path(folder) / "given")
        for table_format in ("jsonl", "csv", "parquet"):
            out = Path(folder) / table_format
            save_review_set(given_set, out, table_format=table_format)
            again = load_review_set(out)
            for name in frames.TABLES:
                assert_frame_equal(getattr(given_set, name), getattr(again, name))
            assert again.info.description == given_set.info.description
            assert again.info.models == given_set.info.models
            assert again.info.extra == given_set.info.extra


@given(review_sets())
@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
def test_what_is_given_is_what_is_read(content):
    with tempfile.TemporaryDirectory() as folder:
        make(Path(folder) / "given", content)
        found = load_review_set(Path(folder) / "given")
    assert found.cases["question"].to_list() == [row["question"] for row in content["cases"]]
    texts_given = [row.get("text") for row in content["answers"]]
    assert found.answers["text"].to_list() == texts_given
    assert found.scores["score"].to_list() == [row.get("score") for row in content["scores"]]
    for row, extra in zip(content["scores"], found.scores["extra"], strict=True):
        known = frames.SCORES.names()
        kept = {n: v for n, v in row.items() if (n not in known or n == "_row") and v is not None}
        assert json.loads(extra or "{}") == kept
