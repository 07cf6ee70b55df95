import pydicom
import pytest
from support import ROOT
from support.storage import spoiling

from bench.remote import PASSWORD, S3_VARIABLES, USER
from rexview.remote import http_storage, remote_pictures, remote_sets, s3
from rexview.remote import remote_pictures as fetching


@pytest.fixture(autouse=True)
def forgetful(monkeypatch, tmp_path):
    """Begin each test as a new process would: nothing known, a cache folder of its own."""
    for name in ("AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3", "AWS_PROFILE", "AWS_SESSION_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("REXVIEW_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    forget()
    yield
    forget()


def forget():
    for client in (s3._client, http_storage._client):
        if client.cache_info().currsize:
            client().close()
        client.cache_clear()
    remote_pictures._cache_in.cache_clear()
    fetching._AWAY.clear()
    remote_sets._COPIES.clear()
    for known in (
        remote_pictures._KNOWN_ADDRESSES.at,
        remote_pictures._KNOWN_ADDRESSES.whole,
        remote_pictures._KNOWN_ADDRESSES.links,
    ):
        known.clear()


@pytest.fixture
def s3_set(s3_server, monkeypatch):
    """The S3 server behind one that spoils answers; ``AWS_ENDPOINT_URL`` names the latter."""
    for name, value in S3_VARIABLES.items():
        monkeypatch.setenv(name, value)
    with spoiling(s3_server.port) as between:
        between.folder = s3_server.folder
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{between.port}")
        yield between


@pytest.fixture
def dicomweb(archive, monkeypatch):
    """The archive behind one that spoils answers."""
    monkeypatch.setenv("REXVIEW_DICOMWEB_USER", USER)
    monkeypatch.setenv("REXVIEW_DICOMWEB_PASSWORD", PASSWORD)
    with spoiling(archive.port) as between:
        between.base = f"dicomweb+http://127.0.0.1:{between.port}/dicom-web"
        monkeypatch.setenv("REXVIEW_REMOTE_HOSTS", between.base)
        yield between


FILMS = ("effusion-left-pa.dcm", "effusion-right-pa.dcm")
IMAGES = ROOT / "assets" / "demo" / "images"


@pytest.fixture(scope="session")
def stored_studies(archive):
    """Two films in the archive, a study each, by their headers."""
    archive.store(*(IMAGES / name for name in FILMS))
    return [pydicom.dcmread(IMAGES / name, stop_before_pixels=True) for name in FILMS]
