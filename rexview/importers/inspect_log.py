"""Read Inspect logs (``.eval`` and ``.json``): samples with their epochs, outputs and scores.

An ``.eval`` file is a ZIP archive of JSON, compressed with Zstandard. Python supports that from
3.14 on, so pyarrow unpacks it. Source: ``EvalLog`` and ``EvalSample`` of inspect_ai 0.3, and logs
that it wrote.
"""

from __future__ import annotations

import io
import re
import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, Final

from rexview.importers.receipt import ProblemLog
from rexview.importers.source_files import MAX_VALUES, SourceFile, read_source_json
from rexview.importers.table.records import RunRecords, flatten_entry, message_text
from rexview.importers.table.sheet import PictureExtractor
from rexview.reviewset.json_text import JsonError, parse_json
from rexview.untrusted_input import printable_text

MAX_MEMBERS: Final = 500_000
MAX_MEMBER_BYTES: Final = 200_000_000
"""Limit for one unpacked sample: its events contain every picture that was sent."""
_MAX_RATIO: Final = 1000
_SMALL: Final = 10_000_000
_ZSTANDARD: Final = 93
_ENCRYPTED: Final = 0x1
_LOCAL_HEADER: Final = 30
_HEADERS: Final = ("header.json", "_journal/start.json")
"""Headers of a log: written when it ended, and when it began."""
_SAMPLES: Final = "samples/"


class MemberRefused(Exception):
    """A member cannot be read; the message gives the reason for the receipt."""


class LogArchive:
    """An Inspect log whose members are read one by one, within limits.

    Raises MemberRefused if the archive cannot be opened.
    """

    def __init__(self, path: Path) -> None:
        try:
            self._archive = zipfile.ZipFile(path)
        except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
            raise MemberRefused("The archive is damaged, or its run was cut off.") from None
        self._path = path
        self._members = {one.filename: one for one in self._archive.infolist()}
        if len(self._archive.infolist()) > MAX_MEMBERS:
            self._archive.close()
            raise MemberRefused(f"It has more than {MAX_MEMBERS:,} members.")

    def close(self) -> None:
        """Close the archive."""
        self._archive.close()

    @property
    def header(self) -> Any:
        """The log's description of its run; an empty object if it cannot be read."""
        for name in _HEADERS:
            if name in self._members:
                with suppress(MemberRefused):
                    return self._json(self._members[name])
        return {}

    @property
    def others(self) -> list[str]:
        """Names of members that are not samples."""
        return [name for name in self._members if not _is_sample(name)]

    def samples(self) -> Iterator[tuple[str, Any]]:
        """Yield name and content of each sample; a refused sample's content is the error."""
        for name, member in self._members.items():
            if _is_sample(name):
                try:
                    yield name, self._json(member)
                except MemberRefused as refusal:
                    yield name, refusal

    def _json(self, member: zipfile.ZipInfo) -> Any:
        text = self._bytes(member).decode("utf-8", "replace")
        if sum(map(text.count, ",[{")) > MAX_VALUES:
            raise MemberRefused(f"It holds more than {MAX_VALUES:,} values.")
        try:
            return parse_json(text)
        except JsonError as error:
            raise MemberRefused(f"It is not JSON: {error}.") from None

    def _bytes(self, member: zipfile.ZipInfo) -> bytes:
        most = min(MAX_MEMBER_BYTES, max(_SMALL, member.compress_size * _MAX_RATIO))
        if member.flag_bits & _ENCRYPTED:
            raise MemberRefused("It is encrypted.")
        if member.file_size > most:
            raise MemberRefused("It would be far larger than the archive.")
        try:
            with self._open(member) as stream:
                content: bytes = stream.read(most + 1)
        except (zipfile.BadZipFile, OSError, EOFError, zlib.error, struct.error):
            raise MemberRefused("It is damaged.") from None
        except NotImplementedError:
            raise MemberRefused("It is packed in a way that cannot be read.") from None
        if len(content) > most:
            raise MemberRefused("It would be far larger than the archive.")
        if len(content) != member.file_size or zlib.crc32(content) != member.CRC:
            raise MemberRefused("It is damaged.")
        return content

    def _open(self, member: zipfile.ZipInfo) -> Any:
        if member.compress_type != _ZSTANDARD:
            return self._archive.open(member)
        import pyarrow as pa

        with self._path.open("rb") as file:
            file.seek(member.header_offset)
            header = file.read(_LOCAL_HEADER)
            name_length, extra_length = struct.unpack("<26xHH", header)
            file.seek(name_length + extra_length, io.SEEK_CUR)
            packed = file.read(member.compress_size)
        return pa.CompressedInputStream(pa.BufferReader(packed), "zstd")


def _is_sample(name: str) -> bool:
    return name.startswith(_SAMPLES) and name.endswith(".json")


_ATTACHED: Final = "attachment://"
_SEVERAL: Final = 2
_LETTER: Final = re.compile(r"[A-Z]")
_READ: Final = frozenset(
    (
        *("id", "epoch", "input", "choices", "target", "output", "scores", "metadata", "error"),
        *("limit", "total_time", "working_time", "started_at", "completed_at", "attachments"),
    )
)
"""Fields of a sample that are imported."""
_ABOUT_RUN: Final = "It is about the whole run."
_HOW_IT_WENT: Final = "It is how the run went, not what came of it."


def is_inspect(content: Any) -> bool:
    """True if JSON is a log of Inspect: its header, and samples if there are any."""
    if not isinstance(content, Mapping) or not content.keys() >= {"version", "status", "eval"}:
        return False
    return isinstance(content["eval"], Mapping)


def read_inspect(
    file: SourceFile, log: ProblemLog, pictures: PictureExtractor
) -> RunRecords | None:
    """Read a log; log an error and return None if it cannot be read."""
    with file.path.open("rb") as stream:
        is_archive = stream.read(2) == b"PK"
    if is_archive and not file.path.name.lower().endswith(".json"):
        try:
            with closing(LogArchive(file.path)) as archive:
                found = _Reader(file.label, archive.header, log, pictures).read(archive.samples())
                found.unused[", ".join(archive.others)] = _ABOUT_RUN
                return found
        except MemberRefused as refusal:
            remedy = "Write the log again: inspect log convert LOG --to json --output-dir FOLDER"
            log.error(file.label, f"The log cannot be read. {refusal}", remedy)
            return None
    content = read_source_json(file.path, log, file.label)
    if content is None:
        return None
    samples = _list(content.get("samples"))
    named = ((f"sample {number}", one) for number, one in enumerate(samples, start=1))
    found = _Reader(file.label, content, log, pictures).read(named)
    others = (name for name, one in content.items() if one not in (None, [], False))
    found.unused |= {name: _ABOUT_RUN for name in others if name != "samples"}
    return found


class _Reader:
    def __init__(self, file: str, header: Any, log: ProblemLog, pictures: PictureExtractor) -> None:
        self.file, self.log, self.pictures = file, log, pictures
        self.header = header if isinstance(header, Mapping) else {}
        self.about = _object(self.header.get("eval"))
        plan = _object(self.header.get("plan"))
        self.limit = _object(plan.get("config")).get("max_tokens")
        self.found = RunRecords()
        self.pictured: set[str] = set()

    def read(self, samples: Iterator[tuple[str, Any]]) -> RunRecords:
        """Read all samples; warn about parts of its run that the log lacks."""
        parts: dict[str, None] = {}
        for number, (name, sample) in enumerate(samples, start=1):
            if isinstance(sample, Mapping):
                record = self._record(sample, number)
                self.found.add(record, number)
                read = {*_READ, "messages"} if "conversation" in record else _READ
                parts |= dict.fromkeys(one for one in sample if one not in read and sample[one])
            else:
                why = sample if isinstance(sample, MemberRefused) else "It is not a JSON object."
                self.found.unread.append((number, str(why)))
                message = f"{printable_text(name)}: {why}"
                self.log.warning(self.file, message, "Write the log again.", row=number)
        if parts:
            self.found.unused[f"samples: {', '.join(sorted(parts))}"] = _HOW_IT_WENT
        self._name_models()
        self._say_what_is_missing()
        return self.found

    def _record(self, sample: Mapping[str, Any], number: int) -> dict[str, Any]:
        output, error = _object(sample.get("output")), sample.get("error")
        first = next(iter(_list(output.get("choices"))), None)
        answer = _text(output.get("completion")) if first is not None else None
        if first is not None and not answer:
            answer = message_text(_object(_object(first).get("message")).get("content")) or ""
        usage = dict(_object(output.get("usage")))
        given = sample.get("id")
        name = str(given) if isinstance(given, str | int) else ""
        created = _text(sample.get("completed_at") or self.about.get("created"))
        record: dict[str, Any] = {
            "id": name,
            "options": _list(sample.get("choices")) or None,
            "model": _text(output.get("model")),
            "answer": answer,
            "finish_reason": _object(first).get("stop_reason"),
            "input_tokens": usage.pop("input_tokens", None),
            "output_tokens": usage.pop("output_tokens", None),
            "max_output_tokens": self.limit,
            "error": _object(error).get("message") or (error if isinstance(error, str) else None),
            "latency_s": output.get("time"),
            "created": created and re.sub(r"\+00:00$", "Z", created),  # as in review sets
            "run_id": self.about.get("eval_id") or self.about.get("run_id"),
            "repeat": sample.get("epoch"),
            "task": self.about.get("task"),
        }
        record |= self._asked(sample, name, number)
        target = sample.get("target")
        alone = target[0] if isinstance(target, list) and len(target) == 1 else target
        record["target" if record["options"] else "expected answer"] = alone or None
        record |= self._scored(_object(sample.get("scores")), record)
        rest = {"metadata": sample.get("metadata"), "limit": sample.get("limit"), "usage": usage}
        rest |= {name: sample.get(name) for name in ("total_time", "working_time")}
        if talk := _conversation(sample):
            record["conversation"] = talk
        more = dict(flatten_entry({name: one for name, one in rest.items() if one}))
        self.found.of_case |= {name for name in more if name.startswith("metadata")}
        return record | more

    def _asked(self, sample: Mapping[str, Any], name: str, number: int) -> dict[str, Any]:
        """Return a sample's question and pictures; pictures only once for all its epochs."""
        given, attached = sample.get("input"), _object(sample.get("attachments"))
        turns = given if isinstance(given, list) else [{"role": "user", "content": given}]
        texts: dict[str, list[str]] = {}
        shown: list[str] = []
        for turn in map(_object, turns):
            content = turn.get("content")
            parts = content if isinstance(content, list) else [content]
            plain = [_resolved(part, attached) for part in parts]
            if text := message_text([one for one in plain if one]):
                texts.setdefault(str(turn.get("role")), []).append(text)
            shown += [
                str(_resolved(part["image"], attached))
                for part in parts
                if isinstance(part, Mapping) and isinstance(part.get("image"), str)
            ]
        if name in self.pictured:
            shown = []
        elif shown:
            self.pictured.add(name)
        images = [self.pictures.taken_out(one, number) for one in shown]
        lost = [one for one in images if one.startswith((_ATTACHED, "<", "data:", "http"))]
        if lost:
            message = "Pictures of samples that the log does not hold were left out."
            self.log.warning(self.file, message, "Give them with --images.", row=number)
        return {
            "question": "\n".join(texts.pop("user", [])) or None,
            "image": [one for one in images if one not in lost] or None,
            **{f"{role} prompt": "\n".join(said) for role, said in texts.items()},
        }

    def _scored(self, scores: Mapping[str, Any], record: Mapping[str, Any]) -> dict[str, Any]:
        """Return scores as extra fields, and the option if all scorers read the same one."""
        told = {
            f"scores.{name}.{part}": _object(score).get(part)
            for name, score in scores.items()
            for part in ("value", "answer", "explanation")
        }
        read = {str(_object(one).get("answer")) for one in scores.values()}
        if record["options"] and len(read) == 1 and _LETTER.fullmatch(letter := read.pop()):
            told["choice"] = letter
        said = (None, record["answer"])  # scorers often give the answer as their explanation
        return dict(flatten_entry({name: one for name, one in told.items() if one not in said}))

    def _name_models(self) -> None:
        """Name the model of samples that never reached one; keep the name requested in the log."""
        served = {one["model"] for one in self.found.records if "model" in one}
        asked = _text(self.about.get("model"))
        alone = next(iter(served)) if len(served) == 1 else asked
        for record in self.found.records:
            if alone is not None:
                record.setdefault("model", alone)
            if asked and record["model"] != asked:
                record["requested model"] = asked

    def _say_what_is_missing(self) -> None:
        status = self.header.get("status")
        data = _object(self.about.get("dataset"))
        config = _object(self.about.get("config"))
        ids, epochs = data.get("sample_ids"), config.get("epochs") or 1
        wanted = len(ids) * epochs if isinstance(ids, list) and isinstance(epochs, int) else 0
        there = len(self.found.records)
        if status != "success" or there < wanted:
            of = f" {there:,} of its {wanted:,} samples are in it." if there < wanted else ""
            told = printable_text(str(status)) if status else "nothing that can be read"
            message = f"The log says of its run: {told}.{of}"
            self.log.warning(self.file, message, "Run it again, if it has to be whole.")


def _conversation(sample: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the turns of the conversation if the model replied more than once."""
    attached = _object(sample.get("attachments"))
    turns = [_object(one) for one in _list(sample.get("messages"))]
    if sum(one.get("role") == "assistant" for one in turns) < _SEVERAL:
        return []
    return [
        {"role": one.get("role"), "content": message_text(_resolved(one.get("content"), attached))}
        for one in turns
    ]


def _resolved(part: Any, attached: Mapping[str, Any]) -> Any:
    """Return a text or part, with an attachment's text put in place of its reference."""
    if isinstance(part, Mapping):
        return {name: _resolved(one, attached) for name, one in part.items()}
    if isinstance(part, list):
        return [_resolved(one, attached) for one in part]
    if isinstance(part, str) and part.startswith(_ATTACHED):
        return attached.get(part.removeprefix(_ATTACHED), part)
    return part


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value.strip() else None


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
