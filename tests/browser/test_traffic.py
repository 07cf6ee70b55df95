"""The recorder for the tests of blinding finds what it is there to find."""

import base64
import gzip
import json
import random
import urllib.parse
import zlib

import pyarrow
import pytest
from support.browser.traffic import Traffic, assert_hidden, record, unquoted_plus
from support.rows import each_row

NAME = "Generalist-9Ü"


def compressed(codec):
    return lambda text: pyarrow.compress(text.encode(), codec=codec, asbytes=True)


def framed(codec):
    def pack(text):
        sink = pyarrow.BufferOutputStream()
        with pyarrow.CompressedOutputStream(sink, codec) as stream:
            stream.write(text.encode())
        return sink.getvalue().to_pybytes()

    return pack


PACKED = {
    "plain": str.encode,
    "upper case": lambda text: text.upper().encode(),
    "json": lambda text: json.dumps({"model": text}).encode(),
    "url": lambda text: urllib.parse.quote(f"/a/{text}/b.jpg", safe="").encode(),
    "html": lambda text: text.replace("Ü", "&Uuml;").encode(),
    "utf-16": lambda text: text.encode("utf-16-le"),
    "base64 of a signed link": lambda text: (
        b"rexview/pixels/"
        + base64.urlsafe_b64encode(json.dumps(["pixels", f"returned/{text}.jpg"]).encode()).rstrip(
            b"="
        )
        + b".c2lnbmF0dXJl"
    ),
    "gzip": lambda text: gzip.compress(text.encode()),
    "zlib": lambda text: zlib.compress(text.encode()),
    "zstd": framed("zstd"),
    "lz4": framed("lz4"),
    "gzip in base64 in json": lambda text: json.dumps(
        {"file": base64.b64encode(gzip.compress(text.encode())).decode()}
    ).encode(),
    "a table": lambda text: arrow_table(text),
    "a compressed table": lambda text: arrow_table(text, "zstd"),
}


def arrow_table(text, codec=None):
    table = pyarrow.table({"model": [text] * 50})
    sink = pyarrow.BufferOutputStream()
    options = pyarrow.ipc.IpcWriteOptions(compression=codec)
    with pyarrow.ipc.new_stream(sink, table.schema, options=options) as writer:
        writer.write_table(table)
    return sink.getvalue().to_pybytes()


@each_row("packed", PACKED, ids=str)
@each_row("around", [b"", b"\x0a\x93\x02\x12 before \x00\x01"])
def test_a_word_is_found_however_it_is_packed(packed, around):
    traffic = Traffic()
    traffic.add("received ws", around + PACKED[packed](NAME) + around)
    assert [leak.word for leak in traffic.find([NAME])] == [NAME]
    assert traffic.find(["Specialist"]) == []


def test_a_recording_that_is_not_whole_proves_nothing():
    traffic = Traffic()
    with pytest.raises(AssertionError, match="HTTP"):
        assert_hidden(traffic, [NAME])
    for where in ("response 200 x", "received ws", "page x"):
        traffic.add(where, "nothing to see")
    assert_hidden(traffic, [NAME])
    traffic.lost.append("x")
    with pytest.raises(AssertionError, match="not seen"):
        assert_hidden(traffic, [NAME])
    with pytest.raises(ValueError, match="too short"):
        traffic.find(["ab"])


@pytest.mark.browser
def test_the_case_page_of_a_lead_is_found_to_tell_everything(browser, demo):
    """What a lead gets names the models in the page, in the component's data and in nothing else
    that should be sealed: the links."""
    context = browser.new_context()
    try:
        with record(context) as traffic:
            page = context.new_page()
            page.goto(f"{demo}case?case=c14")
            page.wait_for_selector('[data-painted-case="c14"]', timeout=60_000)
            traffic.look(page)
    finally:
        context.close()
    with pytest.raises(AssertionError, match="leaks"):
        assert_hidden(traffic, ["Generalist"])
    assert not traffic.lost
    kinds = {leak.where.split()[0] for leak in traffic.find(["Generalist (simulated)"])}
    assert {"received", "page"} <= kinds
    urls = [piece for piece in traffic.pieces if piece.where.startswith("request ")]
    assert any("/rexview/pixels/" in piece.where for piece in urls)
    told = Traffic([piece for piece in urls if "/rexview/" in piece.where])
    assert told.find(["generalist", "returned/", ".dcm", ".jpg"]) == []


def test_escapes_in_addresses_are_read_as_the_library_reads_them():
    draws = random.Random(3)
    parts = ["%", "%C3", "%a9", "%E2%82", "%ac", "+", "ü", "\ufffd", "a", "%4", "%%41", "0", "G"]
    for _ in range(3000):
        text = "".join(draws.choices(parts, k=draws.randint(0, 14)))
        assert unquoted_plus(text) == urllib.parse.unquote_plus(text)
