"""Worker program of :mod:`rexview.imaging.dicom.isolated_libjpeg`: JPEG frames in, pixels out.

It imports nothing of rexview, so that it starts quickly. A request on standard input is a
little-endian uint64 length and the frame. An answer is a status byte (0: decoded), a length, and
the pixels.
"""

from __future__ import annotations

import os
import struct
import sys
from collections.abc import Callable
from typing import BinaryIO

LENGTH = struct.Struct("<Q")


def serve(
    requests: BinaryIO, answers: BinaryIO, answer: Callable[[bytes], bytes] | None = None
) -> None:
    """Answer each frame with its pixels, until the requests end."""
    answer = answer or _decoder()
    while len(head := requests.read(LENGTH.size)) == LENGTH.size:
        request = requests.read(LENGTH.unpack(head)[0])
        try:
            status, found = b"\0", answer(request)
        except Exception:  # the reason does not matter: the frame is damaged
            status, found = b"\1", b""
        answers.write(status + LENGTH.pack(len(found)))
        answers.write(found)
        answers.flush()


def _decoder() -> Callable[[bytes], bytes]:
    from libjpeg.utils import decode_pixel_data

    return lambda frame: bytes(decode_pixel_data(frame, version=2))


def run(answer: Callable[[bytes], bytes] | None = None) -> None:
    """Serve as a program; output printed by a decoder must not mix with the answers."""
    private = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    serve(sys.stdin.buffer, private, answer)


if __name__ == "__main__":
    run()
