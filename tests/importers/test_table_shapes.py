"""Tables of every shape through the table importer: JSON, JSON Lines, Parquet, logs, workbooks."""

import base64
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from openpyxl import Workbook

from rexview.importers.receipt import ProblemLog
from rexview.importers.table.sheet import read_table_sheet

ANSWER = "There is a small effusion on the left, without pneumothorax."
OTHER = "The heart is enlarged, otherwise the radiograph is normal."
RECORDS = [
    {"id": "c1", "question": "First?", "model": "gpt-5", "answer": ANSWER},
    {"id": "c2", "question": "Second?", "model": "gpt-5", "answer": OTHER},
]
EXPECTED = {("c1", "gpt-5", ANSWER), ("c2", "gpt-5", OTHER)}
COLUMNS = {name: [one[name] for one in RECORDS] for name in RECORDS[0]}


def write(path, value):
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


def write_lines(path, entries):
    path.write_text("\n".join(json.dumps(one) for one in entries), encoding="utf-8")
    return path


def answers(done):
    return set(done.review_set.answers.select("case", "model", "text").rows())


def chat(text, model="gpt-5", reason="stop"):
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1_760_000_000,
        "model": model,
        "choices": [
            {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": reason}
        ],
        "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15},
    }


@pytest.mark.parametrize(
    "value",
    [
        RECORDS,
        {name: {str(n): one for n, one in enumerate(cells)} for name, cells in COLUMNS.items()},
        COLUMNS,
        {
            "columns": list(COLUMNS),
            "index": [0, 1],
            "data": [list(one.values()) for one in RECORDS],
        },
        {"schema": {"fields": []}, "data": RECORDS},
        {one["id"]: {k: v for k, v in one.items() if k != "id"} for one in RECORDS},
        {"temperature": 0.1, "results": RECORDS},
        {"model": "gpt-5", "results": [{**one, "model": None} for one in RECORDS]},
        {"gpt-5": [{**one, "model": None} for one in RECORDS], "x": []},
        {"train": RECORDS[:1], "test": RECORDS[1:]},
        {"data": {one["id"]: one for one in RECORDS}, "meta": {"seed": 1}},
        [list(COLUMNS), *(list(one.values()) for one in RECORDS)],
        [
            {"id": one["id"], "answers": [{"model": one["model"], "text": one["answer"]}]}
            for one in RECORDS
        ],
        {"gpt-5": {one["id"]: {"text": one["answer"]} for one in RECORDS}, "m": {"c9": {"x": 1}}},
    ],
    ids=[
        *("records", "pandas-columns", "pandas-list", "pandas-split", "pandas-table", "by-id"),
        *("settings", "model-of-settings", "list-by-model", "splits", "wrapped", "header-row"),
        *("answers-inside", "by-model-and-id"),
    ],
)
def test_shapes_of_json(tmp_path, run_import, value):
    done = run_import("table", write(tmp_path / "gpt-5.json", value), mapping="proposed")
    assert {one for one in answers(done) if one[2]} == EXPECTED
    receipt = done.report.receipt
    assert receipt.rows_in == receipt.rows_used + sum(one.count for one in receipt.rows_unused)


def test_settings_beside_the_rows_are_named(tmp_path, run_import):
    value = {"temperature": 0.1, "results": RECORDS}
    done = run_import("table", write(tmp_path / "t.json", value), mapping="proposed")
    [unused] = done.report.receipt.columns_unused
    assert (unused.column, unused.example) == ("temperature", "0.1")


def test_values_keep_their_type_as_extra_fields(tmp_path, run_import):
    value = [{**RECORDS[0], "ward": {"floor": 3}, "seen": True, "ids": [1, 2]}]
    done = run_import("table", write(tmp_path / "t.json", value), mapping="proposed")
    assert done.review_set.case("c1").extra == {"ward.floor": 3, "seen": True, "ids": [1, 2]}


def test_one_bad_line_loses_only_itself(tmp_path, run_import):
    path = write_lines(tmp_path / "t.jsonl", RECORDS)
    path.write_text(path.read_text() + '\n{"id": "c3", "answ\n"text"\n')
    done = run_import("table", path, mapping="proposed")
    assert answers(done) == EXPECTED
    assert [one.rows for one in done.report.receipt.rows_unused] == [(3,), (4,)]


def test_an_empty_text_is_an_answer_and_a_null_is_not(tmp_path, run_import):
    entries = [{**RECORDS[0], "answer": text, "id": f"c{n}"} for n, text in enumerate(["", None])]
    done = run_import("table", write_lines(tmp_path / "t.jsonl", entries), mapping="proposed")
    assert done.review_set.answers["case"].to_list() == ["c0"]
    assert done.report.receipt.not_run == {"gpt-5": 1}
    assert done.review_set.cases["id"].to_list() == ["c0", "c1"]


def test_a_conversation_is_a_question_and_an_answer(tmp_path, run_import):
    turns = [{"from": "human", "value": "<image>\nWhat?"}, {"from": "gpt", "value": ANSWER}]
    value = [{"id": "c1", "conversations": turns, "model": "llava"}]
    done = run_import("table", write(tmp_path / "t.json", value), mapping="proposed")
    assert done.review_set.case("c1").question == "What?"
    assert answers(done) == {("c1", "llava", ANSWER)}


@pytest.mark.parametrize(
    ("entry", "reason", "tokens"),
    [
        ({"custom_id": "c1", "response": {"status_code": 200, "body": chat(ANSWER)}}, "stop", 5),
        (
            {
                "custom_id": "c1",
                "response": {
                    "body": {
                        "object": "response",
                        "model": "gpt-5",
                        "status": "incomplete",
                        "incomplete_details": {"reason": "max_output_tokens"},
                        "output": [
                            {"type": "reasoning", "summary": []},
                            {
                                "type": "message",
                                "content": [{"type": "output_text", "text": ANSWER}],
                            },
                        ],
                        "usage": {"input_tokens": 1, "output_tokens": 9},
                    }
                },
            },
            "length",
            9,
        ),
        (
            {
                "custom_id": "c1",
                "result": {
                    "type": "succeeded",
                    "message": {
                        "type": "message",
                        "model": "gpt-5",
                        "content": [{"type": "text", "text": ANSWER}],
                        "stop_reason": "max_tokens",
                        "usage": {"input_tokens": 1, "output_tokens": 7},
                    },
                },
            },
            "length",
            7,
        ),
        (
            {
                "key": "c1",
                "response": {
                    "candidates": [
                        {"content": {"parts": [{"text": ANSWER}]}, "finishReason": "STOP"}
                    ],
                    "usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 6},
                    "modelVersion": "gpt-5",
                },
            },
            "stop",
            6,
        ),
        (
            {
                "case_id": "c1",
                "model": "gpt-5",
                "message": {"role": "assistant", "content": ANSWER},
                "done": True,
                "done_reason": "length",
                "prompt_eval_count": 2,
                "eval_count": 8,
            },
            "length",
            8,
        ),
        (
            {
                "request_id": "c1",
                "prompt": "What is seen?",
                "model": "gpt-5",
                "outputs": [{"text": ANSWER, "finish_reason": "stop", "output_tokens": 4}],
            },
            "stop",
            4,
        ),
    ],
    ids=["chat-batch", "responses-batch", "anthropic-batch", "gemini", "ollama", "vllm"],
)
def test_replies_of_providers(tmp_path, run_import, entry, reason, tokens):
    path = write_lines(tmp_path / "log.jsonl", [entry, entry])
    done = run_import("table", path, mapping="proposed")
    assert answers(done) == {("c1", "gpt-5", ANSWER)}
    answer = done.review_set.answers_of("c1")[0]
    assert (answer.finish_reason, answer.output_tokens) == (reason, tokens)


def test_a_failed_request_is_an_answer_of_the_model_of_the_others(tmp_path, run_import):
    lines = [
        {"id": "b1", "custom_id": "c1", "response": {"body": chat(ANSWER)}, "error": None},
        {
            "id": "b2",
            "custom_id": "c2",
            "response": {"status_code": 429, "body": {"error": {"message": "too many"}}},
        },
    ]
    asked = [
        {
            "custom_id": f"c{n}",
            "method": "POST",
            "body": {"model": "gpt", "messages": [{"role": "user", "content": f"What {n}?"}]},
        }
        for n in (1, 2)
    ]
    output = write_lines(tmp_path / "a_output.jsonl", lines)
    questions = write_lines(tmp_path / "b_input.jsonl", asked)
    done = run_import("table", output, questions, mapping="proposed")
    failed = done.review_set.answers_of("c2")[0]
    assert (failed.model, failed.text or "", failed.error) == ("gpt-5", "", "too many")
    assert done.review_set.case("c1").question == "What 1?"
    assert done.review_set.cases.height == 2


def test_samples_of_lm_eval(tmp_path, run_import):
    sample = {
        "doc_id": 3,
        "doc": {"question": "Which?", "choices": ["Nodule", "Effusion"], "answer": 1},
        "target": "Effusion",
        "resps": [["The answer is B"]],
        "filtered_resps": ["B"],
        "acc": 1.0,
    }
    done = run_import("table", write_lines(tmp_path / "m.jsonl", [sample] * 2), mapping="proposed")
    assert answers(done) == {("3", "m", "The answer is B")}
    assert done.review_set.case("3").options == ("Nodule", "Effusion")


def test_a_log_of_inspect(tmp_path, run_import):
    sample = {
        "id": "c1",
        "epoch": 1,
        "input": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "What?"}],
        "output": {
            "model": "claude",
            "completion": ANSWER,
            "choices": [{"message": {"content": ANSWER}, "stop_reason": "max_tokens"}],
            "usage": {"input_tokens": 3, "output_tokens": 9},
        },
    }
    value = {"version": 2, "status": "success", "eval": {"task": "cxr"}, "samples": [sample]}
    done = run_import("table", write(tmp_path / "t.json", value), mapping="proposed")
    assert answers(done) == {("c1", "claude", ANSWER)}
    answer = done.review_set.answers_of("c1", all_runs=True)[0]
    assert (answer.finish_reason, answer.output_tokens) == ("length", 9)
    assert done.review_set.case("c1").question == "What?"
    unused = {one.column for one in done.report.receipt.columns_unused}
    assert unused == {"version", "status", "eval"}


def test_rexvqas_metadata(tmp_path, run_import):
    entry = {
        "question": "Which of these is seen?",
        "options": ["A. Nodule", "B. Effusion"],
        "correct_answer": "B",
        "correct_answer_explanation": "The costophrenic angle is blunted.",
        "task_name": "presence_assessment",
        "category": "Pleura",
        "class": "Effusion",
        "StudyInstanceUid": "1.2.3",
        "StudyDate": "20240101",
        "PatientAge": "093Y",
        "ImagePath": ["../deid/a.png"],
        "ImageViewPosition": ["PA"],
    }
    done = run_import("table", write(tmp_path / "t.json", {"q1": entry}), mapping="proposed")
    case = done.review_set.case("q1")
    assert (case.question_type, case.correct) == ("choice", 1)
    assert case.explanation == "The costophrenic angle is blunted."
    assert (case.category, case.tags["category"]) == ("presence_assessment", ("Pleura",))
    assert case.context.age == "90+"
    assert [(one.path, one.view) for one in case.images] == [("deid/a.png", "PA")]
    assert not any("20240101" in str(value) for value in case.extra.values())


def test_parquet_with_the_bytes_of_pictures(tmp_path, run_import, make_picture):
    picture = make_picture(tmp_path / "p.png").read_bytes()
    table = pa.table(
        {
            "id": ["c1", "c2"],
            "image": [{"bytes": picture, "path": "a/1.png"}, {"bytes": picture, "path": None}],
            "question": ["First?", "Second?"],
            "response": [ANSWER, OTHER],
            "label": [1, 0],
        },
        metadata={
            "huggingface": json.dumps(
                {"info": {"features": {"label": {"_type": "ClassLabel", "names": ["no", "yes"]}}}}
            )
        },
    )
    pq.write_table(table, tmp_path / "t.parquet")
    done = run_import("table", tmp_path / "t.parquet", mapping="proposed", copy=True)
    assert done.report.counts["images found"] == 2
    folder = done.review_set.folder
    first = done.review_set.case("c1").images[0]
    assert (folder / "images" / first.path).read_bytes() == picture
    assert done.review_set.case("c1").extra == {"label": "yes"}


def test_pictures_as_base64(tmp_path, make_picture):
    content = make_picture(tmp_path / "p.png").read_bytes()
    entry = {"id": "c1", "image": "data:image/png;base64," + base64.b64encode(content).decode()}
    path = write(tmp_path / "t.json", [entry | {"answer": ANSWER}])
    sheet = read_table_sheet(path, ProblemLog(), pictures=tmp_path / "out")
    [name] = sheet.column("image")
    assert sheet.pictures[name].read_bytes() == content


def test_a_sheet_a_model(tmp_path, run_import):
    book = Workbook()
    book.active.title = "About"
    book.active.append(["Reading of 2025"])
    for model, text in (("GPT-5", ANSWER), ("Gemini", OTHER)):
        sheet = book.create_sheet(model)
        sheet.append(["ID", "Question", "Answer"])
        sheet.append(["c1", "What?", text])
    book.save(tmp_path / "t.xlsx")
    done = run_import("table", tmp_path / "t.xlsx", mapping="proposed")
    texts = {text for _, _, text in answers(done)}
    assert texts == {ANSWER, OTHER}
    assert [one.file for one in done.report.receipt.files_unread] == ["t.xlsx: About"]


def test_a_workbook_that_is_csv_and_a_table_that_is_a_workbook(tmp_path, run_import):
    text = tmp_path / "t.xlsx"
    text.write_text(f"case,model,answer\nc1,gpt-5,{OTHER}\n")
    assert len(answers(run_import("table", text, mapping="proposed"))) == 1
    book = Workbook()
    book.active.append(["case", "model", "answer"])
    book.active.append(["c1", "gpt-5", ANSWER])
    book.save(tmp_path / "b.xlsx")
    named = tmp_path / "b.csv"
    named.write_bytes((tmp_path / "b.xlsx").read_bytes())
    assert answers(run_import("table", named, mapping="proposed")) == {("c1", "gpt-5", ANSWER)}


@pytest.mark.parametrize(
    ("name", "content", "part"),
    [
        ("t.json", b"", "empty"),
        ("t.json", b'{"a": [1, 2', "not valid JSON"),
        ("t.json", b'{"a": 1}', "no list or object of records"),
        ("t.json", b"[1, 2, 3]", "no list or object of records"),
        ("t.jsonl", b'{"a": 1}', "no list or object of records"),
        ("t.parquet", b"PAR1 and nothing", "damaged"),
        ("t.json", b"[" * 5000 + b"]" * 5000, "nested too deeply"),
    ],
)
def test_files_without_records(tmp_path, name, content, part):
    (tmp_path / name).write_bytes(content)
    log = ProblemLog()
    assert read_table_sheet(tmp_path / name, log) is None
    assert part in " ".join(one.message for one in log.problems)
