"""Input made from sound input by a seeded generator: bytes spoiled, values swapped, texts odd."""

import json
import os
import random
import string
import time

from rexview.analysis.query.filter.case_filter import FILTER_KEYS
from rexview.ui.web.link import keys as link_keys

SEED = int(os.environ.get("REXVIEW_FUZZ_SEED", "10"))
SECONDS = float(os.environ.get("REXVIEW_FUZZ_SECONDS", "0"))
"""How long each kind of input is tried; 0 is the short form that belongs to the suite."""
TEXTS = (
    "",
    "\0",
    "a\0b",
    "\ud800",
    "\u202e\u2028\x85",
    "x" * 5000,
    "../" * 40,
    "~nosuchuser/x",
    "https://example.org/x.png",
    "![x](//example.org/x)",
    "[a](javascript:alert(1))",
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    ":red[x] :material/home: $x^2$",
    "%00%ff%",
    "-1",
    "1e400",
    "nan",
    "inf",
    "9" * 400,
    "null",
    "[]",
    "{}",
    "1..5",
    "process:lt:3",
    "c1",
    "m",
    "💥" * 50,
    "é́" * 30,
    "'; drop table history; --",
)
VALUES = (None, True, False, 0, -1, 2**63, 10**400, 1e308, float("nan"), float("inf"), [], {}, [[]])


def generator(name):
    """Return a generator of its own for one kind of input."""
    return random.Random(f"{SEED} {name}")


def rounds(name, count):
    """Count inputs of one kind, up to so many or until the time is over; say how many it were."""
    end, number = time.monotonic() + SECONDS, 0
    while time.monotonic() < end if SECONDS else number < count:
        yield number
        number += 1
    print(f"{name}: {number} inputs, seed {SEED}")


def any_text(chance):
    """Return an odd text, or some letters of any kind."""
    if chance.random() < 0.7:
        return chance.choice(TEXTS)
    letters = string.printable + "äß\u0301漢\U0001f4a5"
    return "".join(chance.choices(letters, k=chance.randrange(40)))


def any_value(chance, depth=0):
    """Return any value that JSON can hold."""
    kind = chance.random()
    if depth < 3 and kind < 0.15:
        return [any_value(chance, depth + 1) for _ in range(chance.randrange(4))]
    if depth < 3 and kind < 0.3:
        return {any_text(chance)[:20]: any_value(chance, depth + 1) for _ in range(3)}
    if kind < 0.6:
        return any_text(chance)
    return chance.choice(VALUES)


def changed(value, chance, share=0.15):
    """Return a copy of a JSON value in which some parts are others, are gone or are there twice."""
    if chance.random() < share:
        return any_value(chance)
    if isinstance(value, dict):
        kept = {
            (any_text(chance)[:20] if chance.random() < share / 4 else key): changed(
                inner, chance, share
            )
            for key, inner in value.items()
            if chance.random() > share / 3
        }
        if chance.random() < share / 2:
            kept[any_text(chance)[:20]] = any_value(chance)
        return kept
    if isinstance(value, list):
        found = [changed(inner, chance, share) for inner in value if chance.random() > share / 3]
        return found * 2 if chance.random() < share / 4 else found
    return value


def as_json(value):
    """Return a value as bytes, also what JSON does not allow but Python writes."""
    return json.dumps(value).encode("utf-8", "surrogatepass")


def spoiled(content, chance):
    """Return bytes with some of them flipped, removed, repeated, moved or set to extremes."""
    found = bytearray(content)
    for _ in range(chance.choice((1, 1, 2, 4, 16))):
        if not found:
            break
        at = min(int(chance.expovariate(1 / 200)), len(found) - 1)
        if chance.random() < 0.4:
            at = chance.randrange(len(found))
        length = chance.choice((1, 1, 2, 4, 4, 8, 64))
        what = chance.random()
        if what < 0.3:
            found[at] ^= 1 << chance.randrange(8)
        elif what < 0.6:
            extreme = chance.choice((b"\0", b"\xff", b"\x7f", b"\x80", b"\0\xff", b"\xff\x7f"))
            found[at : at + length] = (extreme * length)[:length]
        elif what < 0.75:
            del found[at : at + length]
        elif what < 0.9:
            found[at:at] = found[at : at + length] * chance.choice((1, 1, 2, 30))
        else:
            del found[at:]
    return bytes(found)


def keys_of_links():
    """Give every key of the address: a constant has one of them, several, or several by name."""
    yield from FILTER_KEYS
    for name, value in vars(link_keys).items():
        if name.startswith("QUERY_"):
            several = value.values() if isinstance(value, dict) else value
            yield from (value,) if isinstance(value, str) else several
