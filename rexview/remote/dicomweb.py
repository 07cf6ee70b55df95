"""Read DICOMweb archives: retrieve an instance (WADO-RS), and search (QIDO-RS)."""

from __future__ import annotations

import base64
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from email.message import Message
from typing import Any, Final
from urllib.parse import urlencode

from rexview.addresses import RemoteAddress
from rexview.errors import AddressRefused, StorageAway, StorageRefused
from rexview.remote.http_storage import (
    DownloadSink,
    condition_headers,
    iterate_body,
    open_response,
    response_tag,
)

# Multipart answers (``multipart/related``), the form of DICOMweb's retrievals.

_LONGEST_HEAD: Final = 64 * 1024
_CUT_MESSAGE: Final = "The answer of the archive ends too early. Try again."


def read_content_type(content_type: str) -> tuple[str, str]:
    """Return a Content-Type's media type in lower case, and its boundary, empty without one."""
    message = Message()
    message["Content-Type"] = content_type
    boundary = message.get_param("boundary")
    return message.get_content_type(), boundary if isinstance(boundary, str) else ""


def read_first_part(chunks: Iterable[bytes], boundary: str) -> Iterator[bytes]:
    """Yield the bytes of the first part, without its headers, as they arrive.

    Raises
    ------
    StorageRefused
        The message is not multipart.
    StorageAway
        The message ends before its first part.
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
        raise StorageAway(_CUT_MESSAGE)
    yield held[:at]


def _after_head(chunks: Iterator[bytes], line: bytes) -> bytes:
    """Skip the first boundary and the part's headers; return the bytes read after them."""
    held = b""
    for chunk in chunks:
        held += chunk
        start = held.find(line)
        at = held.find(b"\r\n\r\n", start + len(line) - 2) if start >= 0 else -1
        if at >= 0:
            return held[at + 4 :]
        if len(held) > _LONGEST_HEAD:
            raise StorageRefused("The archive's answer cannot be read: it does not begin as one.")
    raise StorageAway(_CUT_MESSAGE)


USER_VARIABLE: Final = "REXVIEW_DICOMWEB_USER"
PASSWORD_VARIABLE: Final = "REXVIEW_DICOMWEB_PASSWORD"  # noqa: S105 the variable's name
TOKEN_VARIABLE: Final = "REXVIEW_DICOMWEB_TOKEN"  # noqa: S105 the variable's name
_INSTANCE: Final = re.compile(
    r"(?:^|/)studies/([0-9.]{1,64})/series/([0-9.]{1,64})/instances/([0-9.]{1,64})"
    r"(?:/frames/([0-9]+))?/?$"
)
_AS_STORED: Final = 'multipart/related; type="application/dicom"; transfer-syntax=*'
_DICOM: Final = b"DICM"
_PREAMBLE: Final = 128
_MOST_JSON: Final = 64_000_000
_PAGE: Final = 200
_UID: Final = re.compile(r"^[0-9]+(\.[0-9]+)*$")


def check_instance(address: RemoteAddress) -> None:
    """Check that an address names a picture that can be shown.

    Raises
    ------
    AddressRefused
        It names no instance, or a frame other than the first.
    """
    match = _INSTANCE.search(address.path)
    if not match:
        raise AddressRefused(
            "The address is not that of a DICOM instance: it ends in "
            "/studies/UID/series/UID/instances/UID."
        )
    if match[4] not in (None, "1"):
        raise AddressRefused("Only the first frame of an instance can be shown (/frames/1).")


def fetch_instance(address: RemoteAddress, known: str, out: DownloadSink) -> str | None:
    """Fetch an instance as stored; return its tag (often empty), None if it is unchanged.

    Raises
    ------
    StorageMissing, StorageAway, StorageRefused
        Also if the answer is no DICOM, or another instance.
    """
    check_instance(address)
    url = re.sub(r"/frames/1/?$", "", address.url)
    headers = _credentials() | condition_headers(known) | {"Accept": _AS_STORED}
    with open_response(address, url, headers) as answer:
        if answer.status_code == 304:
            return None
        kind, boundary = read_content_type(answer.headers.get("Content-Type", ""))
        chunks = iterate_body(answer)
        if kind == "multipart/related":
            chunks = read_first_part(chunks, boundary)
        elif kind != "application/dicom":
            raise _not_dicom_error(address)
        _copy_checked(address, chunks, out)
        return response_tag(answer)


def _copy_checked(address: RemoteAddress, chunks: Iterator[bytes], out: DownloadSink) -> None:
    """Copy bytes after checking that they are DICOM and the requested instance."""
    head = b""
    is_checked = False
    for chunk in chunks:
        if not is_checked:
            head += chunk
            if len(head) < _PREAMBLE + len(_DICOM):
                continue
            if head[_PREAMBLE : _PREAMBLE + len(_DICOM)] != _DICOM:
                break
            is_checked, chunk = True, head
        out.write(chunk)
    if not is_checked:
        raise _not_dicom_error(address)


def _not_dicom_error(address: RemoteAddress) -> StorageRefused:
    return StorageRefused(f"{address.origin} answers with something else than a DICOM file.")


def instance_uid(address: RemoteAddress) -> str:
    """Return the SOP Instance UID in an address."""
    match = _INSTANCE.search(address.path)
    return match[3] if match else ""


def _credentials() -> dict[str, str]:
    if token := os.environ.get(TOKEN_VARIABLE, "").strip():
        return {"Authorization": f"Bearer {token}"}
    user, password = os.environ.get(USER_VARIABLE, ""), os.environ.get(PASSWORD_VARIABLE, "")
    if not user:
        return {}
    both = base64.b64encode(f"{user}:{password}".encode()).decode("ascii")
    return {"Authorization": f"Basic {both}"}


def search_archive(
    base: RemoteAddress, path: str, fields: Sequence[str] = (), **matching: str
) -> Iterator[Mapping[str, Any]]:
    """Search an archive (QIDO-RS) page by page; yield each match as DICOM JSON.

    ``path`` is relative to the address of the service, such as ``studies``; ``fields`` are
    additional attributes.

    Raises
    ------
    StorageMissing, StorageAway, StorageRefused
    """
    offset = 0
    seen: set[str] = set()
    while True:
        asking = [*matching.items(), *(("includefield", name) for name in fields)]
        asking += [("limit", str(_PAGE)), ("offset", str(offset))]
        page = _page(base, f"{base.joined(path).url}?{urlencode(asking)}")
        new = [one for one in page if json.dumps(one, sort_keys=True) not in seen]
        seen = {json.dumps(one, sort_keys=True) for one in page}
        yield from new
        if len(page) < _PAGE or not new:  # some archives ignore offsets and return everything
            return
        offset += len(page)


def _page(base: RemoteAddress, url: str) -> list[Mapping[str, Any]]:
    content = bytearray()
    headers = _credentials() | {"Accept": "application/dicom+json"}
    with open_response(base, url, headers) as answer:
        for chunk in iterate_body(answer):
            content += chunk
            if len(content) > _MOST_JSON:
                raise StorageRefused(f"{base.origin} answers with too long a list.")
    try:
        page = json.loads(content or b"[]")
    except ValueError:
        raise StorageAway(f"{base.origin} answers with something else than a list.") from None
    if not isinstance(page, list) or not all(isinstance(one, dict) for one in page):
        raise StorageRefused(f"{base.origin} answers with something else than a list.")
    return page


def first_tag_value(found_one: Mapping[str, Any], tag: str) -> str:
    """Return the first value of a tag (eight hexadecimal digits) as text, empty without one."""
    attribute = found_one.get(tag)
    values = attribute.get("Value") if isinstance(attribute, dict) else None
    value = values[0] if isinstance(values, list) and values else ""
    return str(value.get("Alphabetic", "") if isinstance(value, dict) else value)


def text_tag_values(found_one: Mapping[str, Any], tag: str) -> list[str]:
    """Return the text values of a tag."""
    attribute = found_one.get(tag)
    values = attribute.get("Value") if isinstance(attribute, dict) else None
    return [one for one in values if isinstance(one, str)] if isinstance(values, list) else []


def is_uid(text: str) -> bool:
    """Whether a text is a valid DICOM UID."""
    return len(text) <= 64 and bool(_UID.match(text))
