"""Pictures in S3 storage: fetched whole or not at all, bounded, anew when they have changed."""

import io
import threading
from itertools import count

import pytest
from PIL import Image
from support.review_folder import RAMP as RAMP_PIXELS

from rexview import imaging
from rexview.addresses import parse_address
from rexview.errors import AddressRefused, StorageAway, StorageMissing, StorageRefused
from rexview.remote import http_storage, remote_pictures, s3
from rexview.remote import http_storage as sink
from rexview.remote import remote_pictures as fetching
from rexview.settings import load_settings
from rexview.ui.safe_text import as_markdown

OWN = parse_address("s3://films/")
_FILE = io.BytesIO()
Image.fromarray(RAMP_PIXELS).save(_FILE, "png")
RAMP = _FILE.getvalue()


NUMBERS = count()


@pytest.fixture
def film(s3_set):
    """A picture in a bucket: its file there, and its address."""
    folder = s3_set.folder / "films" / f"{next(NUMBERS)}"
    folder.mkdir(parents=True)
    file = folder / "pä 1.png"
    file.write_bytes(RAMP)
    return file, address_of(s3_set, file)


def address_of(server, file):
    return parse_address(f"s3://{file.relative_to(server.folder).as_posix()}")


def fetched(address, own=OWN):
    return remote_pictures.fetch_picture(address, own, load_settings())


def kept(tmp_path):
    return list((tmp_path / "cache").rglob("picture"))


def test_what_is_fetched_is_the_file_and_shows_the_same_pixels(film):
    file, address = film
    got = fetched(address)
    assert got.read_bytes() == file.read_bytes()
    assert imaging.viewer_payload(got).framed == imaging.viewer_payload(file).framed


def test_it_is_fetched_once_while_it_is_fresh(film, s3_set):
    _, address = film
    assert fetched(address) == fetched(address)
    assert len(s3_set.asked) == 1


def test_many_who_ask_at_once_share_one_fetching(film, s3_set):
    _, address = film
    found = []
    threads = [threading.Thread(target=lambda: found.append(fetched(address))) for _ in range(6)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert len(set(found)) == 1
    assert len(s3_set.asked) == 1


def test_one_that_changed_is_another_file_and_another_link(film, monkeypatch):
    file, address = film
    settings = load_settings()
    first_link = remote_pictures.link_version(address, settings)
    old = fetched(address)
    assert remote_pictures.link_version(address, settings) == first_link, (
        "links stay while it is the same"
    )
    monkeypatch.setattr(remote_pictures, "RECHECK_AFTER_S", 0.0)
    assert fetched(address) == old
    file.write_bytes(RAMP + b" ")
    new = fetched(address)
    assert new != old
    assert new.read_bytes() == RAMP + b" "
    newer_link = remote_pictures.link_version(address, settings)
    assert newer_link != first_link
    assert remote_pictures.is_current_link(address, newer_link, settings)
    file.write_bytes(RAMP)
    fetched(address)
    assert not remote_pictures.is_current_link(address, newer_link, settings)


def test_a_torn_file_of_the_cache_is_fetched_again(film):
    file, address = film
    got = fetched(address)
    got.write_bytes(b"x" * got.stat().st_size)
    remote_pictures._KNOWN_ADDRESSES.whole.clear()
    assert fetched(address).read_bytes() == file.read_bytes()
    fetched(address).write_bytes(b"short")
    assert fetched(address).read_bytes() == file.read_bytes()


def test_the_longest_unused_goes_when_there_is_no_room(film, s3_set, monkeypatch, tmp_path):
    file, _ = film
    monkeypatch.setenv("REXVIEW_REMOTE_CACHE_MB", "1")
    addresses = []
    for number in range(4):
        other = file.with_name(f"{number}.png")
        other.write_bytes(RAMP + bytes([number]) * 400_000)
        addresses.append(address_of(s3_set, other))
    for address in addresses:
        fetched(address)
    sizes = sum(path.stat().st_size for path in kept(tmp_path))
    assert sizes <= 1_000_000
    assert any(path.read_bytes()[-1:] == b"\x03" for path in kept(tmp_path))


def test_one_that_is_larger_than_all_may_be_is_told(film, monkeypatch, tmp_path):
    file, address = film
    file.write_bytes(b"x" * 1_100_000)
    monkeypatch.setenv("REXVIEW_REMOTE_CACHE_MB", "1")
    with pytest.raises(StorageRefused, match="cannot be kept"):
        fetched(address)
    assert kept(tmp_path) == []


def test_a_disk_that_takes_nothing_is_told(film, monkeypatch, tmp_path):
    _, address = film
    (tmp_path / "no-folder").write_text("a file where the cache is to be")
    monkeypatch.setenv("REXVIEW_CACHE", str(tmp_path / "no-folder"))
    with pytest.raises(StorageRefused, match="cannot be kept on this server"):
        fetched(address)


def test_a_connection_that_is_cut_leaves_nothing_and_is_made_good(
    film, s3_set, tmp_path, monkeypatch
):
    file, address = film

    def cut(answer):
        answer.pass_on(most=len(RAMP) // 2)
        return True

    s3_set.spoil = cut
    with pytest.raises(StorageAway, match="broke off"):
        fetched(address)
    assert kept(tmp_path) == []
    assert not [path for path in (tmp_path / "cache").rglob("*") if path.is_file()]
    with pytest.raises(StorageAway, match="broke off"):
        fetched(address)
    assert len(s3_set.asked) == 1, "a storage that failed is left alone for a moment"
    s3_set.spoil = None
    monkeypatch.setattr(fetching, "SILENT_STORAGE_PAUSE_S", 0.0)
    assert fetched(address).read_bytes() == file.read_bytes()


def test_what_is_kept_is_shown_while_the_storage_is_away(film, s3_set, monkeypatch):
    _, address = film
    got = fetched(address)
    monkeypatch.setattr(remote_pictures, "RECHECK_AFTER_S", 0.0)
    s3_set.spoil = lambda answer: answer.say(503)
    assert fetched(address) == got


@pytest.mark.parametrize(
    ("spoil", "error", "words"),
    [
        (lambda answer: answer.say(503), StorageAway, "out of order or busy"),
        (lambda answer: answer.say(403), StorageRefused, "does not let this computer read"),
        (
            lambda answer: answer.say(301, Location="http://127.0.0.1:9/"),
            StorageRefused,
            "AWS_REGION",
        ),
        (lambda answer: answer.connection.close() or True, StorageAway, "broke off"),
    ],
)
def test_faults_of_the_storage_are_sentences(film, s3_set, spoil, error, words):
    _, address = film
    s3_set.spoil = spoil
    with pytest.raises(error, match=words) as caught:
        fetched(address)
    assert "s3://films" in str(caught.value)


def test_a_storage_that_says_nothing_is_not_waited_for(film, s3_set, monkeypatch):
    _, address = film
    ended = threading.Event()
    monkeypatch.setattr(s3, "SILENCE_LIMIT_S", 0.2)
    s3_set.spoil = lambda answer: ended.wait(20) or True
    try:
        with pytest.raises(StorageAway, match="in time"):
            fetched(address)
    finally:
        ended.set()


def test_a_storage_that_is_not_there(film, monkeypatch):
    _, address = film
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    with pytest.raises(StorageAway, match="cannot be reached"):
        fetched(address)


def test_a_wrong_key_is_named_and_never_shown(film, monkeypatch):
    _, address = film
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "not-the-secret")
    with pytest.raises(StorageRefused, match="AWS_SECRET_ACCESS_KEY") as caught:
        fetched(address)
    assert "not-the-secret" not in repr(caught.value)


@pytest.mark.parametrize("name", ["none.png", "", "pä 1.png/x"])
def test_a_key_that_is_not_there_or_a_folder(film, name):
    _, address = film
    folder = address.text.rpartition("/")[0]
    with pytest.raises(StorageMissing):
        fetched(parse_address(f"{folder}/{name}"))


@pytest.mark.parametrize(
    "text",
    [
        "s3://other/x.png",
        "s3://films2/x.png",
        "https://127.0.0.1/x.png",
        "http://169.254.169.254/latest/meta-data/",
        "dicomweb+https://host/studies/1/series/1/instances/1",
        "gs://bucket/x.png",
    ],
)
def test_nobody_is_asked_who_is_not_allowed(s3_set, text):
    with pytest.raises(StorageRefused, match="remote_hosts"):
        fetched(parse_address(text))
    assert s3_set.asked == []


def test_a_listed_folder_allows_what_lies_in_it_alone(film, s3_set, monkeypatch):
    _, address = film
    monkeypatch.setenv("REXVIEW_REMOTE_HOSTS", address.text.rpartition("/")[0])
    assert fetched(address, own=None).read_bytes() == RAMP
    with pytest.raises(StorageRefused, match="remote_hosts"):
        fetched(parse_address("s3://films/elsewhere.png"), own=None)


class TestOverHttp:
    """Plain files of a web server."""

    @pytest.fixture
    def server(self, s3_set, monkeypatch):
        base = f"http://127.0.0.1:{s3_set.port}/"
        monkeypatch.setenv("REXVIEW_REMOTE_HOSTS", base)
        s3_set.base = base
        return s3_set

    def fetched(self, server, spoil):
        server.spoil = spoil
        return fetched(parse_address(f"{server.base}film.png"), own=None)

    def test_a_file(self, server):
        assert self.fetched(server, lambda answer: answer.say(200, RAMP)).read_bytes() == RAMP

    def test_a_redirect_is_not_followed(self, server):
        elsewhere = f"{server.base}other"
        with pytest.raises(StorageRefused, match="not followed"):
            self.fetched(server, lambda answer: answer.say(302, Location=elsewhere))
        assert server.asked == ["/film.png"]

    def test_a_packed_answer_is_refused(self, server):
        with pytest.raises(StorageRefused, match="packs"):
            self.fetched(server, lambda answer: answer.say(200, b"x", Content_Encoding="gzip"))

    def test_an_endless_answer_ends(self, server, monkeypatch, tmp_path):
        def endless(answer):
            answer.send_response(200)
            answer.send_header("Transfer-Encoding", "chunked")
            answer.end_headers()
            while True:
                answer.wfile.write(b"10000\r\n" + b"x" * 0x10000 + b"\r\n")

        monkeypatch.setattr(
            remote_pictures, "DownloadSink", lambda file: sink.DownloadSink(file, 1_000_000)
        )

        with pytest.raises(StorageRefused, match="larger than 1 MB"):
            self.fetched(server, endless)
        assert kept(tmp_path) == []

    def test_an_answer_whose_end_nobody_can_tell_is_refused(self, server):
        def open_ended(answer):
            answer.send_response(200)
            answer.end_headers()
            answer.wfile.write(RAMP)
            return True

        with pytest.raises(StorageRefused, match="how long"):
            self.fetched(server, open_ended)

    def test_too_slow_is_told(self, server, monkeypatch):
        monkeypatch.setattr(
            remote_pictures, "DownloadSink", lambda file: sink.DownloadSink(file, most_seconds=-1.0)
        )
        with pytest.raises(StorageAway, match="too slowly"):
            self.fetched(server, lambda answer: answer.say(200, RAMP))

    def test_what_comes_byte_by_byte_is_looked_at_byte_by_byte(self, server):
        heard = threading.Event()

        def dripping(answer):
            answer.send_response(200)
            answer.send_header("Content-Length", "2")
            answer.end_headers()
            answer.wfile.write(b"a")
            heard.wait(10)
            answer.wfile.write(b"b")
            return True

        server.spoil = dripping
        address = parse_address(f"{server.base}film.png")
        with http_storage.open_response(address, address.url, {}) as answer:
            bodies = http_storage.iterate_body(answer)
            assert next(bodies) == b"a", "and not all of it at its end"
            heard.set()
            assert list(bodies) == [b"b"]
        with (
            http_storage.open_response(address, address.url, {}) as answer,
            pytest.raises(StorageAway, match="too slowly"),
        ):
            list(http_storage.iterate_body(answer, -1.0))

    def test_no_cookie_is_kept(self, server):
        self.fetched(server, lambda answer: answer.say(200, RAMP, Set_Cookie="a=b; Path=/"))
        assert not list(http_storage._client().cookies.jar)


def test_messages_are_safe_on_a_page():
    with pytest.raises(AddressRefused) as caught:
        parse_address("https://user:secret@host/x")
    assert "secret" not in str(caught.value)
    assert as_markdown(str(caught.value))
