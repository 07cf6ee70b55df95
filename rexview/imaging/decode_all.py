"""Decode many picture files on all cores, to find those that cannot be shown.

Each core runs its own process, which a file may crash or stall without harm. Together the processes
use at most :data:`MAX_BYTES_AT_ONCE`, or a quarter of this machine's memory if that is more. A
picture that needs more than its process may use is decoded afterwards, alone.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from queue import SimpleQueue
from typing import Final

from rexview.errors import ImageBroken, ImageError, ImageTooLarge
from rexview.imaging.dicom.isolated_libjpeg import DecoderProcess
from rexview.imaging.image_files import read_facts, read_image
from rexview.imaging.limits import BYTES_PER_PIXEL, MAX_BYTES_AT_ONCE, MAX_PIXELS
from rexview.imaging.radiograph import ImageFacts
from rexview.imaging.raster import png_checksums_match

DecodeResult = ImageFacts | ImageError
"""The facts about a decoded picture, or the reason why it cannot be shown."""
DecodeCallback = Callable[[int, int], None]
"""Called with the number of files done and the total."""
_WORKER: Final = Path(__file__).with_name("decode_worker.py")
_SECONDS: Final = 120.0
_INLINE_FILES: Final = 16
"""Up to this many files are decoded sooner than another process starts."""


def decode_all(
    paths: Sequence[Path], told: DecodeCallback | None = None, *, max_pixels: int = MAX_PIXELS
) -> dict[Path, DecodeResult]:
    """Decode every file.

    Parameters
    ----------
    paths : sequence of Path
        Picture files; they may be missing.
    told : callable, optional
        Called with the progress, in this thread.
    max_pixels : int
        As in :func:`rexview.imaging.image_files.read_image`.
    """
    different = list(dict.fromkeys(paths))
    total = len(different)
    found: dict[Path, DecodeResult] = {}

    def keep(path: Path, decoded: DecodeResult) -> None:
        found[path] = decoded
        if told:
            told(len(found), total)

    later = different
    if total > _INLINE_FILES:
        later = _in_processes(different, keep, max_pixels)
    for path in later:
        keep(path, decode_one(path, max_pixels))
    return found


def decode_one(path: Path, max_pixels: int = MAX_PIXELS) -> DecodeResult:
    """Decode a file; its size is that of its pixels, whatever its header claims."""
    try:
        facts = read_facts(path)
        picture = read_image(path, max_pixels=max_pixels)
    except ImageError as error:
        return error
    if facts.format == "PNG" and not png_checksums_match(path):
        return ImageBroken("The file is damaged: its checksums do not hold.")
    return replace(facts, width=picture.width, height=picture.height)


def _in_processes(
    paths: Sequence[Path], keep: Callable[[Path, DecodeResult], None], max_pixels: int
) -> list[Path]:
    """Decode files; return those that are too large to decode in parallel."""
    number = min(os.cpu_count() or 1, -(-len(paths) // _INLINE_FILES))
    share = min(max_pixels, _memory_limit() // number // BYTES_PER_PIXEL)
    idle: SimpleQueue[DecoderProcess] = SimpleQueue()
    processes = [
        DecoderProcess([sys.executable, "-P", str(_WORKER)], _SECONDS) for _ in range(number)
    ]
    for process in processes:
        idle.put(process)

    def decode(path: Path) -> DecodeResult:
        process = idle.get()
        try:
            request = json.dumps([os.fspath(path), share])
            return _unpack_result(process.decode(request.encode("utf-8", "surrogateescape")))
        except RuntimeError:
            return ImageBroken("The picture is damaged: decoding it crashes or does not end.")
        finally:
            idle.put(process)

    later: list[Path] = []
    pool = ThreadPoolExecutor(number)
    try:
        running: dict[Future[DecodeResult], Path] = {
            pool.submit(decode, path): path for path in paths
        }
        for done in as_completed(running):
            decoded = done.result()
            if isinstance(decoded, ImageTooLarge) and share < max_pixels:
                later.append(running[done])
            else:
                keep(running[done], decoded)
    finally:
        pool.shutdown(cancel_futures=True)
        for process in processes:
            process.close()
    return later


def _memory_limit() -> int:
    """Return the bytes that all processes may use together."""
    machine = 0
    with suppress(AttributeError, ValueError, OSError):  # not available on Windows
        machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return max(MAX_BYTES_AT_ONCE, machine // 4)


def pack_result(decoded: DecodeResult) -> bytes:
    """Return a process's answer for a file, as bytes."""
    if isinstance(decoded, ImageError):
        return json.dumps([type(decoded).__name__, str(decoded)]).encode()
    return json.dumps(["", vars(decoded)]).encode()


def _unpack_result(answer: bytes) -> DecodeResult:
    kind, content = json.loads(answer)
    if kind:
        return ImageTooLarge(content) if kind == ImageTooLarge.__name__ else ImageBroken(content)
    words = content.pop("patient_orientation")
    return ImageFacts(**content, patient_orientation=words and tuple(words))
