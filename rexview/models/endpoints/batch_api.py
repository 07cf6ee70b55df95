"""Use the Batch API: requests in files, answers within a day, at a lower price.

Everything at the server is logged before the next step, so that a killed process continues with the
same batches. The caller writes the log. The events are ``batch_planned`` (shard, names),
``batch_uploaded`` (shard, file), ``batch_created`` (shard, batch), ``batch_ended`` (shard, status:
all results were handed out, or the server has lost them) and ``batch_cleared`` (shard: its files
are deleted from the server). To continue, the caller passes all their lines back.
"""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Callable, Container, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Final, Literal, Protocol, TypeVar

from rexview.models.backend import AttemptFailed, ModelRequest, Reply
from rexview.models.endpoints.endpoint import MAX_BODY_BYTES, Endpoint
from rexview.models.endpoints.request_errors import (
    count_or_none,
    object_fields,
    parse_untrusted,
    short_line,
    text_or_none,
)

# Files of the Batch API: requests in shards of bounded size, and results.

MAX_REQUESTS: Final = 50_000
MAX_BYTES: Final = 200_000_000
"""Largest size of one file that OpenAI takes."""


def request_custom_id(name: str) -> str:
    """Return the id of a request within a batch; the same name gives the same id."""
    return hashlib.sha256(name.encode()).hexdigest()[:32]


@dataclass(frozen=True)
class Shard:
    """A file of requests: their names, in order."""

    path: Path
    names: tuple[str, ...]


def write_shards(
    bodies: Iterable[tuple[str, dict[str, Any]]],
    url: str,
    path: Path,
    most_requests: int = MAX_REQUESTS,
    most_bytes: int = MAX_BYTES,
) -> Iterator[Shard | tuple[str, AttemptFailed]]:
    """Write requests into one file after another, each once the last has been handled.

    Parameters
    ----------
    bodies
        Name and body of each request, built when it is needed.
    url : str
        Path of the API, such as ``/v1/responses``.
    path : Path
        The file; the next shard replaces it.

    Yields
    ------
    Shard or tuple
        A complete file, or the name of a request that fits into no file, and why.
    """
    rest: tuple[str, bytes] | None = None
    coming = iter(bodies)
    while True:
        names: list[str] = []
        size = 0
        full = False
        with path.open("wb") as file:
            while not full:
                if rest is None:
                    name, body = next(coming, (None, None))
                    if name is None:
                        break
                    rest = name, _line(name, url, body)
                name, line = rest
                if len(line) > most_bytes:
                    limit = f"{most_bytes / 1e6:g} MB"
                    message = f"The request is larger than {limit}: send fewer or smaller images."
                    yield name, AttemptFailed("request", message)
                    rest = None
                    continue
                full = len(names) == most_requests or size + len(line) > most_bytes
                if not full:
                    file.write(line)
                    names.append(name)
                    size += len(line)
                    rest = None
        if names:
            yield Shard(path, tuple(names))
        if not full:
            return


def _line(name: str, url: str, body: Any) -> bytes:
    row = {"custom_id": request_custom_id(name), "method": "POST", "url": url, "body": body}
    return json.dumps(row, ensure_ascii=False).encode() + b"\n"


@dataclass(frozen=True)
class BatchLine:
    """One row of an output or error file.

    ``status`` is None if the request was not executed; ``code`` then gives the reason.
    """

    id: str
    status: int | None
    body: Any
    request_id: str | None
    code: str | None


def read_batch_lines(pieces: Iterable[bytes], damaged: Callable[[], None]) -> Iterator[BatchLine]:
    """Read a file of results as it arrives; ``damaged`` is called for each unreadable line."""
    for line in _lines(pieces):
        row, is_json = parse_untrusted(line)
        held = object_fields(row)
        name = text_or_none(held.get("custom_id"))
        if not is_json or name is None:
            damaged()
            continue
        response, error = object_fields(held.get("response")), object_fields(held.get("error"))
        status = count_or_none(response.get("status_code"))
        yield BatchLine(
            name,
            status,
            response.get("body"),
            text_or_none(response.get("request_id")),
            text_or_none(error.get("code")),
        )


def _lines(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Yield lines; a line longer than an answer may be is cut, and so cannot be read."""
    begun = bytearray()
    for piece in pieces:
        *ended, last = piece.split(b"\n")
        for part in ended:
            yield bytes(begun) + part
            begun.clear()
        if len(begun) < MAX_BODY_BYTES:
            begun += last
    if begun:
        yield bytes(begun)


# Batches at the server, as the log of a run records them.


@dataclass
class BatchShard:
    """One shard, and how far it has come."""

    shard: str
    names: tuple[str, ...]
    file: str | None = None
    batch: str | None = None


def open_shards(
    past: Iterable[Mapping[str, Any]],
) -> tuple[list[BatchShard], dict[str, list[str | None]]]:
    """Return the shards at the server, and files of ended shards that must still be deleted.

    A shard whose upload was not confirmed is left out: its requests are sent again.
    """
    jobs: dict[str, BatchShard] = {}
    to_clear: dict[str, list[str | None]] = {}
    for line in past:
        shard = str(line.get("shard"))
        match line.get("event"):
            case "batch_planned":
                jobs[shard] = BatchShard(shard, tuple(map(str, line["names"])))
            case "batch_uploaded" if shard in jobs:
                jobs[shard].file = str(line["file"])
            case "batch_created" if shard in jobs:
                jobs[shard].batch = str(line["batch"])
            case "batch_ended":
                jobs.pop(shard, None)
                to_clear[shard] = line["files"]
            case "batch_cleared":
                to_clear.pop(shard, None)
    return [job for job in jobs.values() if job.file is not None], to_clear


MAX_RESULT_BYTES: Final = 4_000_000_000
"""Largest size of one file of results."""
MAX_CALL_TRIES: Final = 5
"""Tries of one call to the server before giving up; batches at the server are kept there."""
_FILE_TIME_S: Final = 3600.0
_FIRST_WAIT_S: Final = 2.0
_LONGEST_WAIT_S: Final = 60.0
_BATCHES_LOOKED_AT: Final = 500
_PIECE: Final = 1 << 16
_ENDED: Final = frozenset(("completed", "failed", "expired", "cancelled"))
_QUEUE_FULL: Final = frozenset(("token_limit_exceeded", "request_limit_exceeded"))
_LABEL: Final = "rexview_shard"
_NOT_THERE: Final = frozenset((404, 405, 501))

T = TypeVar("T")
Result = tuple[str, Reply | AttemptFailed]
BatchAction = Literal["send", "hold", "cancel"]
"""The wanted action: send everything, send nothing new, or cancel what the server has."""


class EventLog(Protocol):
    """Writes an event to the log; it is on the disk when the call returns."""

    def __call__(self, event: str, **values: Any) -> None:
        """Write an event."""


class BatchClient:
    """Answers many requests through the Batch API.

    Parameters
    ----------
    endpoint : Endpoint
        The server, the model and the parameters.
    build
        Builds the request of a name; raises :class:`.AttemptFailed` if that is impossible.
    path : Path
        A file for one shard, or one file of results, at a time; removed after each.
    note
        Writes an event to the log.
    wait
        Waits for the given seconds; returns False to end the work.
    wish
        Returns the action that is wanted now.
    room
        Called with each request before it goes into a file; returns False if the budget is used up.
    rounds
        How many times requests that the server left undone are sent.

    Attributes
    ----------
    counts
        By batch: the numbers of requests, of those done, and of those failed so far.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        build: Callable[[str], ModelRequest],
        path: Path,
        note: EventLog,
        wait: Callable[[float], bool],
        *,
        wish: Callable[[], BatchAction] = lambda: "send",
        room: Callable[[str, ModelRequest], bool] = lambda name, request: True,
        most_requests: int = MAX_REQUESTS,
        most_bytes: int = MAX_BYTES,
        rounds: int = 3,
    ) -> None:
        self._endpoint, self._build, self._path = endpoint, build, path
        self._note, self._wait, self._rounds = note, wait, rounds
        self._wish, self._room = wish, room
        self._most_requests, self._most_bytes = most_requests, most_bytes
        self._client = endpoint.client_for_files(_FILE_TIME_S, MAX_RESULT_BYTES)
        self._jobs: list[BatchShard] = []
        self._next_wait = _FIRST_WAIT_S
        self._is_full = False
        self.counts: dict[str, tuple[int, int, int]] = {}

    def close(self) -> None:
        """Close the connections; batches at the server go on there."""
        self._client.close()

    def results(
        self, names: Sequence[str], past: Iterable[Mapping[str, Any]], done: Container[str] = ()
    ) -> Iterator[Result]:
        """Yield the result of each request once.

        The caller must have stored a result before it requests the next one: after the last result
        of a batch, its files are deleted from the server. Requests that the server left undone
        (expired, cancelled, failed there) are sent again in another batch. It ends when nothing is
        left, or when nothing fits the budget and nothing is at the server.

        Parameters
        ----------
        names
            Names of the requests, each once.
        past
            Earlier lines of the log.
        done
            Names that have an answer by now; further results for them are ignored.

        Raises
        ------
        AttemptFailed
            The server can no longer be asked; its batches can be collected later.
        """
        self._jobs, to_clear = open_shards(past)
        for shard, files in to_clear.items():
            self._clear(shard, files)
        for job in self._jobs:
            if job.batch is None:
                job.batch = self._find(job) or self._begin(job)
                self._note("batch_created", shard=job.shard, batch=job.batch)
        at_server = {name for job in self._jobs for name in job.names}
        to_send = [name for name in names if name not in at_server and name not in done]
        undone: dict[str, AttemptFailed] = {}
        round_, cancelled = 1, False
        while True:
            if self._wish() == "cancel" and not cancelled:
                cancelled = True
                self.cancel()
            if to_send and not cancelled:
                to_send = yield from self._send(to_send)
            for name, came in self._collect():
                if name in done:
                    continue
                if isinstance(came, AttemptFailed) and came.again:
                    undone[name] = came
                else:
                    yield name, came
            if not self._jobs:
                if cancelled or (to_send and self._is_full):
                    return
                if not to_send:
                    if round_ == self._rounds:
                        yield from undone.items()
                    if round_ == self._rounds or not undone:
                        return
                    round_ += 1
                    to_send, undone = list(undone), {}
            if not self._pause():
                return

    def cancel(self) -> None:
        """Cancel the batches at the server; finished results can still be collected."""
        for job in self._jobs:
            try:
                self._tried(lambda job=job: self._client.batches.cancel(job.batch or ""))  # type: ignore[misc]
            except AttemptFailed as failure:  # it may have ended by now; the next look shows that
                if failure.stops_all and not _is_not_found(failure):
                    raise

    def _send(self, names: Sequence[str]) -> Generator[Result, None, list[str]]:
        """Send what may be sent and fits the budget; return what is left."""
        self._is_full = False
        failed: list[Result] = []
        sent: set[str] = set()

        def bodies() -> Iterator[tuple[str, dict[str, Any]]]:
            for name in names:
                try:
                    request = self._build(name)
                    if self._wish() != "send":
                        return
                    if not self._room(name, request):
                        self._is_full = True
                        return
                    yield name, self._endpoint.body_of(request)
                except AttemptFailed as failure:
                    failed.append((name, failure))

        url, requests, size = self._endpoint.path, self._most_requests, self._most_bytes
        try:
            for made in write_shards(bodies(), url, self._path, requests, size):
                if not isinstance(made, Shard):
                    failed.append(made)
                elif self._wish() == "send":
                    self._upload(made)
                    sent.update(made.names)
        finally:
            self._path.unlink(missing_ok=True)
        yield from failed
        sent.update(name for name, _ in failed)
        return [name for name in names if name not in sent]

    def _upload(self, shard: Shard) -> None:
        job = BatchShard(secrets.token_hex(8), shard.names)
        self._note("batch_planned", shard=job.shard, names=list(job.names))

        def send() -> Any:
            with shard.path.open("rb") as file:
                return self._client.files.create(file=(f"{job.shard}.jsonl", file), purpose="batch")

        try:
            job.file = str(self._tried(send).id)
            self._note("batch_uploaded", shard=job.shard, file=job.file)
            job.batch = self._begin(job)
        except AttemptFailed as failure:
            if not _is_not_found(failure):
                raise
            message = f"{self._endpoint.address.host} has no Batch API: begin without --batch."
            raise AttemptFailed("request", message, stops_all=True, raw=failure.raw) from None
        self._note("batch_created", shard=job.shard, batch=job.batch)
        self._jobs.append(job)

    def _begin(self, job: BatchShard) -> str:
        """Create a batch; first look for one whose creation was not confirmed."""
        url: Any = self._endpoint.path
        tries = 0
        while True:
            try:
                batch = self._client.batches.create(
                    input_file_id=job.file or "",
                    endpoint=url,
                    completion_window="24h",
                    metadata={_LABEL: job.shard},
                )
                return str(batch.id)
            except Exception as error:
                tries += 1
                self._try_again(error, tries)
                if known := self._find(job):
                    return known

    def _find(self, job: BatchShard) -> str | None:
        """Return the batch of a shard that was created but not logged."""
        newest = self._tried(
            lambda: list(islice(self._client.batches.list(limit=100), _BATCHES_LOOKED_AT))
        )
        labels = {(batch.metadata or {}).get(_LABEL): batch.id for batch in newest}
        return labels.get(job.shard)

    def _collect(self) -> Iterator[Result]:
        """Check every batch, and yield the results of those that have ended."""
        for job in list(self._jobs):
            try:
                batch = self._tried(lambda job=job: self._client.batches.retrieve(job.batch or ""))  # type: ignore[misc]
            except AttemptFailed as failure:
                if not _is_not_found(failure):
                    raise
                yield from self._lost(job)
                continue
            counts = batch.request_counts
            if counts:
                self.counts[batch.id] = (counts.total, counts.completed, counts.failed)
            if batch.status not in _ENDED:
                continue
            self._next_wait = _FIRST_WAIT_S
            names = {request_custom_id(name): name for name in job.names}
            damaged: list[bool] = []
            for file in (batch.output_file_id, batch.error_file_id):
                if file is None:
                    continue
                for line in self._lines(file, damaged):
                    name = names.pop(line.id, None)
                    if name is not None:
                        yield name, self._read(line)
            missing = self._missing(batch)
            for name in names.values():
                yield name, missing
            self._note(
                "batch_ended",
                shard=job.shard,
                batch=batch.id,
                status=batch.status,
                unreadable_lines=len(damaged),
                files=(files := [job.file, batch.output_file_id, batch.error_file_id]),
            )
            self._jobs.remove(job)
            self._clear(job.shard, files)

    def _lost(self, job: BatchShard) -> Iterator[Result]:
        """Give up a batch that the server no longer knows; its requests may have been paid."""
        message = f"The server does not know the batch {job.batch} any more: its answers are lost."
        for name in job.names:
            yield name, AttemptFailed("server", message, maybe_paid=True)
        self._note("batch_ended", shard=job.shard, batch=job.batch, status="lost", files=[job.file])
        self._jobs.remove(job)
        self._clear(job.shard, [job.file])

    def _lines(self, file: str, damaged: list[bool]) -> Iterator[BatchLine]:
        def fetch() -> None:
            content = self._client.files.with_streaming_response.content(file)
            with content as response, self._path.open("wb") as copy:
                for piece in response.iter_bytes(_PIECE):
                    copy.write(piece)

        try:
            self._tried(fetch)
            with self._path.open("rb") as copy:
                pieces = iter(lambda: copy.read(_PIECE), b"")
                yield from read_batch_lines(pieces, lambda: damaged.append(True))
        finally:
            self._path.unlink(missing_ok=True)

    def _read(self, line: BatchLine) -> Reply | AttemptFailed:
        if line.status is None:
            why = line.code or "no reason given"
            message = f"The server did not get to it within its batch ({short_line(why, None)})."
            return AttemptFailed("server", message, again=True, raw={"code": line.code})
        headers = {"x-request-id": line.request_id} if line.request_id else {}
        return self._endpoint.read(line.status, line.body, headers)

    def _missing(self, batch: Any) -> AttemptFailed:
        """Return why a request is in neither file of an ended batch."""
        found = [
            (error.code or "", short_line(error.message or "", None), error.line)
            for error in (batch.errors.data if batch.errors else None) or ()
        ]
        if batch.status != "failed" or any(code in _QUEUE_FULL for code, _, _ in found):
            said = f" It says: {found[0][1]}" if found else ""
            message = f"The server left it undone: its batch is {batch.status}.{said}"
            return AttemptFailed("server", message, again=True)
        words = "; ".join(
            f"line {line}: {message}" if line else message for _, message, line in found[:3]
        )
        return AttemptFailed("request", f"The server did not take the batch. It says: {words}")

    def _clear(self, shard: str, files: Sequence[str | None]) -> None:
        """Delete files from the server: they contain questions and images of patients."""
        left = {}
        for file in files:
            if file is None:
                continue
            try:
                self._client.files.delete(file)
            except Exception as error:
                left[file] = str(self._endpoint.failed(error))
        self._note("batch_cleared", shard=shard, left=left)

    def _tried(self, action: Callable[[], T]) -> T:
        """Call the server; errors that may pass are tried again after growing waits."""
        tries = 0
        while True:
            try:
                return action()
            except OSError:  # of this machine, such as a full disk
                raise
            except Exception as error:
                tries += 1
                self._try_again(error, tries)

    def _try_again(self, error: Exception, tries: int) -> None:
        """Wait and return if another try may succeed, otherwise raise."""
        failure = self._endpoint.failed(error)
        if not failure.again or tries == MAX_CALL_TRIES:
            raise failure from None
        if not self._wait(max(failure.retry_after_s or 0.0, 2.0 ** (tries - 1))):
            raise failure from None

    def _pause(self) -> bool:
        wait = self._next_wait
        self._next_wait = min(_LONGEST_WAIT_S, wait * 1.5)
        return self._wait(wait)


def _is_not_found(failure: AttemptFailed) -> bool:
    return failure.raw.get("status") in _NOT_THERE
