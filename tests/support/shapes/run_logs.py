"""Logs of programs that run models: Inspect's archive, lmms-eval, VLMEvalKit."""

import shutil
from pathlib import Path
from typing import Any

from openpyxl import Workbook

from support import ROOT
from support.shapes.shape import QUESTION, answer, put, put_json, put_lines, put_picture, shape

INSPECT_LOG = ROOT / "tests/data/inspect/cxr.eval"
"""Written by Inspect 0.3.285 with its scripted model: 2 samples, 2 epochs, one picture."""
ABOUT_RUN = "_journal/start.json, _journal/summaries/1.json, summaries.json, reductions.json, "


@shape(
    "inspect-archive",
    "runs",
    "images",
    cases=2,
    models={"mockllm/model": 4},
    images_found=2,
    rows_in=4,
    kept={
        *("metadata.site", "scores.choice.answer", "scores.choice.value", "task", "total_time"),
        *("usage.reasoning_tokens", "usage.total_tokens"),
        "working_time",
    },
    columns_unused={
        "image",
        f"{ABOUT_RUN}header.json",
        "samples: events, events_data, messages, model_usage, turn_count, uuid",
    },
    identity={"metadata.patient_name"},
    texts=["I cannot tell. I cannot tell."],
)
def _(folder: Path) -> None:
    shutil.copy(INSPECT_LOG, folder / "2026-11-23_cxr.eval")
    for name in ("c1", "c2"):
        put_picture(folder / "films" / f"{name}.png")


def lmms_sample(number: int, **more: Any) -> dict[str, Any]:
    """A sample as lmms-eval saves it: ``resps`` is left out where it says the same."""
    return {
        "doc_id": number,
        "target": "Effusion",
        "filtered_resps": [answer(number, "medgemma")],
        "doc_hash": f"74234e98{number}",
        "token_counts": [{"output_tokens": 17, "reasoning_tokens": 0}],
        "cxr_accuracy": 1.0,
        "input": f"{QUESTION} ({number})",
        **more,
    }


def put_lmms_eval(folder: Path, *samples: Any) -> None:
    """Write a run of lmms-eval: a folder named for the model, with samples and results."""
    model = "google/medgemma-4b-it"
    inside = folder / model.replace("/", "__")
    put_lines(inside / "20251106_101500_samples_cxr.jsonl", samples)
    results = {
        "results": {"cxr": {"alias": "cxr", "accuracy,none": 0.5}},
        "config": {"model": "vllm", "model_args": f"model={model}", "gen_kwargs": ""},
        "n-samples": {"cxr": {"original": len(samples), "effective": len(samples)}},
        "model_source": "vllm",
        "model_name": model,
        "model_name_sanitized": inside.name,
    }
    put_json(inside / "20251106_101500_results.json", results)


@shape(
    "lmms-eval",
    "runs",
    cases=4,
    models={"google/medgemma-4b-it": 4},
    rows_in=5,
    unused=1,
    kept={
        *("cxr_accuracy", "doc_hash", "expected answer", "filtered answer", "task"),
        "usage.reasoning_tokens",
    },
    columns_unused={
        *("config", "model_name", "model_name_sanitized", "model_source", "n-samples", "results"),
    },
    texts=["The answer is B."],
)
def _(folder: Path) -> None:
    put_lmms_eval(
        folder,
        lmms_sample(0),
        lmms_sample(1),
        lmms_sample(2, resps=[["The answer is B."]], filtered_resps=["B"]),
        lmms_sample(3, filtered_resps=[]),
        lmms_sample(4, resps=[[[-1.5, True]], [[-0.5, False]]]),
    )


PREDICTIONS = ("index", "question", "A", "B", "answer", "category", "split", "prediction")


@shape(
    "vlmevalkit",
    "runs",
    cases=3,
    models={"medgemma-4b-it": 3, "GPT4o": 3},
    rows_in=6,
    kept={"split"},
    texts=["B. nodule", "Failed to obtain answer via API."],
)
def _(folder: Path) -> None:
    told = {
        "medgemma-4b-it": ["A", "B. nodule", "The answer is A, effusion."],
        "GPT4o": ["B", "Failed to obtain answer via API.", "A"],
    }
    rows = {
        model: [
            [number, f"{QUESTION} ({number})", "effusion", "nodule", "A", "Presence", "test", text]
            for number, text in enumerate(texts, start=1)
        ]
        for model, texts in told.items()
    }
    book = Workbook()
    for row in (PREDICTIONS, *rows["medgemma-4b-it"]):
        book.active.append(row)
    book.save(folder / "medgemma-4b-it_CXR_VQA.xlsx")
    lines = ["\t".join(f'"{cell}"' for cell in row) for row in (PREDICTIONS, *rows["GPT4o"])]
    put(folder / "GPT4o_CXR_VQA.tsv", "\n".join(lines) + "\n")
