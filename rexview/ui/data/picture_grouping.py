"""How a folder of pictures becomes cases: each way with the number of cases that it gives."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import streamlit as st

from rexview.reviewset.importers.core.importer import Option
from rexview.reviewset.importers.images.collection import count_cases

_WORDS: Final = {
    "auto": "The pictures of a small sub-folder together, others each",
    "file": "Each picture",
    "folder": "All pictures of a folder",
}


def choose_grouping(option: Option, sources: Sequence[Path], key: str) -> str:
    """Ask what one study is, where the ways to gather the pictures differ."""
    counts = count_cases(sources, option.choices)
    if counts is None or len(set(counts.values())) == 1:
        return str(option.default)
    chosen = st.radio(
        "One study is",
        option.choices,
        option.choices.index(option.default),
        format_func=_WORDS.__getitem__,
        captions=[_cases(counts[way]) for way in option.choices],
        key=key,
    )
    return str(chosen)


def _cases(number: int) -> str:
    return f"Up to {number:,} case{'s'[: number != 1]}"  # files that are damaged are left out
