"""A film in storage elsewhere, beside the same on this disk: ``python -m rexview bench remote``.

S3 is rclone's server and the archive is Orthanc, both on this machine: what the network adds to
that is its own. Everything is measured up to the bytes that the viewer gets, decoded each time.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from pydicom import dcmread, uid

from rexview.addresses import Address, read_address
from rexview.bench.images import write_film
from rexview.bench.made_set.films import film
from rexview.bench.measure import ROUNDS, Measured, Row, in_turn, milliseconds, missing, result
from rexview.bench.remote.storage import PASSWORD, S3_VARIABLES, USER, Archive, S3Server
from rexview.bench.serving import BenchUnavailable
from rexview.imaging import viewer_payload
from rexview.remote import pictures
from rexview.settings import Settings

SIDE: Final = 2500
_NAME: Final = "the same file on this disk"


def run(side: int = SIDE, rounds: int = ROUNDS) -> Measured:
    """Measure one square film of that many pixels a side, in S3 storage and in an archive."""
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
    address = read_address(f"s3://films/{file.name}")
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
        address = read_address(f"{server.base}/{path}/instances/{header.SOPInstanceUID}")
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


def _rows(what: str, address: Address, file: Path, cache: Path, rounds: int) -> list[Row]:
    """Measure a film that was never fetched, one fetched ahead, and one that is looked at again."""
    settings = Settings(cache_folder=cache, remote_hosts=(address,))
    here = milliseconds(lambda: viewer_payload(file))

    def shown() -> None:
        viewer_payload(pictures.picture(address, None, settings))

    def never_fetched() -> None:
        pictures.forget(address, settings)
        shown()

    def compare(words: str, ours: Callable[[], float]) -> Row:
        mine, theirs = in_turn(ours, here, rounds=rounds)
        return result(f"{words}, {what}", mine, "ms", alternative=theirs, name=_NAME)

    return [
        compare("a film as it comes", milliseconds(never_fetched)),
        compare("one that was fetched ahead", milliseconds(shown)),
    ]
