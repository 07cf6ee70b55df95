"""What all files of metric values become: one row a value, with its identity."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from rexview.reviewset.importers.core.set_rows import SetRows
from rexview.reviewset.importers.core.source_files import SourceFile, model_told, name_of_model
from rexview.reviewset.importers.metrics.names import UP_TO_1, folded, is_reciprocal, metric_id
from rexview.reviewset.importers.table.cell_values import read_number
from rexview.reviewset.problems import quoted
from rexview.reviewset.tables.source import At

RECIPROCAL: Final = (
    "It is the reciprocal of a mean, and no value of a report.",
    "Give the raw values of the reports (RadCliQ-v1, FineRadScore); the page takes 1/mean.",
)
"""Why a reciprocal is not taken, and what to give instead."""
_DECIMAL_COMMA: Final = re.compile(r"\s*[+-]?\d+,\d+\s*")
_NO_VALUES: Final = frozenset(("", "nan", "none", "null", "na", "n/a", "-"))


@dataclass(frozen=True)
class Source:
    """What holds for all values of a file, where these do not say otherwise.

    ``program`` is what the names of its metrics tell, or the file says.
    """

    file: SourceFile
    rows: SetRows
    options: Mapping[str, Any]
    program: str | None = None
    version: str | None = None
    scope: str | None = None

    @property
    def implementation(self) -> str | None:
        """What computed the values: as the option says, else the file."""
        return self.options.get("implementation") or self.program

    def model(self, told: str | None = None) -> str:
        """Return the model of values: as they say, as the option does, or from the file's name.

        A name that is part of the file's and that of one model of the set is that model's.
        """
        named = told or model_told(self.file, self.options)
        if named:
            return named
        return self._model_of_file

    @cached_property
    def _model_of_file(self) -> str:
        called = folded(self.file.label)
        known = {*self.rows.models, *(row.get("model") for row in self.rows.rows_of("answers"))}
        inside = [name for name in known if name and folded(name) and folded(name) in called]
        longest = [name for name in inside if not any(name in one for one in inside if one != name)]
        return longest[0] if len(longest) == 1 else name_of_model(self.file)

    def add(
        self,
        at: At,
        case: str,
        metric: str,
        value: Any,
        *,
        model: str,
        field: str | None = None,
        identity: Mapping[str, Any] | None = None,
    ) -> bool:
        """Add one value; say whether it is one. What is not is said, with its row and field."""
        log = self.rows.log
        if value is None or str(value).strip().lower() in _NO_VALUES:
            return False
        if is_reciprocal(metric):
            log.warning(at.file, *RECIPROCAL, row=at.row, field=field or metric)
            return False
        number = None if isinstance(value, bool) else _number(str(value))
        if number is None:
            message = f"{quoted(value)} is no number; the value of {quoted(metric)} was left out."
            log.warning(at.file, message, "Write a number.", row=at.row, field=field or metric)
            return False
        told = {name: one for name, one in (identity or {}).items() if one is not None}
        own = told.get("implementation") or self.implementation
        found = metric_id(metric, own)
        if found in UP_TO_1 and number > 1:
            message = f"{number:g} is above 1, the most that {found} can be; it is kept as it is."
            remedy = "Give shares, not percentages."
            log.warning(at.file, message, remedy, row=at.row, field=field or metric)
        place = self.rows.find_case(case=case, study=case, at=at)
        row = {
            "case": place[0] if place else case,
            "model": model,
            "metric": found,
            "value": number,
            "implementation": own,
            "version": self.options.get("implementation_version") or self.version,
            "scope": self.options.get("scope") or self.scope,
            **told,
        }
        self.rows.add_metric({name: one for name, one in row.items() if one is not None}, at)
        return True


def _number(text: str) -> float | None:
    """Read a value: its only comma stands before decimals, and "4/5" is no score out of five."""
    if "/" in text or "of" in text:
        return None
    return read_number(text.replace(",", ".") if _DECIMAL_COMMA.fullmatch(text) else text)
