"""How many pictures are decoded, while that lasts."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import streamlit as st

from rexview.reviewset.pictures import progress_told
from rexview.words import tr

_STEPS: Final = 100


@contextmanager
def progress_shown() -> Iterator[None]:
    """Show how many pictures are decoded, while that lasts."""
    place = st.empty()

    def show(done: int, total: int) -> None:
        if done % max(1, total // _STEPS) == 0:
            place.progress(
                done / total,
                tr("{n:,} of {total:,} pictures decoded").format(n=done, total=total),
            )

    with progress_told(show):
        yield
    place.empty()
