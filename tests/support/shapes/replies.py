"""Replies of servers, and samples of evaluation programs."""

from pathlib import Path
from typing import Any

from support.shapes.shape import QUESTION, answer, put_csv, put_json, put_lines, shape

SERVED = "gpt-4o-2024-11-20"


def _chat(case: str, text: str | None, reason: str = "stop", **message: Any) -> dict[str, Any]:
    body = {
        "id": f"chatcmpl-{case}",
        "object": "chat.completion",
        "created": 1741570283,
        "model": SERVED,
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": text, **message},
                "finish_reason": reason,
            }
        ],
        "usage": {"prompt_tokens": 812, "completion_tokens": 40, "total_tokens": 852},
    }
    response = {"status_code": 200, "request_id": f"r-{case}", "body": body}
    return {"id": f"batch_req_{case}", "custom_id": case, "response": response, "error": None}


def _request(case: str, url: str, **body: Any) -> dict[str, Any]:
    return {"custom_id": case, "method": "POST", "url": url, "body": {"model": "gpt-4o", **body}}


ENVELOPE = {
    *("batch id", "reply id", "response.request_id", "response.status_code", "usage.total_tokens"),
}
"""What a line of a batch says beside the reply; it is kept."""


@shape(
    "openai-batch",
    "table",
    cases=4,
    models={SERVED: 4},
    rows_in=4,
    kept={*ENVELOPE, "refusal"},
    texts=["I cannot assist."],
)
def _(folder: Path) -> None:
    expired = {"code": "batch_expired", "message": "The request expired."}
    rows = [
        _chat("c1", answer(1, SERVED)),
        _chat("c2", answer(2, SERVED)[:20], "length"),
        _chat("c3", None, refusal="I cannot assist."),
        {"id": "batch_req_c4", "custom_id": "c4", "response": None, "error": expired},
    ]
    put_lines(folder / "batch_67d0_output.jsonl", rows)


@shape(
    "openai-batch-with-requests",
    "table",
    cases=3,
    models={SERVED: 3},
    rows_in=6,
    kept={*ENVELOPE, "method", "requested model", "url"},
    texts=[QUESTION],
)
def _(folder: Path) -> None:
    asked = [{"role": "user", "content": [{"type": "text", "text": QUESTION}]}]
    url = "/v1/chat/completions"
    requests = [_request(f"c{n}", url, messages=asked, max_tokens=300) for n in (1, 2, 3)]
    put_lines(folder / "batch_input.jsonl", requests)
    put_lines(folder / "batch_output.jsonl", [_chat(f"c{n}", answer(n, "4o")) for n in (2, 1)])
    body = {"error": {"message": "Invalid image.", "code": "invalid_image"}}
    failed = {"status_code": 400, "request_id": "r3", "body": body}
    row = {"id": "batch_req_c3", "custom_id": "c3", "response": failed, "error": None}
    put_lines(folder / "batch_errors.jsonl", [row])


@shape(
    "openai-responses",
    "table",
    cases=2,
    models={"gpt-5-2025-08-07": 2},
    rows_in=2,
    kept={*ENVELOPE, "response.body.status"} - {"reply id", "response.request_id"},
)
def _(folder: Path) -> None:
    rows = []
    for n in (1, 2):
        content = [{"type": "output_text", "text": answer(n, "gpt-5"), "annotations": []}]
        message = {"type": "message", "role": "assistant", "content": content}
        body = {
            "id": f"resp_{n}",
            "object": "response",
            "status": "completed" if n == 1 else "incomplete",
            "incomplete_details": None if n == 1 else {"reason": "max_output_tokens"},
            "model": "gpt-5-2025-08-07",
            "output": [{"type": "reasoning", "summary": []}, *([message] if n == 1 else [])],
            "usage": {"input_tokens": 700, "output_tokens": 300, "total_tokens": 1000},
        }
        response = {"status_code": 200, "body": body}
        rows.append({"id": str(n), "custom_id": f"c{n}", "response": response, "error": None})
    put_lines(folder / "output.jsonl", rows)


@shape(
    "anthropic-batch",
    "table",
    cases=3,
    models={"claude-opus-4-1": 3},
    rows_in=6,
    kept={"result.type"},
    texts=["Second block."],
)
def _(folder: Path) -> None:
    message = {
        "type": "message",
        "role": "assistant",
        "model": "claude-opus-4-1",
        "content": [
            {"type": "thinking", "thinking": "Hidden.", "signature": "c2ln"},
            {"type": "text", "text": answer(1, "opus")},
            {"type": "text", "text": "\n\nSecond block."},
        ],
        "stop_reason": "max_tokens",
        "usage": {"input_tokens": 1290, "output_tokens": 88},
    }
    error = {"type": "error", "error": {"type": "invalid_request_error", "message": "Too large."}}
    results = [
        {"type": "succeeded", "message": message},
        {"type": "errored", "error": error},
        {"type": "expired"},
    ]
    put_lines(
        folder / "msgbatch_013_results.jsonl",
        [{"custom_id": f"c{n}", "result": one} for n, one in enumerate(results, 1)],
    )
    rows = [[f"c{n}", QUESTION] for n in (1, 2, 3)]
    put_csv(folder / "questions.csv", "custom_id|question", *rows)


@shape(
    "vllm-outputs",
    "table",
    cases=2,
    models={"Qwen2.5-VL-7B": 2},
    rows_in=2,
    kept={"finished", "index"},
)
def _(folder: Path) -> None:
    rows = [
        {
            "request_id": str(n),
            "study_id": f"s{n}",
            "prompt": QUESTION,
            "outputs": [{"index": 0, "text": answer(n, "qwen"), "finish_reason": "stop"}],
            "finished": True,
        }
        for n in (1, 2)
    ]
    put_lines(folder / "Qwen2.5-VL-7B.jsonl", rows)


@shape(
    "lm-eval-samples",
    "table",
    cases=2,
    models={"medgemma-4b-it": 2, "Qwen__Qwen2.5-VL-7B": 2},
    rows_in=8,
    kept={"exact_match", "filter", "filtered answer", "target"},
)
def _(folder: Path) -> None:
    rows = [
        {
            "doc_id": n,
            "doc": {
                "id": f"c{n}",
                "question": QUESTION,
                "choices": ["effusion", "nodule"],
                "answer": 0,
            },
            "target": "A",
            "arguments": {"gen_args_0": {"arg_0": QUESTION, "arg_1": {"temperature": 0.0}}},
            "resps": [["The answer is (A)."]],
            "filtered_resps": ["A"],
            "filter": name,
            "exact_match": 1.0,
        }
        for n in (1, 2)
        for name in ("strict-match", "flexible-extract")
    ]
    for model in ("medgemma-4b-it", "Qwen__Qwen2.5-VL-7B"):
        put_lines(folder / model / "samples_cxr_2025-06-11T14-02-33.jsonl", rows)


@shape(
    "inspect-log",
    "runs",
    cases=2,
    models={"claude-sonnet-4": 4},
    rows_in=4,
    kept={"requested model", "scores.choice.answer", "scores.choice.value", "task"},
    columns_unused={"eval", "results", "samples: messages", "status", "version"},
)
def _(folder: Path) -> None:
    samples = [
        {
            "id": f"c{n}",
            "epoch": epoch,
            "input": [{"role": "user", "content": [{"type": "text", "text": QUESTION}]}],
            "choices": ["effusion", "nodule"],
            "target": "A",
            "messages": [
                {"role": "user", "content": QUESTION, "source": "input"},
                {
                    "role": "assistant",
                    "content": f"ANSWER: {'AB'[epoch - 1]}",
                    "source": "generate",
                    "model": "claude-sonnet-4",
                },
            ],
            "output": {
                "model": "claude-sonnet-4",
                "choices": [
                    {
                        "message": {
                            "role": "assistant",
                            "content": f"ANSWER: {'AB'[epoch - 1]}",
                            "source": "generate",
                            "model": "claude-sonnet-4",
                        },
                        "stop_reason": "stop",
                    }
                ],
                "completion": f"ANSWER: {'AB'[epoch - 1]}",
                "usage": {"input_tokens": 700, "output_tokens": 6},
            },
            "scores": {"choice": {"value": "C", "answer": "AB"[epoch - 1]}},
        }
        for n in (1, 2)
        for epoch in (1, 2)
    ]
    about = {"task": "cxr_mcq", "model": "anthropic/claude-sonnet-4", "config": {"epochs": 2}}
    put_json(
        folder / "2025-06-03_cxr-mcq.json",
        {"version": 2, "status": "success", "eval": about, "results": {}, "samples": samples},
    )
