"""DICOMweb archives: the instance as it is stored, or a sentence. Orthanc answers."""

import io

import pydicom
import pytest
from support.rows import each_row

from rexview import imaging
from rexview.addresses import parse_address
from rexview.errors import AddressRefused, StorageAway, StorageMissing, StorageRefused
from rexview.remote import dicomweb as client
from rexview.remote import remote_pictures
from rexview.remote.dicomweb import read_content_type, read_first_part
from rexview.settings import load_settings
from tests.remote.conftest import FILMS, IMAGES


@pytest.fixture
def stored(stored_studies):
    """Films in the archive, by the names of their files."""
    return dict(zip(FILMS, stored_studies, strict=True))


def address_of(server, film, end=""):
    place = f"studies/{film.StudyInstanceUID}/series/{film.SeriesInstanceUID}"
    return parse_address(f"{server.base}/{place}/instances/{film.SOPInstanceUID}{end}")


def fetched(address):
    return remote_pictures.fetch_picture(address, None, load_settings())


@pytest.mark.parametrize("name", FILMS)
@pytest.mark.parametrize("end", ["", "/frames/1"])
def test_an_instance_shows_the_same_picture_as_its_file(dicomweb, stored, name, end):
    got = fetched(address_of(dicomweb, stored[name], end))
    there = imaging.viewer_payload(IMAGES / name)
    assert imaging.viewer_payload(got).framed == there.framed  # window and spacing are in it, too


def test_it_is_not_asked_for_again_by_another_process(dicomweb, stored):
    address = address_of(dicomweb, stored[FILMS[0]])
    fetched(address)
    remote_pictures._KNOWN_ADDRESSES.at.clear()
    fetched(address)
    assert len(dicomweb.asked) == 1, (
        "instances of one UID do not change, and Orthanc tells no state"
    )


def test_a_wrong_password_is_told_without_it(dicomweb, stored, monkeypatch):
    monkeypatch.setenv("REXVIEW_DICOMWEB_PASSWORD", "not this")
    with pytest.raises(StorageRefused, match="REXVIEW_DICOMWEB_USER") as caught:
        fetched(address_of(dicomweb, stored[FILMS[0]]))
    assert "not this" not in repr(caught.value)


def test_a_token_goes_before_the_password(dicomweb, stored, monkeypatch):
    monkeypatch.setenv("REXVIEW_DICOMWEB_TOKEN", "token")
    heard = []
    dicomweb.spoil = lambda answer: heard.append(answer.headers["Authorization"]) or answer.say(401)
    with pytest.raises(StorageRefused):
        fetched(address_of(dicomweb, stored[FILMS[0]]))
    assert heard == ["Bearer token"]


def test_the_password_goes_to_no_other_server(dicomweb, stored, monkeypatch):
    """Not to one that is listed for plain pictures only."""
    monkeypatch.setenv("REXVIEW_REMOTE_HOSTS", dicomweb.base.removeprefix("dicomweb+"))
    address = address_of(dicomweb, stored[FILMS[0]])
    with pytest.raises(StorageRefused, match="remote_hosts"):
        fetched(address)
    heard = []
    dicomweb.spoil = lambda answer: heard.append(answer.headers["Authorization"]) or answer.say(401)
    with pytest.raises(StorageRefused, match="without a sign-in"):
        fetched(parse_address(address.url))
    assert heard == [None]


def test_an_instance_that_is_not_there(dicomweb, stored):
    film = pydicom.Dataset()
    film.StudyInstanceUID, film.SeriesInstanceUID, film.SOPInstanceUID = "1.2", "1.3", "1.4"
    with pytest.raises(StorageMissing, match="nothing at this address"):
        fetched(address_of(dicomweb, film))


@pytest.mark.parametrize(
    ("spoil", "error", "words"),
    [
        (
            lambda answer: answer.say(200, b"<html>sign in</html>", Content_Type="text/html"),
            StorageRefused,
            "something else than a DICOM",
        ),
        (
            lambda answer: answer.say(200, b"x" * 500, Content_Type="application/dicom"),
            StorageRefused,
            "something else than a DICOM",
        ),
        (
            lambda answer: answer.say(
                200, b"--b\r\nA: b\r\n\r\ncut", Content_Type="multipart/related; boundary=b"
            ),
            StorageAway,
            "ends too early",
        ),
        (lambda answer: answer.say(503), StorageAway, "out of order or busy"),
        (lambda answer: answer.say(404), StorageMissing, "nothing"),
        (lambda answer: answer.pass_on(most=5000) or True, StorageAway, "broke off|too early"),
    ],
)
def test_faults_are_sentences_and_leave_nothing(dicomweb, stored, tmp_path, spoil, error, words):
    dicomweb.spoil = spoil
    with pytest.raises(error, match=words):
        fetched(address_of(dicomweb, stored[FILMS[0]]))
    assert not list((tmp_path / "cache").rglob("picture"))


def test_another_instance_than_was_asked_for_is_refused(dicomweb, stored):
    content = io.BytesIO((IMAGES / FILMS[1]).read_bytes()).getvalue()
    dicomweb.spoil = lambda answer: answer.say(200, content, Content_Type="application/dicom")
    with pytest.raises(StorageRefused, match="another instance"):
        fetched(address_of(dicomweb, stored[FILMS[0]]))


@pytest.mark.parametrize("end", ["/frames/2", "/rendered", "/../../x"])
def test_what_cannot_be_shown_is_told_before_anybody_is_asked(dicomweb, stored, end):
    with pytest.raises(AddressRefused):
        fetched(address_of(dicomweb, stored[FILMS[0]], end))
    assert dicomweb.asked == []


def test_what_there_is_comes_page_by_page(dicomweb, stored, monkeypatch):
    monkeypatch.setattr(client, "_PAGE", 1)
    found = client.search_archive(parse_address(dicomweb.base), "instances", Modality="DX")
    uids = {client.first_tag_value(one, "00080018") for one in found}
    assert uids >= {str(film.SOPInstanceUID) for film in stored.values()}


class TestParts:
    BODY = b"--b\r\nContent-Type: application/dicom\r\n\r\n0123456789\r\n--b--\r\n"

    @pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
    def test_however_it_is_cut_into_pieces(self, size):
        chunks = [self.BODY[at : at + size] for at in range(0, len(self.BODY), size)]
        assert b"".join(read_first_part(chunks, "b")) == b"0123456789"

    @each_row("length", range(0, 54, 3))
    def test_one_that_ends_too_early_is_never_whole(self, length):
        with pytest.raises(StorageAway, match="too early"):
            list(read_first_part([self.BODY[:length]], "b"))

    @pytest.mark.parametrize("boundary", ["", "x" * 300])
    def test_no_boundary(self, boundary):
        with pytest.raises(StorageRefused):
            list(read_first_part([self.BODY], boundary))

    def test_what_is_no_message(self):
        with pytest.raises(StorageRefused):
            list(read_first_part([b"x" * 70_000] * 3, "b"))

    def test_types(self):
        assert read_content_type('Multipart/Related; type="a/b"; boundary="x y"') == (
            "multipart/related",
            "x y",
        )
        assert read_content_type("nonsense")[1] == ""
