"""What a model takes of memory, said before it is loaded.

Weights are counted exactly, from the headers of their files. Room for the cases under way is an
allowance: keys and values of every layer for the longest conversation, and a fifth of the weights
and half a gigabyte on top for everything else.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from rexview.models.card import Card
from rexview.models.local.files import ModelFiles

MOST_NEW_TOKENS: Final = 2048
"""Tokens of an answer where nothing says how many: greedy models may go round for ever."""
_TEXT_TOKENS: Final = 2000
_IMAGE_TOKENS: Final = 1500
_ON_TOP: Final = 500_000_000
_WIDTHS: Final = {"float32": 4, "bfloat16": 2}
_FLOATS: Final = frozenset(("F64", "F32", "F16", "BF16"))
"""Safetensors types that are loaded at the width that is wanted; others stay as they are."""
_STORED: Final = {"F64": 8, "F32": 4, "F16": 2, "BF16": 2}
_CGROUP: Final = Path("/sys/fs/cgroup")


@dataclass(frozen=True)
class Needs:
    """What a model takes, and what there is, in bytes; ``free`` is None where that is not known.

    ``place`` is where it is loaded (``on_graphics``: not into main memory), ``dtype`` in which
    numbers, ``why`` why in those. ``batch`` cases are asked at once, each of up to ``tokens``
    tokens with its answer.
    """

    place: str
    on_graphics: bool
    dtype: str
    why: str
    weights: int
    cases: int
    batch: int
    tokens: int
    free: int | None

    @property
    def total(self) -> int:
        """All that it takes."""
        return self.weights + self.cases

    @property
    def fits(self) -> bool:
        """Whether there is room; also where that is not known."""
        return self.free is None or self.total <= self.free

    def __str__(self) -> str:
        free = "unknown" if self.free is None else _size(self.free)
        return (
            f"Needs about {_size(self.total)} of {self.place}, free: {free}. Weights "
            f"{_size(self.weights)} as {self.dtype} ({self.why}), {_size(self.cases)} set aside "
            f"for {self.batch} at once of up to {self.tokens:,} tokens."
        )


def needs(
    files: ModelFiles, card: Card, new_tokens: int, batch: int, graphics: tuple[str, int] | None
) -> Needs:
    """Return what a model takes.

    Parameters
    ----------
    new_tokens
        The longest answer.
    graphics
        What a graphics card's memory is called and its free bytes, None for main memory.
    """
    image = card.image_tokens or {}
    each = int(image["tokens"]) if image.get("rule") == "fixed" else _IMAGE_TOKENS
    tokens = _TEXT_TOKENS + card.images * each + new_tokens
    if context := context_of(files):
        tokens = min(tokens, context)

    def of(place: str, dtype: str, why: str, free: int | None) -> Needs:
        weights = weight_bytes(files, dtype)
        cache = batch * tokens * _cache_bytes(files.config, _WIDTHS[dtype])
        cases = cache + weights // 5 + _ON_TOP
        on_graphics = graphics is not None
        return Needs(place, on_graphics, dtype, why, weights, cases, batch, tokens, free)

    if graphics is not None:
        return of(graphics[0], "bfloat16", "as graphics cards compute it best", graphics[1])
    free = free_memory()
    wide = of("main memory", "float32", "no graphics card; exact, quick on any processor", free)
    narrow = of("main memory", "bfloat16", "float32 does not fit; slower, rounds more", free)
    return narrow if narrow.fits and not wide.fits else wide


def weight_bytes(files: ModelFiles, dtype: str) -> int:
    """Return the bytes of the weights once they are loaded."""
    loaded = stored = 0
    for kind, count in files.numbers.items():
        if kind in _FLOATS:
            loaded += count * _WIDTHS[dtype]
            stored += count * _STORED[kind]
    return loaded + files.stored - stored


def context_of(files: ModelFiles) -> int | None:
    """Return how many tokens question, images and answer may be together, if that is said."""
    most = _of_text(files.config).get("max_position_embeddings")
    return most if isinstance(most, int) and most > 0 else None


def _of_text(config: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what is said of the part that writes."""
    text = config.get("text_config")
    return text if isinstance(text, Mapping) else config


def _cache_bytes(config: Mapping[str, Any], width: int) -> int:
    """Return what keys and values of a token take, over all layers; 0 where that is not said."""
    said = _of_text(config)

    def number(name: str, other: int = 0) -> int:
        value = said.get(name)
        return value if isinstance(value, int) and value > 0 else other

    heads = number("num_attention_heads")
    of_keys = number("num_key_value_heads", heads)
    size = number("head_dim", number("hidden_size") // heads if heads else 0)
    return 2 * number("num_hidden_layers") * of_keys * size * width


def free_memory() -> int | None:
    """Return the bytes of main memory that can be had without swapping; None if unknown.

    Of what the system has and what the container is allowed, the lesser.
    """
    found = [_meminfo(), _container()]
    known = [one for one in found if one is not None]
    return min(known) if known else None


def _meminfo() -> int | None:
    line = re.search(r"^MemAvailable:\s+(\d+) kB", _read(Path("/proc/meminfo")), re.MULTILINE)
    return int(line[1]) * 1024 if line else None


def _container() -> int | None:
    most, used = _read(_CGROUP / "memory.max").strip(), _read(_CGROUP / "memory.current").strip()
    if not (most.isdigit() and used.isdigit()):
        return None
    kept = re.search(r"^inactive_file (\d+)$", _read(_CGROUP / "memory.stat"), re.MULTILINE)
    return max(0, int(most) - int(used) + (int(kept[1]) if kept else 0))


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii", errors="replace")
    except OSError:
        return ""


def _size(count: int) -> str:
    return f"{count / 1e9:,.1f} GB" if count >= 1e8 else f"{count / 1e6:,.1f} MB"
