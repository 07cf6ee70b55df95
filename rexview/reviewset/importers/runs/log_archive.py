"""The members of an Inspect log (``.eval``): a ZIP archive of JSON, packed with Zstandard.

Python reads that packing from 3.14 on; until then pyarrow unpacks it.
"""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from rexview.reviewset.importers.core.source_files import MAX_VALUES
from rexview.reviewset.json_text import JsonError, parse

MAX_MEMBERS: Final = 500_000
MAX_MEMBER_BYTES: Final = 200_000_000
"""Of one sample, unpacked: its events hold every picture that was sent."""
_MAX_RATIO: Final = 1000
_SMALL: Final = 10_000_000
_ZSTANDARD: Final = 93
_ENCRYPTED: Final = 0x1
_LOCAL_HEADER: Final = 30
_HEADERS: Final = ("header.json", "_journal/start.json")
"""What a log says of itself: when it ended, and when it began."""
_SAMPLES: Final = "samples/"


class MemberRefused(Exception):
    """A member cannot be read; the message says why, for a reader of the receipt."""


class LogArchive:
    """An Inspect log whose members are read one by one, within bounds.

    Raises
    ------
    MemberRefused
        When it is no archive that can be opened.
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

    def __enter__(self) -> LogArchive:
        return self

    def __exit__(self, *_: object) -> None:
        self._archive.close()

    @property
    def header(self) -> Any:
        """What the log says of its run; an empty object where nothing of it can be read."""
        for name in _HEADERS:
            if name in self._members:
                with suppress(MemberRefused):
                    return self._json(self._members[name])
        return {}

    @property
    def others(self) -> list[str]:
        """Names of members that are no samples."""
        return [name for name in self._members if not _is_sample(name)]

    def samples(self) -> Iterator[tuple[str, Any]]:
        """Yield name and content of each sample; the content is what was refused, if it was."""
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
            return parse(text)
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
