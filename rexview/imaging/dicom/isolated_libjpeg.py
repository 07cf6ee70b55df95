"""Run libjpeg in a separate process, as a plugin of pydicom's JPEG decoders.

It is the only free decoder of 12-bit and lossless JPEG. A damaged frame can send it into an endless
loop that holds Python's lock: one broken file would stop the server. A process can be killed. It is
started at the first use and then kept.
"""

from __future__ import annotations

import atexit
import subprocess
import sys
import threading
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from pydicom import uid
from pydicom.pixels.decoders.base import DecodeRunner, get_decoder

from rexview.child_process import kill_process
from rexview.imaging.codestream import repair_scan_headers
from rexview.imaging.dicom.libjpeg_worker import LENGTH

PLUGIN: Final = "libjpeg-isolated"
DECODER_DEPENDENCIES: Final = dict.fromkeys(uid.JPEGTransferSyntaxes, ("pylibjpeg-libjpeg>=2.1",))
_WORKER: Final = Path(__file__).with_name("libjpeg_worker.py")
_SECONDS: Final = 10.0
_SECONDS_PER_MEGABYTE: Final = 2.0


def is_available(syntax: str) -> bool:
    """Whether a transfer syntax can be decoded; called by pydicom."""
    return syntax in DECODER_DEPENDENCIES and find_spec("libjpeg") is not None


class DecoderProcess:
    """A process that decodes JPEG frames, one at a time.

    Parameters
    ----------
    command : list of str
        The program; its protocol is that of :mod:`rexview.imaging.dicom.libjpeg_worker`.
    seconds : float
        Base time limit for a frame, in seconds; its size adds to it. Then the process is killed.
    """

    def __init__(self, command: list[str], seconds: float = _SECONDS) -> None:
        self._command = command
        self.seconds = seconds
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None

    def decode(self, frame: bytes) -> bytes:
        """Decode one frame.

        Raises
        ------
        RuntimeError
            The frame is damaged, crashes the decoder or takes too long.
        """
        with self._lock:
            process = self._worker()
            limit = self.seconds + _SECONDS_PER_MEGABYTE * len(frame) / 1e6
            watchdog = threading.Timer(limit, process.kill)
            watchdog.daemon = True
            watchdog.start()
            try:
                pixels = self._exchange(process, frame)
            except OSError:
                pixels = None
            finally:
                watchdog.cancel()
            if pixels is None:
                self._end()
                raise RuntimeError("The decoder crashed or took too long.")
        if not pixels:
            raise RuntimeError("The frame is damaged.")
        return pixels

    @staticmethod
    def _exchange(process: subprocess.Popen[bytes], frame: bytes) -> bytes | None:
        """Return the pixels: empty for a damaged frame, None if the process has died."""
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(LENGTH.pack(len(frame)))
        process.stdin.write(frame)
        process.stdin.flush()
        head = process.stdout.read(1 + LENGTH.size)
        if len(head) < 1 + LENGTH.size:
            return None
        length = LENGTH.unpack(head[1:])[0]
        pixels = process.stdout.read(length)
        if len(pixels) < length:
            return None
        return pixels if head[0] == 0 else b""

    def _worker(self) -> subprocess.Popen[bytes]:
        if self._process is not None and self._process.poll() is not None:
            self._end()
        if self._process is None:
            self._process = subprocess.Popen(  # noqa: S603 - our own program
                self._command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
        return self._process

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            kill_process(process)

    def close(self) -> None:
        """End the process."""
        with self._lock:
            self._end()


_shared: Final = DecoderProcess([sys.executable, "-P", str(_WORKER)])
atexit.register(_shared.close)


def _decode_frame(src: bytes, runner: DecodeRunner) -> bytes:
    """Decode one frame; called by pydicom."""
    return _shared.decode(repair_scan_headers(src))


def register_plugin() -> None:
    """Register the plugin with pydicom, after pydicom's own ones."""
    for syntax in DECODER_DEPENDENCIES:
        decoder = get_decoder(syntax)
        if PLUGIN not in decoder.available_plugins:
            decoder.add_plugin(PLUGIN, (__name__, _decode_frame.__name__))
