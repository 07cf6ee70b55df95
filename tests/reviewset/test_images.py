from importlib import util
from pathlib import Path

import pytest

from rexview.addresses import is_address
from rexview.errors import ImageMissing, PathEscape
from rexview.reviewset import image_path
from rexview.reviewset.images import NOT_PLAIN, images_folder, relative_path

ESCAPES = [
    "../secret.png",
    "a/../../secret.png",
    "..",
    ".",
    "",
    "a/..",
    "/etc/passwd",
    "//server/share/x.png",
    "C:\\x.png",
    "c:x.png",
    "\\\\server\\share\\x.png",
    "\\x.png",
    "..\\secret.png",
    "a\\..\\..\\secret.png",
    "a/\0.png",
    "a\n.png",
]
INSIDE = [
    ("a/pa.png", "a/pa.png"),
    ("./a/pa.png", "a/pa.png"),
    ("a//pa.png", "a/pa.png"),
    ("a/b/../pa.png", "a/pa.png"),
    ("a\\pa.png", "a/pa.png"),
    ("..a/pa..png", "..a/pa..png"),
    ("ä ö/ü.png", "ä ö/ü.png"),
    ("~/pa.png", "~/pa.png"),
    ("%2e%2e/pa.png", "%2e%2e/pa.png"),
]


@pytest.mark.parametrize("path", ESCAPES)
def test_paths_that_lead_out_are_refused(small, path):
    with pytest.raises(PathEscape):
        image_path(small.load(), path)


@pytest.mark.parametrize(("path", "plain"), INSIDE)
def test_paths_that_stay_inside(small, path, plain):
    assert image_path(small.load(), path) == small.folder.resolve() / "images" / plain


@pytest.mark.parametrize("path", [*ESCAPES, *(path for path, plain in INSIDE if path != plain)])
def test_the_quick_look_sees_every_path_that_is_not_plain(path):
    import polars as pl

    assert pl.Series([path]).str.contains(NOT_PLAIN).all()


def test_plain_paths_are_plain():
    assert [relative_path(plain) for _, plain in INSIDE] == [plain for _, plain in INSIDE]


class TestLinks:
    def test_a_link_that_leads_out_is_refused(self, small):
        secret = small.folder.parent / "secret.png"
        secret.touch()
        (small.folder / "images" / "link.png").symlink_to(secret)
        with pytest.raises(PathEscape):
            image_path(small.load(), "link.png")

    def test_a_linked_folder_that_leads_out_is_refused(self, small):
        (small.folder / "images" / "up").symlink_to(small.folder.parent)
        with pytest.raises(PathEscape):
            image_path(small.load(), "up/secret.png")

    def test_a_link_within_the_folder_is_followed(self, small):
        (small.folder / "images" / "link.png").symlink_to("a/pa.png")
        assert image_path(small.load(), "link.png").name == "pa.png"

    def test_the_folder_itself_may_be_a_link(self, small):
        elsewhere = small.folder.parent / "elsewhere"
        (small.folder / "images").rename(elsewhere)
        (small.folder / "images").symlink_to(elsewhere)
        assert image_path(small.load(), "a/pa.png") == elsewhere / "a" / "pa.png"

    def test_a_loop_does_not_hang(self, small):
        (small.folder / "images" / "loop.png").symlink_to("loop.png")
        review_set = small.load()
        assert not image_path(review_set, "loop.png").exists()


class TestBase:
    @pytest.mark.parametrize("base", ["scans", "./scans/", "images/../scans"])
    def test_another_folder_in_the_set(self, small, base):
        small.text("reviewset.yaml", f"format: 1\nname: x\nimages: {base}\n")
        assert image_path(small.load(), "x.png") == small.folder.resolve() / "scans" / "x.png"

    def test_a_folder_elsewhere(self, small, tmp_path):
        small.text("reviewset.yaml", f"format: 1\nname: x\nimages: {tmp_path}\n")
        assert image_path(small.load(), "x.png") == tmp_path.resolve() / "x.png"

    def test_a_file_address(self, small, tmp_path):
        place = (tmp_path / "a b").as_uri()
        small.text("reviewset.yaml", f"format: 1\nname: x\nimages: {place}\n")
        assert image_path(small.load(), "x.png") == tmp_path.resolve() / "a b" / "x.png"

    @pytest.mark.parametrize(
        ("base", "url"),
        [
            ("s3://b/x", True),
            ("https://h/x", True),
            ("images/", False),
            ("file:///x", False),
            ("C:\\x", False),
        ],
    )
    def test_what_is_an_address(self, base, url):
        assert is_address(base) is url

    def test_the_home_folder(self, small):
        assert images_folder(small.folder, "~/x") == (Path.home() / "x").resolve()


class TestAddress:
    """Images behind an fsspec address, here one in memory."""

    @pytest.fixture
    def remote(self, small, tmp_path, monkeypatch):
        fsspec = pytest.importorskip("fsspec")
        monkeypatch.setenv("REXVIEW_CACHE", str(tmp_path / "cache"))
        files = fsspec.filesystem("memory")
        files.pipe("/bucket/a/pa.png", b"pixels")
        small.text("reviewset.yaml", "format: 1\nname: x\nimages: memory://bucket/\n")
        yield small.load()
        files.rm("/bucket", recursive=True)

    def test_an_image_is_fetched_once(self, remote):
        path = image_path(remote, "a/pa.png")
        assert (path.read_bytes(), path.suffix) == (b"pixels", ".png")
        path.write_bytes(b"kept")
        assert image_path(remote, "a/pa.png").read_bytes() == b"kept"

    def test_an_image_that_is_not_there(self, remote, tmp_path):
        with pytest.raises(ImageMissing):
            image_path(remote, "a/none.png")
        assert not [path for path in (tmp_path / "cache").rglob("*") if path.is_file()]

    def test_what_an_address_needs_is_named(self, small, remote):
        if util.find_spec("aiohttp"):
            pytest.skip("addresses of this kind can be read here")
        small.text("reviewset.yaml", "format: 1\nname: x\nimages: https://localhost:1/\n")
        opened = small.load()
        with pytest.raises(ImageMissing, match=r'cannot read yet\. Run .* "fsspec\[http\]"'):
            image_path(opened, "a/pa.png")
        (warning,) = opened.warnings
        assert (warning.field, "fsspec[http]" in warning.remedy) == ("images", True)

    def test_an_address_of_no_known_kind_is_told(self, small, remote):
        small.text("reviewset.yaml", "format: 1\nname: x\nimages: nowhere://bucket/\n")
        opened = small.load()
        with pytest.raises(ImageMissing, match="of a kind that is not known"):
            image_path(opened, "a/pa.png")
        assert "nowhere://" in opened.warnings[0].message

    def test_a_path_may_not_lead_out(self, remote):
        with pytest.raises(PathEscape):
            image_path(remote, "../other/pa.png")

    def test_images_are_not_looked_for_when_the_set_opens(self, remote):
        assert remote.warnings == ()
