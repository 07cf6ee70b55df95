"""Where fetched bytes go: counted, digested, stopped when there are too many or too slow."""

from __future__ import annotations

import hashlib
import time
from typing import BinaryIO, Final

from rexview.errors import StorageAway, StorageRefused

MOST_BYTES: Final = 512_000_000
"""Of one picture's file: that of an uncompressed image of 64 megapixels and several frames."""
MOST_SECONDS: Final = 90.0
CHUNK: Final = 256 * 1024
TOO_SLOW: Final = "The storage sends the file too slowly. Try again later."


class Sink:
    """A file that is being fetched.

    Parameters
    ----------
    file : BinaryIO
        Written to.
    most_bytes : int
        Larger files are refused as soon as they get larger, whatever length was announced.
    most_seconds : float or None
        How long all of it may take.
    """

    def __init__(
        self,
        file: BinaryIO,
        most_bytes: int = MOST_BYTES,
        most_seconds: float | None = MOST_SECONDS,
    ) -> None:
        self._file = file
        self._most = most_bytes
        self._until = None if most_seconds is None else time.monotonic() + most_seconds
        self._digest = hashlib.sha256()
        self.size = 0

    def expect(self, size: int | None) -> None:
        """Refuse a file by the size that is announced for it.

        Raises
        ------
        StorageRefused
        """
        if size is not None and size > self._most:
            raise StorageRefused(f"The file is larger than {self._most / 1e6:,.0f} MB.")

    def write(self, chunk: bytes) -> None:
        """Write bytes.

        Raises
        ------
        StorageRefused
            The file is larger than is taken.
        StorageAway
            It takes too long.
        """
        self.size += len(chunk)
        self.expect(self.size)
        if self._until is not None and time.monotonic() > self._until:
            raise StorageAway(TOO_SLOW)
        self._digest.update(chunk)
        self._file.write(chunk)

    def digest(self) -> str:
        """SHA-256 of what was written, as 64 hexadecimal digits."""
        return self._digest.hexdigest()
