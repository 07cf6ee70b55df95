from importlib import util
from pathlib import Path

import pytest
from support.rows import each_row

from rexview.addresses import is_address
from rexview.errors import ImageBroken, PathEscape, ReviewSetError
from rexview.reviewset import find_image_file
from rexview.reviewset.image_paths import NOT_PLAIN_PATH, images_folder, relative_path

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
        find_image_file(small.load(), path)


@pytest.mark.parametrize(("path", "plain"), INSIDE)
def test_paths_that_stay_inside(small, path, plain):
    assert find_image_file(small.load(), path) == small.folder.resolve() / "images" / plain


@each_row("path", [*ESCAPES, *(path for path, plain in INSIDE if path != plain)])
def test_the_quick_look_sees_every_path_that_is_not_plain(path):
    import polars as pl

    assert pl.Series([path]).str.contains(NOT_PLAIN_PATH).all()


def test_plain_paths_are_plain():
    assert [relative_path(plain) for _, plain in INSIDE] == [plain for _, plain in INSIDE]


class TestLinks:
    def test_a_link_that_leads_out_is_refused(self, small):
        secret = small.folder.parent / "secret.png"
        secret.touch()
        (small.folder / "images" / "link.png").symlink_to(secret)
        with pytest.raises(PathEscape):
            find_image_file(small.load(), "link.png")

    def test_a_linked_folder_that_leads_out_is_refused(self, small):
        (small.folder / "images" / "up").symlink_to(small.folder.parent)
        with pytest.raises(PathEscape):
            find_image_file(small.load(), "up/secret.png")

    def test_a_link_within_the_folder_is_followed(self, small):
        (small.folder / "images" / "link.png").symlink_to("a/pa.png")
        assert find_image_file(small.load(), "link.png").name == "pa.png"

    def test_the_folder_itself_may_be_a_link(self, small):
        elsewhere = small.folder.parent / "elsewhere"
        (small.folder / "images").rename(elsewhere)
        (small.folder / "images").symlink_to(elsewhere)
        assert find_image_file(small.load(), "a/pa.png") == elsewhere / "a" / "pa.png"

    def test_a_loop_does_not_hang(self, small):
        (small.folder / "images" / "loop.png").symlink_to("loop.png")
        review_set = small.load()
        assert not find_image_file(review_set, "loop.png").exists()


class TestBase:
    @pytest.mark.parametrize("base", ["scans", "./scans/", "images/../scans"])
    def test_another_folder_in_the_set(self, small, base):
        small.text("reviewset.yaml", f"format: 1\nname: x\nimages: {base}\n")
        assert find_image_file(small.load(), "x.png") == small.folder.resolve() / "scans" / "x.png"

    def test_a_folder_elsewhere(self, small, tmp_path):
        small.text("reviewset.yaml", f"format: 1\nname: x\nimages: {tmp_path}\n")
        assert find_image_file(small.load(), "x.png") == tmp_path.resolve() / "x.png"

    def test_a_file_address(self, small, tmp_path):
        place = (tmp_path / "a b").as_uri()
        small.text("reviewset.yaml", f"format: 1\nname: x\nimages: {place}\n")
        assert find_image_file(small.load(), "x.png") == tmp_path.resolve() / "a b" / "x.png"

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
    """What is said of addresses; tests/remote has what is fetched from them."""

    @pytest.fixture
    def remote(self, small, tmp_path, monkeypatch):
        monkeypatch.setenv("REXVIEW_CACHE", str(tmp_path / "cache"))
        monkeypatch.setenv("REXVIEW_REMOTE_HOSTS", "nowhere://bucket/ sftp://host/")
        small.text("reviewset.yaml", "format: 1\nname: x\nimages: nowhere://bucket/\n")
        return small.load()

    def test_what_an_address_needs_is_named(self, small, remote):
        if util.find_spec("paramiko"):
            pytest.skip("addresses of this kind can be read here")
        small.text("reviewset.yaml", "format: 1\nname: x\nimages: sftp://host/\n")
        opened = small.load()
        with pytest.raises(ImageBroken, match=r'cannot read yet\. Run .* "fsspec\[sftp\]"'):
            find_image_file(opened, "a/pa.png")
        (warning,) = opened.warnings
        assert (warning.field, "fsspec[sftp]" in warning.remedy) == ("images", True)

    def test_an_address_of_no_known_kind_is_told(self, small, remote):
        small.text("reviewset.yaml", "format: 1\nname: x\nimages: nowhere://bucket/\n")
        opened = small.load()
        with pytest.raises(ImageBroken, match="of a kind that is not known"):
            find_image_file(opened, "a/pa.png")
        assert "nowhere://" in opened.warnings[0].message

    def test_a_path_may_not_lead_out(self, remote):
        with pytest.raises(PathEscape):
            find_image_file(remote, "../other/pa.png")

    def test_one_that_holds_a_password_is_an_error_without_it(self, small):
        small.text("reviewset.yaml", "format: 1\nname: x\nimages: https://me:hidden@host/\n")
        with pytest.raises(ReviewSetError) as caught:
            small.load()
        (problem,) = caught.value.problems
        assert problem.field == "images"
        assert "hidden" not in str(problem)
