"""All that passes between a browser and the server, and whether given words are anywhere in it.

:func:`record` listens to every page of a browser context: HTTP requests and responses (bodies as
the browser decoded them), websocket frames both ways, and on :meth:`Traffic.look` the page itself
with its shadow roots and what it stored. :func:`assert_hidden` looks for words in all of it: as
plain text in any case, behind escapes of JSON, HTML and URLs, in base64 (of links and of embedded
files), in UTF-16, and in what is compressed (gzip, zlib, Zstandard, LZ4) inside a frame or body.
Encrypted links stay shut, as they should; a link that is only signed is read like any other text.
What is drawn as a picture is not read, nor a body that the browser began to load and gave up.
"""

from __future__ import annotations

import base64
import binascii
import html
import re
import urllib.parse
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import pyarrow

STREAMLITS_OWN = ("/static/",)
"""Paths of files that come with Streamlit and are the same for everybody."""
_DEEPEST = 4
_SHORTEST_WORD = 3
_MAGIC = {
    b"\x1f\x8b\x08": "gzip",
    b"\x78\x01": "zlib",
    b"\x78\x5e": "zlib",
    b"\x78\x9c": "zlib",
    b"\x78\xda": "zlib",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"\x04\x22\x4d\x18": "lz4",
}
_ANY_MAGIC = re.compile(b"|".join(re.escape(magic) for magic in _MAGIC), re.DOTALL)
_BASE64 = re.compile(rb"[A-Za-z0-9+/_-]{12,}={0,2}")
_URL_SAFE = bytes.maketrans(b"-_", b"+/")
_PRINTABLE = bytes(range(32, 127))
_QUOTED = re.compile("(?:%[0-9a-fA-F]{2})+")
_ESCAPED = re.compile(r"\\u([0-9a-fA-F]{4})")
_PAGE = """() => {
  const parts = [document.documentElement.outerHTML];
  const walk = (root) => {
    for (const node of root.querySelectorAll("*")) {
      if (node.value !== undefined) parts.push(String(node.value));
      if (node.shadowRoot) { parts.push(node.shadowRoot.innerHTML); walk(node.shadowRoot); }
      if (node.tagName === "IFRAME" && node.contentDocument) {
        parts.push(node.contentDocument.documentElement.outerHTML); walk(node.contentDocument);
      }
    }
  };
  walk(document);
  for (const store of [localStorage, sessionStorage]) {
    for (const key of Object.keys(store)) parts.push(key + "=" + store.getItem(key));
  }
  return parts.join("\\n");
}"""


@dataclass(frozen=True)
class Piece:
    """Something that passed: what it is and where, and its bytes."""

    where: str
    content: bytes


@dataclass(frozen=True)
class Leak:
    """A word that was found: in which piece, and what stands around it."""

    word: str
    where: str
    around: str


@dataclass
class Traffic:
    """What was recorded, in order; ``lost`` names bodies that could not be had."""

    pieces: list[Piece] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)

    def add(self, where: str, content: str | bytes) -> None:
        """Keep one piece."""
        data = content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content
        self.pieces.append(Piece(where, data))

    def look(self, page) -> None:
        """Keep what the page holds now, and its cookies."""
        self.add(f"page {page.url}", page.evaluate(_PAGE))
        for cookie in page.context.cookies():
            self.add(f"cookie {cookie['name']}", cookie["value"])

    def count(self, kind: str) -> int:
        """Return how many pieces of a kind there are: request, response, received, sent, page."""
        return sum(piece.where.startswith(f"{kind} ") for piece in self.pieces)

    def find(self, words: Iterable[str]) -> list[Leak]:
        """Return every word with the pieces it was found in; what repeats others is passed over."""
        wanted = [(word, word.casefold()) for word in words]
        short = [word for word, _ in wanted if len(word) < _SHORTEST_WORD]
        if short:
            raise ValueError(f"too short to look for: {short}")
        leaks = []
        seen: set[tuple[str, bytes]] = set()
        for piece in self.pieces:
            left = list(wanted)
            for how, text in readings(piece.content, seen=seen):
                for word, folded in [one for one in left if one[1] in text]:
                    left.remove((word, folded))
                    place = text.index(folded)
                    around = text[max(0, place - 60) : place + len(folded) + 60]
                    leaks.append(Leak(word, f"{piece.where}{how}", around))
                if not left:
                    break
        return leaks


def readings(
    content: bytes, how: str = "", depth: int = 0, seen: set[tuple[str, bytes]] | None = None
) -> Iterator[tuple[str, str]]:
    """Yield (how it was read, text in lower case) for all that bytes may hold.

    ``seen`` holds what was read before: that is left out, and what is read now is added.
    """
    seen = set() if seen is None else seen
    if (how, content) in seen:
        return
    seen.add((how, content))
    text = content.decode("utf-8", "replace")
    read = {text}
    yield how, text.casefold()
    for name, undo in (
        ("json", lambda one: _ESCAPED.sub(lambda found: chr(int(found[1], 16)), one)),
        ("html", html.unescape),
        ("url", unquoted_plus),
    ):
        undone = undo(text)
        if undone not in read:
            read.add(undone)
            yield f"{how}, {name}", undone.casefold()
    if content.count(0) > len(content) // 8:
        for codec in ("utf-16-le", "utf-16-be"):
            yield f"{how}, {codec}", content.decode(codec, "replace").casefold()
            yield f"{how}, {codec}", content[1:].decode(codec, "replace").casefold()
    if depth < _DEEPEST:
        for name, inner in _inside(content, how, seen):
            yield from readings(inner, f"{how}, {name}", depth + 1, seen)


def unquoted_plus(text: str) -> str:
    """Return what ``urllib.parse.unquote_plus`` does, of pixels too in little time."""
    return _QUOTED.sub(
        lambda found: bytes.fromhex(found[0].replace("%", "")).decode("utf-8", "replace"),
        text.replace("+", " "),
    )


def _inside(content: bytes, how: str, seen: set[tuple[str, bytes]]) -> Iterator[tuple[str, bytes]]:
    """Yield what is packed in bytes: compressed parts, and base64."""
    for found in _ANY_MAGIC.finditer(content):
        kind = _MAGIC[found.group()]
        unpacked = _unpack(kind, memoryview(content)[found.start() :])
        if unpacked:
            yield kind, unpacked
    unquoted = urllib.parse.unquote_to_bytes(content) if b"%" in content else content
    for found in _BASE64.finditer(unquoted):
        run = found.group().rstrip(b"=").translate(_URL_SAFE)
        place = f"runs{how}", run
        if place in seen:
            continue
        seen.add(place)
        for start in range(4):  # what stands before may run into it without a gap
            part = run[start:]
            part = part[: len(part) - (len(part) % 4 == 1)]
            try:
                decoded = base64.b64decode(part + b"=" * (-len(part) % 4))
            except binascii.Error:
                continue
            if _likely(decoded):
                yield "base64", decoded


def _unpack(kind: str, content: memoryview) -> bytes:
    """Return what a compressed part at the beginning of bytes holds, empty if it is none."""
    try:
        if kind in ("gzip", "zlib"):
            return zlib.decompressobj(47).decompress(content, 50_000_000)
        stream = pyarrow.CompressedInputStream(
            pyarrow.BufferReader(pyarrow.py_buffer(content)), kind
        )
        unpacked = b""
        try:
            while part := stream.read(65_536):
                unpacked += part
        except OSError:
            pass  # what follows the compressed part is not part of it
        return unpacked
    except (zlib.error, OSError, pyarrow.ArrowException):
        return b""


def _likely(decoded: bytes) -> bool:
    """Whether decoded bytes are worth reading: some text, or something compressed."""
    if _ANY_MAGIC.match(decoded):
        return True
    head = decoded[:4000]
    return len(head.translate(None, _PRINTABLE)) < 0.4 * len(head)


@contextmanager
def record(context) -> Iterator[Traffic]:
    """Record the traffic of all pages of a browser context while the block runs."""
    traffic = Traffic()
    again: list[str] = []

    def requested(request) -> None:
        if _own(request.url):
            return
        traffic.add(f"request {request.method} {request.url}", _heads(request) + request.url)
        body = request.post_data_buffer
        if body:
            traffic.add(f"request {request.method} {request.url} body", body)

    def finished(request) -> None:
        response = request.response()
        if response is None or _own(request.url):
            return
        where = f"response {response.status} {request.url}"
        traffic.add(where, _heads(response))
        if 300 <= response.status < 400 or response.status == 204:
            return
        try:
            traffic.add(f"{where} body", response.body())
        except Exception:  # the browser has dropped it, on leaving the page
            (again if request.method == "GET" else traffic.lost).append(request.url)

    def socket(websocket) -> None:
        address = websocket.url
        websocket.on("framereceived", lambda data: traffic.add(f"received {address}", data))
        websocket.on("framesent", lambda data: traffic.add(f"sent {address}", data))

    def opened(page) -> None:
        page.on("websocket", socket)
        page.on("console", lambda message: traffic.add("console message", message.text))

    listeners = [("request", requested), ("requestfinished", finished), ("page", opened)]
    for page in context.pages:
        opened(page)
    for name, listener in listeners:
        context.on(name, listener)
    try:
        yield traffic
    finally:
        for name, listener in listeners:
            context.remove_listener(name, listener)
        for url in dict.fromkeys(again):
            try:
                answer = context.request.get(url, max_redirects=0)
                traffic.add(f"response {answer.status} {url} body, fetched again", answer.body())
            except Exception:
                traffic.lost.append(url)


def _own(url: str) -> bool:
    if url.startswith("blob:"):  # made by the page itself, of what came otherwise
        return True
    return any(part in urllib.parse.urlsplit(url).path for part in STREAMLITS_OWN)


def _heads(message) -> str:
    return "".join(f"{name}: {value}\n" for name, value in message.headers.items())


def assert_hidden(traffic: Traffic, words: Sequence[str]) -> None:
    """Check that none of the words passed in any form, and that the recording is whole."""
    assert traffic.count("response"), "no HTTP response was recorded"
    assert traffic.count("received"), "no websocket frame was recorded"
    assert traffic.count("page"), "no page was looked at: call look()"
    assert not traffic.lost, f"these bodies were not seen: {traffic.lost}"
    leaks = traffic.find(words)
    shown = "\n".join(f"{leak.word!r} in {leak.where}: …{leak.around}…" for leak in leaks[:20])
    assert not leaks, f"{len(leaks)} leaks:\n{shown}"
