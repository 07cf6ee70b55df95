"""Pictures inside a table: the bytes of Hugging Face's image columns, and base64 in JSON."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any, Final

from rexview.bounded import file_name

MAX_BYTES: Final = 200_000_000
"""Bytes of one picture."""
_MAGIC: Final = (
    (0, b"\x89PNG", ".png"),
    (0, b"\xff\xd8\xff", ".jpg"),
    (8, b"WEBP", ".webp"),
    (0, b"GIF8", ".gif"),
    (0, b"BM", ".bmp"),
    (0, b"II*\x00", ".tif"),
    (0, b"MM\x00*", ".tif"),
    (128, b"DICM", ".dcm"),
)
_BASE64: Final = ("iVBORw0KGgo", "/9j/", "UklGR")
_SHORTEST: Final = 100


class Pictures:
    """Takes pictures out of values and leaves their paths; writes them where a folder is given.

    ``files`` has the file of each path.
    """

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder
        self.files: dict[str, Path] = {}
        self._count = 0

    def taken_out(self, value: Any, row: int) -> Any:
        """Return a value of a row with paths for pictures, also inside lists and objects."""
        if isinstance(value, bytes):
            return self._kept(value, row, None)
        if isinstance(value, str):
            content = _decoded(value)
            return value if content is None else self._kept(content, row, None)
        if isinstance(value, list | tuple):
            return [self.taken_out(one, row) for one in value]
        if isinstance(value, Mapping):
            content = value.get("bytes")
            if isinstance(content, bytes) and value.keys() <= {"bytes", "path"}:
                return self._kept(content, row, value.get("path"))
            if value.keys() == {"bytes", "path"}:
                return value["path"]
            return {name: self.taken_out(one, row) for name, one in value.items()}
        return value

    def _kept(self, content: bytes, row: int, path: Any) -> str:
        """Keep a picture; what is none becomes a word on its size."""
        ending = next(
            (ending for start, magic, ending in _MAGIC if content.startswith(magic, start)), None
        )
        if ending is None or len(content) > MAX_BYTES:
            return f"{len(content):,} bytes"
        stem = PurePosixPath(file_name(str(path))).stem if path else "picture"
        name = f"{row:06}_{stem}{ending}"
        while name in self.files:
            self._count += 1
            name = f"{row:06}_{stem}_{self._count}{ending}"
        self.files[name] = Path(name)
        if self.folder is not None:
            self.folder.mkdir(parents=True, exist_ok=True)
            self.files[name] = self.folder / name
            self.files[name].write_bytes(content)
        return name


def _decoded(text: str) -> bytes | None:
    """Return the bytes of a picture that a text holds as base64 or as a data address."""
    if len(text) < _SHORTEST:
        return None
    if text.startswith("data:image/"):
        text = text.partition(",")[2]
    elif not text.startswith(_BASE64):
        return None
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None
