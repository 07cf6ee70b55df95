"""Looking things up in a DICOM header that may be damaged, empty or multi-frame.

A value that cannot be read counts as absent: what is missing never keeps a picture from showing.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from pydicom.dataset import Dataset
from pydicom.multival import MultiValue
from pydicom.sequence import Sequence

_MULTIPLE = (MultiValue, list, tuple)


class Header:
    """Read access to a dataset; enhanced multi-frame objects answer for their first frame."""

    def __init__(self, dataset: Dataset) -> None:
        self.dataset = dataset

    def raw(self, keyword: str) -> Any:
        """The value of an element as pydicom gives it; None when absent, empty or unreadable."""
        try:
            value = self.dataset.get(keyword)
        except Exception:  # pydicom converts on access and raises whatever the bytes provoke
            return None
        return None if value is None or (isinstance(value, str) and not value) else value

    def text(self, keyword: str) -> str | None:
        """The first value as text, trimmed."""
        values = self.texts(keyword)
        return values[0] if values and values[0] else None

    def texts(self, keyword: str) -> tuple[str, ...]:
        """All values as text, trimmed."""
        value = self.raw(keyword)
        if value is None or isinstance(value, bytes | Sequence):
            return ()
        many = value if isinstance(value, _MULTIPLE) else (value,)
        return tuple(str(one).strip().strip("\0") for one in many)

    def numbers(self, keyword: str) -> tuple[float, ...]:
        """All values as floats; none at all when one of them is not a finite number."""
        value = self.raw(keyword)
        if value is None or isinstance(value, bytes | Sequence):
            return ()
        many: Iterable[Any] = value if isinstance(value, _MULTIPLE) else (value,)
        try:
            found = tuple(float(one) for one in many)
        except (TypeError, ValueError, OverflowError):
            return ()
        return found if all(math.isfinite(one) for one in found) else ()

    def number(self, keyword: str) -> float | None:
        """The first value as a finite float."""
        found = self.numbers(keyword)
        return found[0] if found else None

    def integer(self, keyword: str) -> int | None:
        """The first value as an integer."""
        found = self.number(keyword)
        return None if found is None else int(found)

    def items(self, keyword: str) -> tuple[Header, ...]:
        """The items of a sequence."""
        value = self.raw(keyword)
        if not isinstance(value, Sequence):
            return ()
        return tuple(Header(item) for item in value)

    def holder(self, keyword: str, group: str) -> Header:
        """Who has an element: the dataset itself, or a functional group of the first frame.

        Parameters
        ----------
        keyword : str
            The element looked for.
        group : str
            The functional group sequence that holds it in enhanced objects (PS3.3 C.7.6.16).
        """
        if self.raw(keyword) is not None:
            return self
        for frames in ("PerFrameFunctionalGroupsSequence", "SharedFunctionalGroupsSequence"):
            for frame in self.items(frames)[:1]:
                for item in frame.items(group)[:1]:
                    if item.raw(keyword) is not None:
                        return item
        return self
