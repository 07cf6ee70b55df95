"""The program that :mod:`rexview.imaging.dicom.isolated` runs: JPEG frames in, pixels out.

Imports nothing of rexview, so that it starts quickly. Requests on standard input are a
little-endian uint64 length and the frame; answers a status byte (0: decoded), a length, the pixels.
"""

from __future__ import annotations

import os
import struct
import sys
from typing import BinaryIO

LENGTH = struct.Struct("<Q")


def serve(requests: BinaryIO, answers: BinaryIO) -> None:
    """Decode frame after frame until the requests end."""
    from libjpeg.utils import decode_pixel_data

    while len(head := requests.read(LENGTH.size)) == LENGTH.size:
        frame = requests.read(LENGTH.unpack(head)[0])
        try:
            status, pixels = b"\0", bytes(decode_pixel_data(frame, version=2))
        except Exception:  # why does not matter: the frame is damaged
            status, pixels = b"\1", b""
        answers.write(status + LENGTH.pack(len(pixels)))
        answers.write(pixels)
        answers.flush()


if __name__ == "__main__":
    private = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever the decoder prints must not get among the answers
    serve(sys.stdin.buffer, private)
