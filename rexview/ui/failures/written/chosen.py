"""Which failure in words is shown, in which version, as the link says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import streamlit as st

from rexview.analysis.written_failures import (
    FAILURE_KIND,
    FailureWords,
    versions_of,
    written_failures,
)
from rexview.errors import StoreError
from rexview.schema import ReviewSet
from rexview.ui.html.safe_text import as_markdown, lines_as_markdown
from rexview.ui.link import keys as link_keys
from rexview.ui.link.choices import option_kept_in_link
from rexview.ui.server import review_sets
from rexview.ui.written.times import written_at
from rexview.words import tr

NEW: Final = "+"
"""In place of a failure's name: another one is to be written."""
_FAILURE: Final = link_keys.QUERY_WRITTEN["failure"]
_VERSION: Final = link_keys.QUERY_WRITTEN["version"]


@dataclass(frozen=True)
class Chosen:
    """The failures of a set, and the one shown: its words now, and those that are looked at.

    ``now`` is None where another one is to be written, or the words were taken away.
    """

    every: Sequence[FailureWords]
    failure: str | None
    now: FailureWords | None
    shown: FailureWords | None
    versions: Sequence[FailureWords]


def choose_failure(review_set: ReviewSet, *, may_write: bool) -> Chosen:
    """Offer the failures in words; explain and stop where they cannot be read."""
    try:
        reviews = review_sets.reviews(review_set)
        rows, history = reviews.current(FAILURE_KIND), reviews.history(kind=FAILURE_KIND)
    except StoreError as error:
        st.error(lines_as_markdown(error), icon=":material/cloud_off:")
        st.stop()
    every, problems = written_failures(review_set.folder, rows)
    for problem in problems:
        st.warning(as_markdown(problem), icon=":material/error:")
    by_name = {one.failure: one for one in every}
    name = _choose(by_name, may_write=may_write)
    if name is None:
        return Chosen(every, None, None, None, ())
    now = by_name[name]
    versions = [now]
    versions += [
        one
        for one in versions_of(review_set.folder, history, name)
        if one.prompt.hash != now.prompt.hash
    ]
    return Chosen(every, name, now, _choose_version(versions), versions)


def _choose(by_name: dict[str, FailureWords], *, may_write: bool) -> str | None:
    options = [*by_name, *([NEW] if may_write else [])]
    if not by_name:
        return None
    titles = {name: one.prompt.name for name, one in by_name.items()} | {
        NEW: tr("Write another one")
    }
    kept = option_kept_in_link("written_failure", _FAILURE, options, next(iter(by_name)))

    def changed() -> None:
        kept["on_change"]()
        link_keys.set_query({_VERSION: None, link_keys.QUERY_WRITTEN["edit"]: None})

    chosen = st.selectbox(
        tr("Failure"),
        options,
        format_func=titles.__getitem__,
        **{**kept, "on_change": changed},
    )
    return None if chosen == NEW else str(chosen)


def _choose_version(versions: Sequence[FailureWords]) -> FailureWords:
    """Offer earlier words where there are any; the newest are shown without a choice."""
    if len(versions) < 2:
        return versions[0]
    by_version = {one.version: one for one in versions}
    first = versions[0].version
    chosen = st.selectbox(
        tr("Words"),
        list(by_version),
        format_func=lambda version: (
            tr("Now: {words}") if version == first else tr("Earlier: {words}")
        ).format(words=written_at(by_version[version])),
        help=tr("What was found and read in earlier words stays with those words."),
        **option_kept_in_link("written_version", _VERSION, by_version, first),
    )
    return by_version.get(str(chosen), versions[0])
