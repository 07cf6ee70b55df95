"""What people wrote of failures in their own words, as records: the words, and marked answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any


@dataclass(frozen=True)
class WrittenFailure:
    """The words of a failure as they stand in the reviews; ``failure`` is its name in links.

    ``value`` has the fields of the kind ``written_failure``, ``by`` names whoever wrote it last.
    """

    failure: str
    value: Mapping[str, Any]
    by: str
    at: datetime


@dataclass(frozen=True)
class Mark:
    """A person says that an answer has a failure in words, in one version of these.

    ``version`` is the digest of the words. ``stale``: the answer was changed since it was read, or
    has left the set; the mark counts nowhere then.
    """

    case: str
    model: str
    reader: str
    failure: str
    version: str
    comment: str | None
    created: datetime | None
    stale: bool = False
