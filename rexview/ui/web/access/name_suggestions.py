"""Names to offer to users who have not given one, where people do not sign in."""

from __future__ import annotations

from dataclasses import dataclass

from rexview.errors import RexviewError
from rexview.people import single_user
from rexview.schema import ReviewSet
from rexview.ui.web.link import keys as link_keys
from rexview.ui.web.server import review_sets, server_state


@dataclass(frozen=True)
class NameSuggestions:
    """Names to choose from. A name is used only after the user has confirmed it.

    Attributes
    ----------
    proposed : str
        The name given last on this machine; empty if unknown.
    used : tuple of str
        Other names already used in the review set, in alphabetical order.
    """

    proposed: str = ""
    used: tuple[str, ...] = ()


def suggest_names(review_set: ReviewSet | None = None) -> NameSuggestions:
    """Return the names to offer for a review set, by default the open one.

    Only names that identify one person when they are given again. Empty where people sign in.
    """
    if server_state.requires_sign_in():
        return NameSuggestions()
    proposed = server_state.stored_name() or ""
    if _person_id(proposed) is None:
        proposed = ""
    used = {name for key, name in _names_used(review_set).items() if _person_id(name) == key}
    others = sorted(used - {proposed}, key=str.casefold)
    return NameSuggestions(proposed, tuple(others))


def _names_used(review_set: ReviewSet | None) -> dict[str, str]:
    """Return the names of those who read or wrote in the set, by person id."""
    try:
        if review_set is None:
            folder = review_sets.folder_of(link_keys.query_value(link_keys.QUERY_SET))
            review_set = review_sets.open_set(folder)
        names = dict(review_set.reader_names)
        reviews = review_sets.reviews(review_set)
        names |= {one.reader: one.name for one in reviews.assignments() if one.name}
        return names | {key: person.name for key, person in reviews.people().items()}
    except RexviewError:
        return {}  # the page shows the reason


def _person_id(name: str) -> str | None:
    try:
        return single_user(name).id
    except ValueError:
        return None
