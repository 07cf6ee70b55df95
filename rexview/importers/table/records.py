"""Read records from JSON, JSON Lines and Parquet files, and replies logged by programs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from rexview.importers.source_files import MAX_CELLS
from rexview.importers.table.cells import (
    FIELD_COLUMN_NAMES,
    JSON_NAMES,
    KNOWN_NAMES,
    MODEL_NAME,
    ColumnName,
)
from rexview.reviewset.json_text import is_missing

# Turn logged answers into plain records: batches, raw replies of providers, harnesses.
#
# A reply is recognised by its own shape, at any place in an entry: OpenAI's chat completions,
# completions and responses (also sent by vLLM, Azure and OpenRouter), Anthropic's messages,
# Gemini's candidates, Ollama. Other fields of the record stay in it.

Record = dict[str, Any]

_DEEPEST: Final = 3
_OF_A_REPLY: Final = frozenset(
    (
        *("choices", "usage", "content", "candidates", "usageMetadata", "output", "message"),
        *("completion", "object", "stop_reason", "stop_sequence", "type", "role", "done_reason"),
        *("done", "modelVersion", "incomplete_details", "eval_count", "prompt_eval_count"),
    )
)
"""Fields of a reply that are its form, or were read."""


def is_batch(entry: Any) -> bool:
    """True if an entry is a line of a batch: requests or results under a ``custom_id``."""
    if not isinstance(entry, Mapping) or "custom_id" not in entry:
        return False
    return not entry.keys().isdisjoint(("response", "result", "body", "error"))


def is_harness_sample(entry: Any) -> bool:
    """True if an entry is a sample that lm-eval (or lmms-eval) logged."""
    return isinstance(entry, Mapping) and entry.keys() >= {"doc_id", "doc", "resps"}


def plain_entry(entry: Any) -> Any:
    """Return an entry with its reply as ``answer``, ``model`` and other plain fields.

    Fields of a reply are called ``answer``, ``model``, ``finish_reason``, ``input_tokens``,
    ``output_tokens``, ``created`` and ``error``. An entry without a reply is returned unchanged.
    """
    if not isinstance(entry, Mapping):
        return entry
    if is_harness_sample(entry):
        return _harness_sample(entry)
    found = _reply_in(entry)
    if found is None:
        return _request(entry) if is_batch(entry) else entry
    path, reply = found
    rest = _without_reply(entry, path)
    if is_batch(entry) and "id" in rest:
        rest["batch id"] = rest.pop("id")
    if isinstance(error := rest.get("error"), Mapping):
        rest["error"] = error.get("message") or error.get("code") or error.get("type")
    if not path:
        rest = {name: one for name, one in rest.items() if name not in (*reply, "created_at")}
    twice = reply.keys() & rest.keys()
    # the entry's own model is its name here, the reply's model is the one that served it
    told = {name if name not in twice else f"served {name}": one for name, one in reply.items()}
    if "served model" in told and is_batch(entry):
        told["model"], _ = told.pop("served model"), rest.pop("model")
    return rest | told


def _reply_in(entry: Mapping[str, Any], depth: int = 0) -> tuple[tuple[str, ...], Record] | None:
    """Find a provider's reply: the path of names that leads to it, and its fields."""
    told = _reply(entry)
    if told is not None:
        return (), told
    if depth < _DEEPEST:
        for name, part in entry.items():
            if isinstance(part, Mapping) and (found := _reply_in(part, depth + 1)):
                return (name, *found[0]), found[1]
    return None


def _without_reply(entry: Mapping[str, Any], path: tuple[str, ...]) -> Record:
    """Return an entry without the reply, and without envelopes that are empty then."""
    if not path:
        return {name: part for name, part in entry.items() if name not in _OF_A_REPLY}
    name, rest = path[0], dict(entry)
    inner = _without_reply(rest.pop(name), path[1:])
    kept = {key: part for key, part in inner.items() if key not in ("id", "created", "model")}
    return rest | ({name: kept} if kept else {})


def _reply(reply: Mapping[str, Any]) -> Record | None:
    for read in (_openai, _openai_response, _anthropic, _gemini, _ollama):
        found = read(reply)
        if found is not None:
            answer = "" if found["answer"] is None else found["answer"]
            found = {"model": reply.get("model"), **found, "answer": answer}
            return {name: value for name, value in found.items() if value is not None}
    return None


def _usage(usage: Any, given: str, returned: str) -> Record:
    if not isinstance(usage, Mapping):
        return {}
    if given not in usage:  # in the form of inspect_ai
        given, returned = "input_tokens", "output_tokens"
    rest = {name: part for name, part in usage.items() if name not in (given, returned) and part}
    tokens = {"input_tokens": usage.get(given), "output_tokens": usage.get(returned)}
    return tokens | ({"usage": rest} if rest else {})


def _openai(reply: Mapping[str, Any]) -> Record | None:
    choices = reply.get("choices")
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], Mapping):
        return None
    first = choices[0]
    message = first.get("message")
    if not isinstance(message, Mapping) and "text" not in first:
        return None
    text = message_text(message.get("content")) if isinstance(message, Mapping) else first["text"]
    more = [_openai({"choices": [choice]}) for choice in choices[1:]]
    return {
        "answer": text,
        "finish_reason": first.get("finish_reason") or first.get("stop_reason"),
        "created": reply.get("created"),
        "reply id": reply.get("id"),
        "more answers": [one["answer"] or "" for one in more if one] or None,
        "refusal": message.get("refusal") if isinstance(message, Mapping) else None,
        **_usage(reply.get("usage"), "prompt_tokens", "completion_tokens"),
    }


def _openai_response(reply: Mapping[str, Any]) -> Record | None:
    output = reply.get("output")
    if reply.get("object") != "response" or not isinstance(output, list):
        return None
    messages = [one for one in output if isinstance(one, Mapping) and one.get("type") == "message"]
    details = reply.get("incomplete_details")
    why = details.get("reason") if isinstance(details, Mapping) else None
    return {
        "answer": "".join(message_text(one.get("content")) or "" for one in messages),
        "finish_reason": why or reply.get("status"),
        "created": reply.get("created_at"),
        **_usage(reply.get("usage"), "input_tokens", "output_tokens"),
    }


def _anthropic(reply: Mapping[str, Any]) -> Record | None:
    if reply.get("type") != "message" or not isinstance(reply.get("content"), list):
        return None
    usage = _usage(reply.get("usage"), "input_tokens", "output_tokens")
    answer = message_text(reply["content"])
    return {"answer": answer, "finish_reason": reply.get("stop_reason"), **usage}


def _gemini(reply: Mapping[str, Any]) -> Record | None:
    candidates = reply.get("candidates")
    if not isinstance(candidates, list) or not candidates or not isinstance(candidates[0], Mapping):
        return None
    first = candidates[0]
    return {
        "answer": message_text(first.get("content")),
        "finish_reason": first.get("finishReason") or first.get("finish_reason"),
        "model": reply.get("modelVersion") or reply.get("model_version"),
        **_usage(reply.get("usageMetadata"), "promptTokenCount", "candidatesTokenCount"),
    }


def _ollama(reply: Mapping[str, Any]) -> Record | None:
    message = reply.get("message")
    if "done" not in reply or not (isinstance(message, Mapping) or "response" in reply):
        return None
    text = message.get("content") if isinstance(message, Mapping) else reply["response"]
    return {
        "answer": message_text(text),
        "finish_reason": reply.get("done_reason"),
        "created": reply.get("created_at"),
        "input_tokens": reply.get("prompt_eval_count"),
        "output_tokens": reply.get("eval_count"),
    }


def _request(entry: Mapping[str, Any]) -> Record:
    """Read a line of a batch without a reply: the request, or the error."""
    rest = {name: part for name, part in entry.items() if part is not None}
    if "id" in rest:
        rest["batch id"] = rest.pop("id")
    body = rest.get("body") or rest.get("params")
    if isinstance(body, Mapping) and isinstance(body.get("messages"), list):
        asked = {"requested model" if name == "model" else name: body[name] for name in body}
        return {name: part for name, part in rest.items() if part is not body} | asked
    parts = ("error", "response", "result")
    error = next(filter(None, (_error_in(rest.get(name)) for name in parts)), None)
    if error is None:
        return rest
    return {name: one for name, one in rest.items() if name not in parts} | {"error": error}


def _error_in(part: Any, depth: int = 0) -> str | None:
    """Return the text of an error, at any depth of its envelope."""
    if isinstance(part, str):
        return part if depth else None
    if not isinstance(part, Mapping) or depth > _DEEPEST:
        return None
    told = part.get("message") or part.get("code")
    if isinstance(told, str) and told:
        return told
    for name in ("error", "body"):
        if found := _error_in(part.get(name), depth + 1):
            return found
    kind = part.get("type")
    return kind if isinstance(kind, str) and kind in ("errored", "expired", "canceled") else None


def _harness_sample(entry: Mapping[str, Any]) -> Record:
    """Read a sample of lm-eval: the document's fields, the answer, the target, the scores."""
    doc = entry["doc"] if isinstance(entry["doc"], Mapping) else {"document": entry["doc"]}
    filtered = entry.get("filtered_resps") or []
    resps = entry["resps"]
    while isinstance(resps, list) and len(resps) == 1:
        resps = resps[0]
    read = ("doc", "doc_id", "resps", "filtered_resps", "target", "arguments")
    rest = {name: part for name, part in entry.items() if name not in read}
    named = any(name in ("id", "case_id", "question_id", "qid", "study_id") for name in doc)
    found: Record = dict(doc) | ({} if named else {"id": entry["doc_id"]})
    target = entry.get("target")
    if target not in (None, "") and target not in found.values():
        found["target"] = target
    if isinstance(resps, str):
        found["model answer"] = resps
        if isinstance(filtered, list) and filtered and filtered != [resps]:
            found["filtered answer"] = filtered[0] if len(filtered) == 1 else filtered
    else:
        found["resps"] = resps
    return found | {name: part for name, part in rest.items() if name not in found}


def message_text(content: Any) -> str | None:
    """Return a message's text, or its text parts joined; None if it has none."""
    if isinstance(content, str):
        return content
    if isinstance(content, Mapping):
        content = content.get("parts") or [content]
    if not isinstance(content, list):
        return None
    parts = [
        part if isinstance(part, str) else part.get("text")
        for part in content
        if isinstance(part, str | Mapping)
    ]
    texts = [part for part in parts if isinstance(part, str)]
    return "".join(texts) if texts else None


# Records of a JSON file of any shape: the parts that become one row each.
#
# Supported shapes are a list of objects; an object by id; columns by name, as in the pandas orients
# ``columns``, ``list``, ``split`` and ``table``; one list for each split or model; a list with the
# settings of a run; lists of answers or questions inside an entry. Objects inside an entry become
# columns with a dotted name: ``usage.prompt_tokens``.

_JSON_RECORDS_DEEPEST: Final = 4
_WIDEST: Final = 200
"""Maximum keys of an inner object that become columns; a larger object is one value."""
_SPLITS: Final = frozenset(JSON_NAMES["splits"])
_WRAPPERS: Final = frozenset(JSON_NAMES["wrappers"])
_SEVERAL: Final = frozenset(JSON_NAMES["answers_of_an_entry"])
_QUESTIONS: Final = frozenset(JSON_NAMES["questions_of_an_entry"])
_TURNS: Final = frozenset(JSON_NAMES["turns"])


class TooManyCells(Exception):
    """Records have more cells than an import accepts; the rest of them is not made."""


@dataclass
class Records:
    """Records of one table with their numbers in the file, and the entries that are no records.

    ``numbers`` count entries from 1; an entry with several answers gives several records of the
    same number. ``settings`` are stored with the list and belong to no entry. ``unread`` are
    entries that are no objects, with the reason.
    """

    records: list[Record] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)
    name: str | None = None
    settings: Record = field(default_factory=dict)
    unread: list[tuple[int, str]] = field(default_factory=list)
    cells: int = 0

    @classmethod
    def of(cls, entries: Iterable[Any], name: str | None = None) -> Records:
        """Number entries from 1; entries that are no objects are unread."""
        found = cls(name=name)
        for number, entry in enumerate(entries, start=1):
            found.add(entry, number)
        return found

    def add(self, entry: Any, number: int) -> None:
        """Add an entry, flattened, once for each of its answers or questions.

        Raises
        ------
        TooManyCells
        """
        if not isinstance(entry, Mapping):
            self.unread.append((number, "It is not a JSON object."))
            return
        for record in _split_answers(dict(plain_entry(entry))):
            self.records.append(dict(flatten_entry(record)))
            self.cells += len(self.records[-1])
            if self.cells > MAX_CELLS:
                raise TooManyCells
            self.numbers.append(number)


@dataclass
class RunRecords(Records):
    """The answers of one log, one record each; an entry may give several.

    ``unused`` are parts of the log that were not used, with the reason. ``of_case`` names the
    fields about cases; all others are about answers.
    """

    unused: dict[str, str] = field(default_factory=dict)
    of_case: set[str] = field(default_factory=lambda: {"expected answer"})

    def add(self, entry: Mapping[str, Any], number: int) -> None:
        """Add the record of one answer unchanged; empty values are left out."""
        self.records.append({name: one for name, one in entry.items() if one is not None})
        self.numbers.append(number)


def find_record_tables(value: Any) -> list[Records]:
    """Find the tables of a parsed JSON value: usually one, none if it has no records."""
    if isinstance(value, list):
        if _all_are(value, list) and value[0] and all(isinstance(name, str) for name in value[0]):
            return [_of_rows(value[0], value[1:], None)]  # a first row of names
        return [Records.of(value)] if any(isinstance(entry, Mapping) for entry in value) else []
    if not isinstance(value, Mapping) or not value:
        return []
    columns, data = value.get("columns"), value.get("data")
    if isinstance(columns, list) and isinstance(data, list):  # pandas: split
        return [_of_rows(list(map(str, columns)), data, value.get("index"))]
    if isinstance(value.get("schema"), Mapping) and isinstance(data, list):  # pandas: table
        return [Records.of(data)]
    wrapped = [  # an object of objects, below a name such as "data"
        name
        for name, part in value.items()
        if _plain(name) in _WRAPPERS and isinstance(part, Mapping)
        if _all_are([*part.values()], Mapping)
    ]
    if len(wrapped) == 1:
        inner = find_record_tables(value[wrapped[0]])
        for one in inner:
            one.settings |= {name: part for name, part in value.items() if name != wrapped[0]}
        return [_with_model_of_settings(one) for one in inner]
    if all(isinstance(part, Mapping) for part in value.values()):
        return [_of_objects(value)]
    lists = {
        name: part
        for name, part in value.items()
        if isinstance(part, list) and _all_are(part, dict)
    }
    if lists and not _has_known_names(value.keys() - lists.keys()):
        return _of_lists(value, lists)
    lengths = {len(part) if isinstance(part, list) else -1 for part in value.values()}
    if len(value) > 1 and len(lengths) == 1 and min(lengths) > 0:  # columns by name
        names = list(map(str, value))
        rows = zip(*value.values(), strict=True)
        return [Records.of(dict(zip(names, row, strict=True)) for row in rows)]
    if lists:
        return _of_lists(value, lists)
    plain = set(map(_plain, value))
    asked = plain & {
        *FIELD_COLUMN_NAMES["question"],
        *FIELD_COLUMN_NAMES["image"],
        *FIELD_COLUMN_NAMES["report"],
    }
    told = asked or plain & {*FIELD_COLUMN_NAMES["answer"], *FIELD_COLUMN_NAMES["error"]}
    return [Records.of([value])] if told and plain & {*FIELD_COLUMN_NAMES["case"], *asked} else []


def _of_rows(columns: list[str], rows: list[Any], index: Any) -> Records:
    found = Records()
    ids = index if isinstance(index, list) and len(index) == len(rows) else None
    named = ids is not None and any(not isinstance(one, int) for one in ids)
    for number, row in enumerate(rows, start=1):
        if not isinstance(row, list) or len(row) != len(columns):
            found.unread.append((number, f"It is not a list of {len(columns)} values."))
            continue
        key = {"id": ids[number - 1]} if ids is not None and named and "id" not in columns else {}
        found.add(key | dict(zip(columns, row, strict=True)), number)
    return found


def _of_objects(value: Mapping[str, Mapping[str, Any]]) -> Records:
    """Read objects in an object: entries by id, columns by row, or a model's entries by id."""
    inner: dict[str, None] = {}
    for part in value.values():
        inner |= dict.fromkeys(part)
    if len(inner) > 0 and all(name.isdigit() for name in inner) and _has_known_names(value):
        rows = [{name: part.get(key) for name, part in value.items()} for key in inner]
        return Records.of(rows)  # pandas: columns
    deep = [one for part in value.values() for one in part.values()]
    by_model = len(value) < len(inner) or any(map(MODEL_NAME.search, value))
    texts = by_model and all(isinstance(one, str | None) for one in deep)
    if texts and any(map(MODEL_NAME.search, value)) and not _has_known_names(inner):
        pairs = ((a, b, one) for a, part in value.items() for b, one in part.items())
        return Records.of({"id": b, "model": a, "answer": one} for a, b, one in pairs)
    if deep and all(isinstance(one, Mapping) for one in deep) and not _has_known_names(inner):
        pairs = ((a, b, one) for a, part in value.items() for b, one in part.items())
        return Records.of(
            _with_keys(one, {"model": a, "id": b} if by_model else {"id": a, "model": b})
            for a, b, one in pairs
        )
    return Records.of(_with_keys(part, {"id": key}) for key, part in value.items())


def _with_keys(entry: Mapping[str, Any], keys: Record) -> Record:
    """Add the keys of an entry to its own fields, which take precedence."""
    taken = {_plain(name) for name in entry}
    named = {
        name if name not in taken else f"{name} (key)": key
        for name, key in keys.items()
        if entry.get(name) != key
    }
    return {**named, **entry}


def _of_lists(value: Mapping[str, Any], lists: Mapping[str, list[Any]]) -> list[Records]:
    """Read lists in an object: splits, models, one list with settings, or several tables."""
    settings = {name: part for name, part in value.items() if name not in lists}
    fields = [{*part[0]} for part in lists.values() if part and isinstance(part[0], Mapping)]
    first = fields[0] if fields else set()
    if len(lists) > 1 and all(_plain(name) in _SPLITS for name in lists):
        key = "split"
    elif len(lists) > 1 and all(len(one & first) > len(one | first) / 2 for one in fields):
        key = "model"
    else:
        tables = [Records.of(part, name) for name, part in lists.items()]
        for table in tables:
            table.settings = dict(settings)
        return [_with_model_of_settings(table) for table in tables]
    found = Records.of(
        _with_keys(entry, {key: name}) if isinstance(entry, Mapping) else entry
        for name, part in lists.items()
        for entry in part
    )
    found.settings = settings
    return [found]


def _with_model_of_settings(found: Records) -> Records:
    """Give each record the model that the settings name once."""
    for name in [name for name in found.settings if _plain(name) in FIELD_COLUMN_NAMES["model"]]:
        model = found.settings[name]
        if isinstance(model, str) and not any(name in record for record in found.records):
            del found.settings[name]
            for record in found.records:
                record[name] = model
    return found


def _split_answers(entry: Record) -> Iterator[Record]:
    """Yield the entry once for each of its answers or questions, if it has a list of them."""
    for name, part in entry.items():
        plain = _plain(name)
        if not isinstance(part, list) or not part:
            continue
        if plain in _TURNS and _all_are(part, dict):
            yield {key: one for key, one in entry.items() if key != name} | _of_turns(part)
            return
        inner = plain in _SEVERAL or plain in _QUESTIONS
        texts = {*FIELD_COLUMN_NAMES["answer"], *FIELD_COLUMN_NAMES["question"], "message"}
        if inner and _all_are(part, dict) and any(texts & {*map(_plain, one)} for one in part):
            rest = {key: one for key, one in entry.items() if key != name}
            for item in part:
                twice = {f"{name}.{key}" if key in rest else key: one for key, one in item.items()}
                yield from _split_answers(rest | twice)
            return
        if plain in _SEVERAL and _all_are(part, str):
            for run, text in enumerate(part, start=1):
                yield entry | {name: text} | ({"run": run} if len(part) > 1 else {})
            return
    yield entry


def _of_turns(turns: list[Any]) -> Record:
    """Read a conversation: the first question, and the last answer."""
    said: dict[str, list[str]] = {}
    for turn in turns:
        who = str(turn.get("role") or turn.get("from") or "")
        role = {"human": "user", "gpt": "assistant", "model": "assistant"}.get(who, who)
        text = message_text(turn.get("content", turn.get("value")))
        if text is not None:
            said.setdefault(role, []).append(text)
    found: Record = {}
    if asked := said.pop("user", None):
        found["question"] = asked[0].replace("<image>", "").strip()
    if answers := said.pop("assistant", None):
        found["answer"] = answers[-1]
    if len(turns) > 2 + len(said):
        found["conversation"] = turns
    return found | {f"{role} prompt": "\n".join(texts) for role, texts in said.items()}


def flatten_entry(
    entry: Mapping[str, Any], depth: int = 1, before: str = ""
) -> Iterator[tuple[str, Any]]:
    """Yield the fields of an entry; those of inner objects under a dotted name."""
    for name, value in entry.items():
        full = f"{before}{name}"
        if (
            isinstance(value, Mapping)
            and 0 < len(value) <= _WIDEST
            and depth < _JSON_RECORDS_DEEPEST
        ):
            yield from flatten_entry(value, depth + 1, f"{full}.")
        elif not is_missing(value):
            yield full, value


def _has_known_names(names: Iterable[str]) -> bool:
    return any(_plain(name) in KNOWN_NAMES for name in names)


def _all_are(values: list[Any], kind: type[Any]) -> bool:
    return bool(values) and all(isinstance(value, kind) for value in values)


def _plain(name: str) -> str:
    return ColumnName.of(str(name)).plain
