"""Worker program of :mod:`rexview.imaging.decode_all`: names of picture files in, facts out."""

from __future__ import annotations

import json
import sys
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # run by its path: find rexview

from rexview.imaging.decode_all import decode_one, pack_result
from rexview.imaging.dicom.libjpeg_worker import run


def answer(request: bytes) -> bytes:
    """Decode the file of a request, which holds its path and its limit of pixels."""
    path, max_pixels = json.loads(request.decode("utf-8", "surrogateescape"))
    return pack_result(decode_one(Path(path), max_pixels))


if __name__ == "__main__":
    run(answer)
