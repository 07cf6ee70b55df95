"""Files and batches, as far as the Batch API needs them."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from email import message_from_bytes
from email.policy import HTTP
from typing import TYPE_CHECKING, Any

from support.model_server.http import Answered, Asked

if TYPE_CHECKING:
    from support.model_server.service import Service

ENDED = ("completed", "failed", "expired", "cancelled")


def form(asked: Asked) -> dict[str, tuple[str | None, bytes]]:
    """Return the fields of a multipart body: name of the file and content."""
    head = f"content-type: {asked.headers['content-type']}\r\n\r\n".encode()
    message = message_from_bytes(head + asked.body, policy=HTTP)
    found = {}
    for part in message.iter_parts():
        name = part.get_param("name", header="content-disposition")
        found[str(name)] = (part.get_filename(), part.get_payload(decode=True) or b"")
    return found


class Batches:
    """What was uploaded, and what became of it; a batch goes on each time it is asked for."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._kept = 0
        self._files: dict[str, tuple[dict[str, Any], bytes]] = {}
        self._batches: dict[str, dict[str, Any]] = {}
        self._polls: dict[str, int] = {}

    def handle(self, asked: Asked) -> Answered:
        """Answer what is asked of files and batches."""
        options = self._service.options
        if not options.batches:
            return Answered.of({"detail": "Not Found"}, 404)  # as vLLM says it
        match (asked.method, asked.path.removeprefix("/v1/").split("/")):
            case "POST", ["files"]:
                fields = form(asked)
                name, content = fields["file"]
                return Answered.of(
                    self._keep(name or "file", fields["purpose"][1].decode(), content)
                )
            case "GET", ["files"]:
                cards = [card for card, _ in self._files.values()]
                return Answered.of({"object": "list", "data": cards, "has_more": False})
            case "GET", ["files", number, "content"] if number in self._files:
                return Answered(
                    body=self._files[number][1], content_type="application/octet-stream"
                )
            case "GET", ["files", number] if number in self._files:
                return Answered.of(self._files[number][0])
            case "DELETE", ["files", number] if number in self._files:
                del self._files[number]
                return Answered.of({"id": number, "object": "file", "deleted": True})
            case "POST", ["batches"]:
                return self._begin(json.loads(asked.body))
            case "GET", ["batches"]:
                rows = list(self._batches.values())
                return Answered.of({"object": "list", "data": rows, "has_more": False})
            case "GET", ["batches", number] if options.batches_known and number in self._batches:
                self._polls[number] += 1
                key = asked.headers.get("authorization", "").removeprefix("Bearer ")
                return Answered.of(self._go_on(self._batches[number], key))
            case "POST", ["batches", number, "cancel"] if number in self._batches:
                batch = self._batches[number]
                if batch["status"] not in ENDED:
                    batch |= {"status": "cancelling", "cancelling_at": int(time.time())}
                return Answered.of(batch)
        error = {"message": f"No such thing: {asked.path}", "type": "invalid_request_error"}
        return Answered.of({"error": {**error, "param": None, "code": None}}, 404)

    def _keep(self, name: str, purpose: str, content: bytes) -> dict[str, Any]:
        self._kept += 1
        number = f"file-{self._kept:06x}"
        card = {
            "id": number,
            "object": "file",
            "bytes": len(content),
            "created_at": int(time.time()),
            "filename": name,
            "purpose": purpose,
            "status": "processed",
        }
        self._files[number] = (card, content)
        return card

    def _begin(self, told: Mapping[str, Any]) -> Answered:
        number = f"batch_{len(self._batches) + 1:06x}"
        now = int(time.time())
        batch = {
            "id": number,
            "object": "batch",
            "endpoint": told["endpoint"],
            "input_file_id": told["input_file_id"],
            "completion_window": told["completion_window"],
            "metadata": told.get("metadata"),
            "status": "validating",
            "errors": None,
            "created_at": now,
            "expires_at": now + 86_400,
            "output_file_id": None,
            "error_file_id": None,
            "request_counts": {"total": 0, "completed": 0, "failed": 0},
        }
        self._batches[number] = batch
        self._polls[number] = 0
        return Answered.of(batch)

    def _go_on(self, batch: dict[str, Any], key: str) -> dict[str, Any]:
        if batch["status"] in ENDED:
            return batch
        options = self._service.options
        lines = self._lines(batch)
        if lines is None:
            return batch
        batch["request_counts"]["total"] = len(lines)
        if batch["status"] == "cancelling":
            self._finish(batch, lines, len(lines) // 2, key, "cancelled")
        elif self._polls[batch["id"]] <= options.batch_polls:
            batch |= {"status": "in_progress", "in_progress_at": int(time.time())}
        elif options.batch_done is not None and options.batch_done < len(lines):
            self._finish(batch, lines, options.batch_done, key, "expired")
        else:
            self._finish(batch, lines, len(lines), key, "completed")
        return batch

    def _lines(self, batch: dict[str, Any]) -> list[dict[str, Any]] | None:
        """Return what the batch asks, or None where it is not valid and has failed."""
        options = self._service.options
        card, content = self._files[batch["input_file_id"]]
        lines: list[dict[str, Any]] = []
        fault: tuple[str, str] | None = None
        where: int | None = None
        if card["purpose"] != "batch":
            fault = ("invalid_purpose", "The file was not uploaded for batches.")
        elif len(content) > options.batch_bytes:
            fault = ("file_too_large", "The file is too large for a batch.")
        else:
            seen: set[str] = set()
            for number, line in enumerate(content.splitlines(), start=1):
                where = number
                try:
                    row = json.loads(line)
                    lines.append({name: row[name] for name in ("custom_id", "url", "body")})
                except (ValueError, KeyError, TypeError):
                    fault = ("invalid_json_line", "A line is not valid.")
                    break
                if row["custom_id"] in seen:
                    fault = ("duplicate_custom_id", "The custom_id is not unique.")
                elif row["url"] != batch["endpoint"] or row.get("method") != "POST":
                    fault = ("mismatched_endpoint", "The url is not that of the batch.")
                elif len(lines) > options.batch_requests:
                    fault = ("too_many_requests", "There are too many requests in the batch.")
                if fault:
                    break
                seen.add(row["custom_id"])
        if fault is None:
            return lines
        told = {"code": fault[0], "message": fault[1], "param": None, "line": where}
        batch |= {"status": "failed", "errors": {"object": "list", "data": [told]}}
        batch["failed_at"] = int(time.time())
        return None

    def _finish(
        self, batch: dict[str, Any], lines: list[dict[str, Any]], done: int, key: str, status: str
    ) -> None:
        good, bad = [], []
        for number, line in enumerate(lines):
            row: dict[str, Any] = {"id": f"batch_req_{number}", "custom_id": line["custom_id"]}
            if number >= done:
                told = f"This request could not be executed before the batch {status}."
                row |= {"response": None, "error": {"code": f"batch_{status}", "message": told}}
                bad.append(row)
                continue
            answered = self._service.answer(line["url"], line["body"], key, batch["id"])
            row["response"] = {
                "status_code": answered.status,
                "request_id": answered.headers["x-request-id"],
                "body": json.loads(answered.body),
            }
            row["error"] = None
            (good if answered.status < 400 else bad).append(row)
        # results come in any order
        for rows, field in ((good[::-1], "output_file_id"), (bad[::-1], "error_file_id")):
            if rows:
                content = b"".join(json.dumps(row).encode() + b"\n" for row in rows)
                batch[field] = self._keep(f"{field}.jsonl", "batch_output", content)["id"]
        batch["request_counts"] |= {"completed": len(good), "failed": len(bad)}
        batch |= {"status": status, f"{status}_at": int(time.time())}
