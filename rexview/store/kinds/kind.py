"""What a kind of entries is, and which roles write."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from rexview.people import Role
from rexview.store.value_fields import Field


@dataclass(frozen=True)
class Kind:
    """One kind of entry: what it is about, what its value says, and who may write it."""

    meaning: str
    about: Literal["answer", "case", "case or answer", "case or all", "all", "comment"]
    """What has to be named: case and model; a case and no model; a case and perhaps a model;
    perhaps a case and no model; neither; a comment, from which case and model are taken."""
    fields: Mapping[str, Field]
    """Every field of the value, in the order in which it is kept."""
    roles: frozenset[Role]
    subject: str | tuple[str, Collection[str]] | tuple[str, re.Pattern[str]] | None = None
    """A text that is needed, one of some words or of a form; None: there is none."""
    subject_of: Callable[[Mapping[str, Any]], str | None] | None = None
    """What makes the subject of the value."""
    reader_rule: str | None = None
    """The rule of the study (:class:`rexview.schema.Protocol`) without which no reader may."""
    optional: frozenset[str] = frozenset()
    """Fields that are left out of the value where they are None."""
    pictured: bool = False
    """Whether it may be about one of the answer's pictures."""
    removable: bool = False
    """Whether None as the value takes back what was there."""
    shared: bool = False
    """Whether there is one state for all; else everybody has a state of their own."""
    judging: bool = False
    """Whether it judges what an answer says: it is of the answer that was read and no later one."""
    outlives: bool = False
    """Whether it may be about an answer that has left the set: what was decided is still done."""


READERS: Final = frozenset[Role]({"reader", "lead"})
ALL_WHO_WRITE: Final = frozenset[Role]({"reader", "adjudicator", "lead"})
CURATORS: Final = frozenset[Role]({"adjudicator", "lead"})
"""Who curates reads the reports, so is no blinded reader."""
CHAIRS: Final = CURATORS
"""Who prepares and leads a meeting sees everything, too."""
WHO_WRITES_FAILURES: Final = CURATORS
"""Who looks for a failure of their own sees the models' answers."""
