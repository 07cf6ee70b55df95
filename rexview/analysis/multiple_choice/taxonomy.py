"""The categories of ReXVQA by group, as data (``taxonomy.yaml``).

A set may name others: they are kept, and stand under a heading of their own.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Final

from rexview.stats.choices import FINDING_CATEGORY
from rexview.untrusted_input import read_yaml
from rexview.words import tr

NOT_IN_IT: Final = tr("Not in the paper's categories")
CATEGORY_TAGS: Final = tuple(f"tag:{name}" for name in FINDING_CATEGORY)
"""Keys of the properties that say of which category a question is, the first counts."""


def folded(name: str) -> str:
    """Write a category so that spellings of it are alike: case, "&" and spaces do not matter."""
    return re.sub(r"[\W_]+", " ", name.casefold().replace("&", " and ")).strip()


@cache
def _groups() -> dict[str, tuple[int, str]]:
    """Return place and group of each category, by its folded name."""
    groups = read_yaml(Path(__file__).with_name("taxonomy.yaml"))["groups"]
    every = [(category, group) for group, categories in groups.items() for category in categories]
    return {folded(category): (place, group) for place, (category, group) in enumerate(every)}


def group_of(category: str) -> str:
    """Return the group of a category, :data:`NOT_IN_IT` for one that the paper does not have."""
    return _groups().get(folded(category), (0, NOT_IN_IT))[1]


def order_of(category: str) -> int:
    """Return the place of a category in the paper; others come after all of them."""
    return _groups().get(folded(category), (len(_groups()), ""))[0]
