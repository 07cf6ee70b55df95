"""What the server answers and keeps: models, keys, limits, bills, and what it was asked."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

from support.model_server import billing, bodies, embeddings, made_up
from support.model_server.batches import Batches
from support.model_server.http import Answered, Asked
from support.model_server.limits import Limits
from support.model_server.script import Script, Turn

ASKED = {
    "/v1/responses": (bodies.asked_responses, bodies.response_body),
    "/v1/chat/completions": (bodies.asked_chat, bodies.chat_body),
}
LIMIT_WHERE_NONE_IS_ASKED = 16_384


@dataclass(frozen=True)
class Options:
    """What kind of server it is.

    ``models`` and ``keys`` are those that it knows (None: any). ``structured`` and ``vision`` say
    whether it takes a JSON schema and pictures, ``says_why`` whether it names the schema as what it
    does not take, ``other_limit`` is a name of the limit that it does
    not take. ``image_tokens`` is what every picture costs, as on
    servers of one model. ``delay_s`` passes before every answer. ``batch_polls`` is how often a
    batch must be asked for until it has ended, ``batch_done`` how many of its requests are done
    until it expires. ``embeds`` says whether it has embeddings, ``batches`` whether there is a
    Batch API, ``batches_known`` whether it still knows those that were begun.
    """

    models: tuple[str, ...] | None = None
    keys: tuple[str, ...] | None = None
    structured: bool = True
    says_why: bool = True
    vision: bool = True
    other_limit: str | None = None
    image_tokens: int | None = None
    delay_s: float = 0.0
    requests_a_minute: int | None = None
    tokens_a_minute: int | None = None
    embeds: bool = True
    batches: bool = True
    batches_known: bool = True
    batch_polls: int = 2
    batch_done: int | None = None
    batch_requests: int = 50_000
    batch_bytes: int = 200_000_000

    @classmethod
    def read(cls, told: Mapping[str, Any]) -> Options:
        """Make them of plain JSON."""
        names = {field.name for field in fields(cls)}
        if told.keys() - names:
            raise ValueError(f"a server has no {', '.join(sorted(told.keys() - names))}")
        lists = {name: tuple(value) for name, value in told.items() if isinstance(value, list)}
        return cls(**{**told, **lists})


class HttpError(Exception):
    """What is answered with an HTTP error."""

    def __init__(self, status: int, message: str, **more: Any) -> None:
        super().__init__(message)
        self.status = status
        self.headers: dict[str, str] = more.pop("headers", {})
        kind = "invalid_request_error" if status < 500 else "server_error"
        self.error = {"message": message, "type": kind, **more}


class Service:
    """One server's state; asked from its own event loop only."""

    def __init__(self, rules: Sequence[Mapping[str, Any]], options: Options) -> None:
        self.options = options
        self.script = Script(rules)
        self.ledger: list[dict[str, Any]] = []
        self.limits = Limits(options.requests_a_minute, options.tokens_a_minute)
        self.batches = Batches(self)
        self.in_flight = 0
        self.most_in_flight = 0

    async def handle(self, asked: Asked) -> Answered:
        """Answer one HTTP request."""
        try:
            if not asked.path.startswith("/v1/"):
                return self._control(asked)
            key = asked.headers.get("authorization", "").removeprefix("Bearer ")
            self._check_key(key)
            if asked.path in ASKED and asked.method == "POST":
                return await self._asked(asked, key)
            if asked.path == "/v1/embeddings" and self.options.embeds:
                return embeddings.answer(asked.body)
            if asked.path.startswith("/v1/models"):
                return self._models(asked.path)
            return self.batches.handle(asked)
        except HttpError as error:
            value = bodies.error_body(error.error)
            return Answered.of(value, error.status, headers=error.headers)

    def _check_key(self, key: str) -> None:
        if self.options.keys is not None and key not in self.options.keys:
            told = f"Incorrect API key provided: {key}. You can find your API key in your account."
            raise HttpError(401, told, code="invalid_api_key")

    def _models(self, path: str) -> Answered:
        known = self.options.models or ("gpt-5-mini",)
        cards = [
            {"id": name, "object": "model", "created": 1, "owned_by": "scripted"} for name in known
        ]
        name = path.removeprefix("/v1/models").strip("/")
        if not name:
            return Answered.of({"object": "list", "data": cards})
        if name not in known:
            raise HttpError(404, f"The model '{name}' does not exist", code="model_not_found")
        return Answered.of(cards[known.index(name)])

    async def _asked(self, asked: Asked, key: str) -> Answered:
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            try:
                body = json.loads(asked.body)
            except ValueError:
                raise HttpError(400, "We could not parse the JSON body of your request.") from None
            answered = self.answer(asked.path, body, key)
            self.ledger[-1]["headers"] = sorted(asked.headers)
            if self.options.delay_s:
                await asyncio.sleep(self.options.delay_s)
            if answered.delay_s:  # silent while it works on it: it is in flight until it answers
                await asyncio.sleep(answered.delay_s)
                answered.delay_s = 0.0
            return answered
        finally:
            self.in_flight -= 1

    def answer(self, path: str, body: Any, key: str, batch: str | None = None) -> Answered:
        """Answer a body of either API, and write the bill."""
        read, write = ASKED[path]
        try:
            question = read(body)
        except (KeyError, TypeError, AttributeError) as fault:
            raise HttpError(400, f"Missing or wrong field: {fault}.") from None
        number, before, turn = self.script.turn(question.api, question.model, question.text)
        entry: dict[str, Any] = {
            "number": len(self.ledger) + 1,
            "time": time.time(),
            "api": question.api,
            "model": question.model,
            "text": question.text,
            "roles": question.roles,
            "pictures": [asdict(picture) for picture in question.pictures],
            "sent": {
                name: value
                for name, value in question.body.items()
                if name not in ("input", "messages", "instructions")
            },
            "key_end": key[-4:],
            "batch": batch,
            "rule": number,
            "turn": before,
            "status": 0,
            "input": 0,
            "output": 0,
            "reasoning": 0,
            "cached": 0,
            "delivered": False,
        }
        self.ledger.append(entry)
        request_id = f"req_{entry['number']:08x}"
        headers = {"x-request-id": request_id, "openai-processing-ms": "1"}
        try:
            self._refuse(question, turn, key)
            answered = self._answer(question, turn, write, entry)
        except HttpError as error:
            value = bodies.error_body(error.error)
            answered = Answered.of(value, error.status, headers=dict(error.headers))
        answered.headers |= headers
        if batch is None:
            answered.headers |= self.limits.headers()
        entry["status"] = answered.status
        answered.delay_s = turn.get("delay_s", 0.0)
        answered.trickle_s = turn.get("trickle_s", 0.0)
        answered.cut = turn.get("cut")
        answered.sent = lambda: entry.update(delivered=True)
        return answered

    def _answer(
        self, question: bodies.Question, turn: Turn, write: Any, entry: dict[str, Any]
    ) -> Answered:
        input_tokens = self._input_tokens(question)
        wait = None if entry["batch"] else self.limits.take(input_tokens)
        if wait is not None:
            told = "Rate limit reached for requests. Please try again later."
            after = {"retry-after": f"{wait:.3f}"}
            raise HttpError(429, told, type="requests", code="rate_limit_exceeded", headers=after)
        answer = self._said(question, turn, input_tokens)
        entry |= {
            "input": answer.input_tokens,
            "output": answer.output_tokens,
            "reasoning": answer.reasoning,
            "cached": answer.cached,
        }
        if "body" in turn:
            return Answered.of(turn["body"], turn.get("status", 200))
        if "garbage" in turn:
            return Answered(body=b'{"id": "resp_1", "output": [{"type":')
        if "html" in turn:
            page = b"<html><body><h1>502 Bad Gateway</h1></body></html>"
            return Answered(turn.get("status", 502), page, "text/html")
        return Answered.of(write(question, answer))

    def _refuse(self, question: bodies.Question, turn: Turn, key: str) -> None:
        if error := turn.get("error"):
            headers = {name: str(value) for name, value in error.get("headers", {}).items()}
            if "retry_after" in error:
                headers["retry-after"] = str(error["retry_after"])
            message = error.get("message", "Something went wrong.")
            more = {name: error[name] for name in ("code", "type", "param") if name in error}
            raise HttpError(error["status"], message.replace("{key}", key), headers=headers, **more)
        known = self.options.models
        if known is not None and question.model not in known:
            told = f"The model `{question.model}` does not exist or you do not have access to it."
            raise HttpError(404, told, code="model_not_found")
        if question.schema is not None and not self.options.structured:
            if not self.options.says_why:
                raise HttpError(400, "Bad Request")
            field = "text.format" if question.api == "responses" else "response_format"
            raise HttpError(400, f"Unsupported parameter: '{field}'.", param=field)
        if (other := self.options.other_limit) and other in question.body:
            told = f"Unsupported parameter: '{other}' is not supported with this model."
            raise HttpError(400, told, param=other, code="unsupported_parameter")
        if question.pictures and not self.options.vision:
            raise HttpError(400, "This model does not support image input.", param="input")
        for picture in question.pictures:
            if picture.width is None:
                told = "The image data you provided does not represent a valid image."
                raise HttpError(400, told, code="invalid_image_format", param="input")

    def _input_tokens(self, question: bodies.Question) -> int:
        of_texts = sum(billing.text_tokens(text) for text in question.texts)
        if question.schema is not None:
            of_texts += billing.text_tokens(json.dumps(question.schema))
        of_pictures = sum(
            self.options.image_tokens
            or billing.image_tokens(
                question.model, picture.width or 0, picture.height or 0, picture.detail
            )
            for picture in question.pictures
        )
        messages = billing.PER_MESSAGE * len(question.roles)
        return of_texts + of_pictures + messages + billing.PER_REPLY

    def _said(self, question: bodies.Question, turn: Turn, input_tokens: int) -> bodies.Answer:
        sizes = [(picture.width or 1, picture.height or 1) for picture in question.pictures]
        if "messages" in turn:
            said = [(each.get("phase"), each["text"]) for each in turn["messages"]]
        elif "huge" in turn:
            said = [(None, ("All is normal. " * (turn["huge"] // 15 + 1))[: turn["huge"]])]
        elif "json" in turn:
            said = [(None, json.dumps(turn["json"]))]
        elif "boxes" in turn:
            said = [(None, made_up.boxes_text(turn["boxes"], sizes))]
        elif "text" in turn:
            said = [(None, turn["text"])]
        elif question.schema is not None:
            said = [(None, made_up.of_schema(question.schema, question.text))]
        else:
            said = [(None, made_up.plain(question.text))]
        if "refusal" in turn or (turn.get("filtered") and "text" not in turn):
            said = []
        limit = question.limit or LIMIT_WHERE_NONE_IS_ASKED
        reasoning = min(turn.get("reasoning", 0), limit)
        left, output, at_limit = limit - reasoning, reasoning, False
        cut: list[tuple[str | None, str]] = []
        if "huge" in turn:
            cut, output = said, reasoning + turn["huge"] // 4
        else:
            for phase, text in said:
                tokens = billing.pieces(text)
                kept = tokens[:left]
                at_limit = at_limit or len(kept) < len(tokens)
                if kept:
                    cut.append((phase, "".join(kept)))
                left -= len(kept)
                output += len(kept)
        if "refusal" in turn:
            output += billing.text_tokens(turn["refusal"])
        return bodies.Answer(
            messages=tuple(cut),
            input_tokens=input_tokens,
            output_tokens=output,
            reasoning=reasoning,
            cached=min(turn.get("cached", 0), input_tokens),
            refusal=turn.get("refusal"),
            filtered=bool(turn.get("filtered")),
            incomplete=turn.get("incomplete"),
            at_limit=at_limit,
            silent_limit=bool(turn.get("silent_limit")),
            pictures=turn.get("pictures", 0),
            failed=turn.get("failed"),
            done_reason=turn.get("done_reason"),
            usage=not turn.get("no_usage"),
            served_as=turn.get("served_as"),
        )

    def _control(self, asked: Asked) -> Answered:
        if asked.path == "/ledger":
            billed = ("input", "output", "reasoning", "cached")
            totals = {name: sum(entry[name] for entry in self.ledger) for name in billed}
            totals |= {"requests": len(self.ledger), "most_in_flight": self.most_in_flight}
            totals["in_flight"] = self.in_flight
            return Answered.of({"requests": self.ledger, "totals": totals})
        told = json.loads(asked.body or b"null")
        if asked.path == "/script" and asked.method == "POST":
            self.script = Script(told)
        elif asked.path == "/options" and asked.method == "POST":
            self.options = Options.read(told)
            self.limits = Limits(self.options.requests_a_minute, self.options.tokens_a_minute)
        elif asked.path == "/reset" and asked.method == "POST":
            self.ledger.clear()
            self.most_in_flight = 0
        else:
            raise HttpError(404, "There is nothing here.")
        return Answered.of({"done": True})
