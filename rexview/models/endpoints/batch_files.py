"""The files of the Batch API: requests in shards of bounded size, and what came back."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from rexview.models.endpoints.client import MAX_BODY_BYTES
from rexview.models.endpoints.untrusted import fields, parse, text, whole
from rexview.models.reply import AttemptFailed

MAX_REQUESTS: Final = 50_000
MAX_BYTES: Final = 200_000_000
"""Of one file, as OpenAI takes it."""


def custom_id(name: str) -> str:
    """Return the id of a request within a batch, the same for the same name."""
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
    """Write requests into one file after the other, each when the last was dealt with.

    Parameters
    ----------
    bodies
        Name and body of each request; made when it is its turn.
    url : str
        The path of the API, such as ``/v1/responses``.
    path : Path
        The file; the next shard takes its place.

    Yields
    ------
    Shard or tuple
        A file that is complete, or the name of a request that fits into none, and why.
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
    row = {"custom_id": custom_id(name), "method": "POST", "url": url, "body": body}
    return json.dumps(row, ensure_ascii=False).encode() + b"\n"


@dataclass(frozen=True)
class Line:
    """One row of an output or error file.

    ``status`` is None where the request was not executed, ``code`` then says why.
    """

    id: str
    status: int | None
    body: Any
    request_id: str | None
    code: str | None


def read_lines(pieces: Iterable[bytes], damaged: Callable[[], None]) -> Iterator[Line]:
    """Read a file of results as it comes; ``damaged`` is called for each line that is none."""
    for line in _lines(pieces):
        row, is_json = parse(line)
        held = fields(row)
        name = text(held.get("custom_id"))
        if not is_json or name is None:
            damaged()
            continue
        response, error = fields(held.get("response")), fields(held.get("error"))
        status = whole(response.get("status_code"))
        yield Line(
            name,
            status,
            response.get("body"),
            text(response.get("request_id")),
            text(error.get("code")),
        )


def _lines(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Return lines; what is longer than an answer may be is cut, and so none that can be read."""
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
