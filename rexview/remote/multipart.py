"""Answers of several parts (``multipart/related``), of which DICOMweb's retrievals are made."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from email.message import Message
from typing import Final

from rexview.errors import StorageAway, StorageRefused

_LONGEST_HEAD: Final = 64 * 1024
_CUT: Final = "The answer of the archive ends too early. Try again."


def read_type(content_type: str) -> tuple[str, str]:
    """Return the media type (lower case) of a Content-Type and its boundary, if it has one."""
    message = Message()
    message["Content-Type"] = content_type
    boundary = message.get_param("boundary")
    return message.get_content_type(), boundary if isinstance(boundary, str) else ""


def first_part(chunks: Iterable[bytes], boundary: str) -> Iterator[bytes]:
    """Yield the bytes of the first part, without its headers, as they come.

    Raises
    ------
    StorageRefused
        It is no such message.
    StorageAway
        It ends before its first part does.
    """
    if not boundary or len(boundary) > 200:
        raise StorageRefused("The archive's answer cannot be read: it names no boundary.")
    line = b"--" + boundary.encode("latin-1", "replace")
    left = iter(chunks)
    held = _after_head(left, line)
    end = b"\r\n" + line
    for chunk in left:
        if (at := held.find(end)) >= 0:
            break
        safe = max(0, len(held) - len(end) + 1)
        yield held[:safe]
        held = held[safe:] + chunk
    at = held.find(end)
    if at < 0:
        raise StorageAway(_CUT)
    yield held[:at]


def _after_head(chunks: Iterator[bytes], line: bytes) -> bytes:
    """Read past the first boundary and the part's headers; return what was read after them."""
    held = b""
    for chunk in chunks:
        held += chunk
        start = held.find(line)
        at = held.find(b"\r\n\r\n", start + len(line) - 2) if start >= 0 else -1
        if at >= 0:
            return held[at + 4 :]
        if len(held) > _LONGEST_HEAD:
            raise StorageRefused("The archive's answer cannot be read: it does not begin as one.")
    raise StorageAway(_CUT)
