"""The case that shows a picture which an annotation file names; a new one where there is none."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any

from rexview.reviewset.importers.core.set_rows import Place, SetRows
from rexview.reviewset.importers.images.names import safe_path
from rexview.reviewset.tables.source import At


class PictureCases:
    """Finds or makes the cases of the pictures of one file.

    Cases of other sources are found by the picture's name, whatever its folder; two pictures of
    this file that differ in their folder only are two.
    """

    def __init__(self, rows: SetRows) -> None:
        self._rows = rows
        self._before = {case["id"] for case in rows.cases}

    def find(self, *names: str) -> Place | None:
        """Return case and image of the first of these names that is there."""
        for name in names:
            path = safe_path(name)
            place = self._rows.find_case(image=path) if path else None
            if place is not None and (place[0] in self._before or self._has(place[0], path)):
                return place
        return None

    def _has(self, case_id: str, path: str | None) -> bool:
        case = self._rows.case(case_id) or {}
        return any(image["path"] == path for image in case.get("images") or [])

    def case_of(
        self,
        names: tuple[str, ...],
        at: At,
        otherwise: str,
        *,
        study: str | None = None,
        image: Mapping[str, Any] | None = None,
        **fields: Any,
    ) -> str:
        """Add what is said of a picture to its case, and return the case's id.

        ``names`` are what the picture may be called, the first what it is called where no source
        has it; ``study`` names a case of several pictures, ``image`` says more of the picture.
        """
        known = self.find(*names)
        path = safe_path(names[0]) if names else None
        case_id = study or (str(PurePosixPath(path).with_suffix("")) if path else otherwise)
        row: dict[str, Any] = {"id": known[0] if known else case_id, **fields}
        if known is None and path is not None:
            row["images"] = [{"path": path, **(image or {})}]
        return self._rows.add_case(row, at)
