"""Logs of other programs that run models, as answers: real files, through the command and auto."""

import base64
import json
import pickle
import shutil
import struct
import zipfile

import pyarrow as pa
import pytest
from openpyxl import Workbook
from support.shapes.run_logs import INSPECT_LOG, lmms_sample, put_lmms_eval
from support.shapes.shape import put_csv, put_json, put_lines, put_picture

from rexview.cli import main
from rexview.errors import ImportSourceError
from rexview.importers import import_source
from rexview.reviewset import load_review_set

QUESTION = "Which finding is there? " * 8


def inspect_sample(name, text="ANSWER: A", epoch=1, **more):
    output = {
        "model": "gpt-5",
        "choices": [{"message": {"role": "assistant", "content": text}, "stop_reason": "stop"}],
        "completion": text,
        "usage": {"input_tokens": 7, "output_tokens": 3, "total_tokens": 10},
        "time": 1.5,
    }
    return {
        "id": name,
        "epoch": epoch,
        "input": "What is seen?",
        "target": "Effusion",
        "output": output,
        **more,
    }


def inspect_log(*samples, status="success", **about):
    about = {"eval_id": "e1", "task": "cxr", "model": "openai/gpt-5", **about}
    return {"version": 2, "status": status, "eval": about, "samples": list(samples)}


def put_archive(path, members, method=zipfile.ZIP_DEFLATED):
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, content in members.items():
            archive.writestr(name, content if isinstance(content, str) else json.dumps(content))


def header_of(log):
    return {name: one for name, one in log.items() if name != "samples"}


def test_a_log_of_inspect_as_it_writes_it_today(tmp_path, run_import):
    done = run_import("runs", INSPECT_LOG)
    answers = done.review_set.answers_of("c1", all_runs=True)
    assert [(one.repeat, one.choice, one.finish_reason) for one in answers] == [
        (1, 0, "stop"),
        (2, None, "content_filter"),
    ]
    other = done.review_set.answers_of("c2", all_runs=True)[0]
    assert (other.choice, other.finish_reason, other.output_tokens) == (1, "length", 9)
    assert other.max_output_tokens == 300
    case = done.review_set.case("c2")
    assert (case.question, case.options, case.correct) == (QUESTION, ("effusion", "nodule"), 0)
    assert len(case.images) == 1
    assert done.review_set.answers["run_id"].n_unique() == 1
    assert "Doe" not in "".join(path.read_text() for path in done.review_set.folder.glob("*.jsonl"))


def test_the_command_adds_a_log_to_a_set_by_the_studies_of_its_cases(tmp_path, capsys):
    put_picture(tmp_path / "films" / "a.png")
    rows = [["case-9", "c1", QUESTION.strip(), "a.png"], ["case-10", "s2", "Where?", "a.png"]]
    put_csv(tmp_path / "cases.csv", "case id|study id|question|image", *rows)
    out = tmp_path / "out"
    films = ["--images", str(tmp_path / "films")]
    assert main(["import", "auto", str(tmp_path / "cases.csv"), *films, "--out", str(out)]) == 0
    log = inspect_log(inspect_sample("c1", input=QUESTION.strip()), inspect_sample("s2"))
    put_json(tmp_path / "run.json", log)
    capsys.readouterr()
    command = ["import", "runs", str(tmp_path / "run.json"), "--into", str(out), "--json"]
    assert main(command) == 0
    receipt = json.loads(capsys.readouterr().out)
    assert (
        "run.json: cases matched: 1 by study or picture; 1 named no case there was."
        in (receipt["notes"])
    )
    found = load_review_set(out)
    assert found.answers_of("case-9")[0].text == "ANSWER: A"
    assert found.answers_of("case-10") == ()  # its study asks something else
    assert found.answers_of("s2")[0].model == "gpt-5"


def test_errors_limits_and_what_is_missing_are_said(tmp_path, run_import):
    failed = inspect_sample("c2", error={"message": "No route", "traceback": "..."}, output={})
    cut = inspect_sample("c3", "Half", limit={"type": "token", "limit": 900})
    never = inspect_sample("c4", output={"model": "", "choices": [], "completion": ""})
    log = inspect_log(
        *(inspect_sample("c1"), failed, cut, never),
        status="error",
        dataset={"samples": 5, "sample_ids": ["c1", "c2", "c3", "c4", "c5"]},
        config={"epochs": 2},
    )
    put_json(tmp_path / "run.json", log)
    done = run_import("runs", tmp_path / "run.json")
    answer = done.review_set.answers_of("c2")[0]
    assert (answer.model, answer.text or "", answer.error) == ("gpt-5", "", "No route")
    assert done.review_set.answers_of("c3")[0].extra["limit.type"] == "token"
    assert done.report.receipt.not_run == {"gpt-5": 1}
    assert done.messages("error. 4 of its 10 samples are in it.")


def test_the_models_name_can_be_given(tmp_path, run_import):
    put_json(tmp_path / "run.json", inspect_log(inspect_sample("c1")))
    done = run_import("runs", tmp_path / "run.json", model=["GPT-5"])
    answer = done.review_set.answers_of("c1")[0]
    assert (answer.model, answer.extra["served model"]) == ("GPT-5", "gpt-5")


def test_pictures_that_the_log_does_not_hold_are_a_warning(tmp_path, run_import):
    content = [{"type": "text", "text": "What?"}, {"type": "image", "image": "attachment://0"}]
    sample = inspect_sample("c1", input=[{"role": "user", "content": content}])
    put_json(tmp_path / "run.json", inspect_log(sample))
    done = run_import("runs", tmp_path / "run.json")
    assert done.messages("Pictures of samples that the log does not hold were left out.")
    assert done.review_set.case("c1").question == "What?"


def test_a_conversation_is_kept_where_the_model_spoke_twice(tmp_path, run_import):
    talk = [
        {"role": role, "content": f"{role} {turn}"}
        for turn in (1, 2)
        for role in ("user", "assistant")
    ]
    put_json(tmp_path / "run.json", inspect_log(inspect_sample("c1", messages=talk)))
    done = run_import("runs", tmp_path / "run.json")
    assert done.review_set.answers_of("c1")[0].extra["conversation"] == talk


def zstandard_twin(path, target, name, content):
    """Copy a log, its member ``name`` packed anew with Zstandard and other content."""
    members = {}
    with zipfile.ZipFile(path) as archive:
        members = {one.filename: one for one in archive.infolist()}
    raw = bytearray(path.read_bytes())
    member = members[name]
    start = member.header_offset + 30
    start += sum(struct.unpack("<HH", raw[member.header_offset + 26 : member.header_offset + 30]))
    packed = pa.compress(content, codec="zstd", asbytes=True)
    assert len(packed) <= member.compress_size
    raw[start : start + member.compress_size] = packed.ljust(member.compress_size, b"\0")
    target.write_bytes(raw)


def test_a_damaged_sample_is_named_and_the_others_are_read(tmp_path, run_import):
    zstandard_twin(INSPECT_LOG, tmp_path / "log.eval", "samples/c1_epoch_2.json", b"{}" * 40)
    done = run_import("auto", tmp_path / "log.eval")
    assert done.review_set.answers.height == 3
    (unused,) = done.report.receipt.rows_unused
    assert (unused.why, unused.rows) == ("It is damaged.", (3,))
    assert done.messages("samples/c1_epoch_2.json: It is damaged.")
    assert done.messages("3 of its 4 samples are in it.")


def test_a_bomb_inside_a_log_is_not_unpacked(tmp_path, run_import):
    log = inspect_log(inspect_sample("c1"))
    members = {
        "header.json": header_of(log),
        "samples/c1_epoch_1.json": inspect_sample("c1"),
        "samples/c2_epoch_1.json": '{"id": "' + "x" * 30_000_000 + '"}',
        "samples/c3_epoch_1.json": "[" * 1000 + "]" * 1000,
        "samples/../../c4.json": inspect_sample("c4"),
    }
    put_archive(tmp_path / "log.eval", members)
    done = run_import("runs", tmp_path / "log.eval")
    assert {one.why for one in done.report.receipt.rows_unused} == {
        "It would be far larger than the archive.",
        "It is not JSON: it is nested too deeply.",
    }
    assert {one["case"] for one in done.review_set.answers.iter_rows(named=True)} == {"c1", "c4"}
    assert not (tmp_path.parent / "c4.json").exists()


@pytest.mark.parametrize("sample", [3, None, [], {"id": {"a": 1}, "output": 7, "input": 3}])
def test_samples_of_any_kind_end_in_a_receipt(tmp_path, sample):
    odd = {"output": {"choices": 4, "usage": [], "model": {}}, "scores": 1, "messages": "x"}
    put_json(tmp_path / "run.json", inspect_log(sample, odd, inspect_sample("c1")))
    receipt = import_source("auto", [tmp_path / "run.json"], tmp_path / "out").receipt
    assert receipt.rows_in == 3
    assert receipt.rows_in == receipt.rows_used + sum(one.count for one in receipt.rows_unused)
    assert load_review_set(tmp_path / "out").answers_of("c1")[0].text == "ANSWER: A"


def test_a_run_that_holds_no_sample_is_refused(tmp_path):
    put_json(tmp_path / "run.json", inspect_log(status="started"))
    with pytest.raises(ImportSourceError) as caught:
        import_source("runs", [tmp_path / "run.json"], tmp_path / "out")
    assert "The log holds no samples." in {one.message for one in caught.value.problems}
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("name", ["a_b_supp.pkl", "predictions.json"])
def test_pickles_and_other_files_are_refused_with_what_to_do(tmp_path, name):
    content = pickle.dumps({1: "A"}) if name.endswith("pkl") else b'{"a": 1}'
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ImportSourceError) as caught:
        import_source("runs", [tmp_path / name], tmp_path / "out")
    said = " ".join(f"{one.message} {one.remedy}" for one in caught.value.problems)
    assert ("PRED_FORMAT" if name.endswith("pkl") else "lmms-eval") in said


def test_several_answers_of_lmms_eval_are_repeats(tmp_path, run_import):
    sample = lmms_sample(1, resps=[["Left.", "Right.", "Left."]], filtered_resps=["Left."])
    put_lmms_eval(tmp_path / "logs", sample)
    done = run_import("auto", tmp_path / "logs")
    answers = done.review_set.answers_of("1", all_runs=True)
    assert [(one.repeat, one.text) for one in answers] == [
        (1, "Left."),
        (2, "Right."),
        (3, "Left."),
    ]
    assert answers[0].output_tokens == 17


def test_samples_of_lmms_eval_without_results(tmp_path, run_import):
    put_lines(tmp_path / "logs" / "1_samples_cxr.jsonl", [lmms_sample(1), {"x": 1}])
    source = tmp_path / "logs" / "1_samples_cxr.jsonl"
    done = run_import("runs", source)
    assert done.messages("No file says which model answered; it is called 1_samples_cxr.")
    assert done.messages("The line is no sample of lmms-eval.")
    named = run_import("runs", source, model=["MedGemma"])
    assert named.review_set.answers_of("1")[0].model == "MedGemma"
    assert not named.messages("No file says")


def test_predictions_of_vlmevalkit_alone_below_the_models_folder(tmp_path, run_import):
    row = ["x1", "Where?", "left", "right", "A", "B", "1", "judged"]
    folder = tmp_path / "outputs" / "llava_v1.5_7b" / "T20251106-101500"
    names = "index|question|A|B|answer|prediction|hit|log"
    put_csv(folder / "llava_v1.5_7b_CXR_VQA_gpt-4o-mini_result.tsv", names, row, delimiter="\t")
    done = run_import("auto", tmp_path / "outputs")
    answer = done.review_set.answers_of("x1")[0]
    assert (answer.model, answer.choice, answer.extra["hit"]) == ("llava_v1.5_7b", 1, "1")
    assert "hit" not in done.review_set.case("x1").extra


def test_a_batch_is_read_by_the_same_command(tmp_path, run_import):
    message = {"role": "assistant", "content": "Left effusion."}
    body = {"model": "gpt-5", "choices": [{"message": message, "finish_reason": "stop"}]}
    response = {"status_code": 200, "body": body}
    put_lines(tmp_path / "output.jsonl", [{"custom_id": "c1", "response": response}] * 2)
    shutil.copy(INSPECT_LOG, tmp_path / "log.eval")
    done = run_import("runs", tmp_path / "output.jsonl", tmp_path / "log.eval")
    models = {one.model for one in done.review_set.answers_of("c1")}
    assert models == {"gpt-5", "mockllm/model"}


def test_pictures_inside_predictions_become_those_of_the_cases(tmp_path, run_import):
    put_picture(tmp_path / "film.png")
    encoded = base64.b64encode((tmp_path / "film.png").read_bytes()).decode()
    names = "index|question|answer|prediction|image"
    row = ["1", "Where?", "left", "On the left.", encoded]
    put_csv(tmp_path / "in" / "GPT4o_CXR.tsv", names, row, delimiter="\t")
    told = dict(zip(names.split("|"), row, strict=True))
    put_json(tmp_path / "in" / "GPT4o_CXR.json", [told])
    for source in sorted((tmp_path / "in").iterdir()):
        done = run_import("runs", source, model=["GPT-4o"])
        assert done.report.receipt.images_found == 1, source.name
        case = done.review_set.case("1")
        assert (case.extra["expected answer"], len(case.images)) == ("left", 1)


def test_a_log_whose_run_was_cut_off_is_refused(tmp_path):
    (tmp_path / "log.eval").write_bytes(INSPECT_LOG.read_bytes()[:4000])
    with pytest.raises(ImportSourceError) as caught:
        import_source("runs", [tmp_path / "log.eval"], tmp_path / "out")
    assert "or its run was cut off" in caught.value.problems[0].message


def test_a_log_that_is_added_twice_changes_no_answer(tmp_path):
    out = tmp_path / "out"
    import_source("runs", [INSPECT_LOG], out)
    answers = (out / "answers.jsonl").read_text()
    receipt = import_source("runs", [INSPECT_LOG], out, into=True).receipt
    assert receipt.notes[0].endswith("cases matched: 2 by id.")
    assert {one.column for one in receipt.columns_unused} >= {"image"}
    assert (out / "answers.jsonl").read_text() == answers
    assert (receipt.cases, receipt.before["cases"], receipt.images) == (2, 2, 2)


def test_samples_are_read_where_the_log_says_nothing_of_its_run(tmp_path, run_import):
    put_archive(
        tmp_path / "log.eval",
        {"header.json": "{", "samples/c1_epoch_1.json": inspect_sample("c1")},
    )
    done = run_import("auto", tmp_path / "log.eval")
    assert done.review_set.answers_of("c1")[0].model == "gpt-5"
    assert done.messages("The log says of its run: nothing that can be read.")


def test_further_sheets_of_predictions_are_named(tmp_path, run_import):
    book = Workbook()
    for row in (["index", "question", "answer", "prediction"], [1, "Where?", "left", "Left."]):
        book.active.append(row)
    book.create_sheet("Notes").append(["written by hand"])
    book.save(tmp_path / "GPT4o_CXR.xlsx")
    done = run_import("auto", tmp_path / "GPT4o_CXR.xlsx")
    (unread,) = done.report.receipt.files_unread
    assert unread.file == "GPT4o_CXR.xlsx: Notes"
    assert done.review_set.answers_of("1")[0].model == "GPT4o_CXR"
    assert done.messages("No file says which model answered")
