"""Which answers of each model can be judged for a failure, and which of them are flagged."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rexview.analysis.memory.selection import Selection, about, flagged_by
from rexview.detect import FAILURE_BITS
from rexview.stats.failure_rates import Judged


def judged_by_model(
    selection: Selection,
    failures: Sequence[str],
    sources: Sequence[str] = (),
    findings: Sequence[str] = (),
) -> dict[tuple[str, str], Judged]:
    """Return what can be judged, by failure and model.

    ``sources`` are whose word counts, empty for everybody's. With ``findings`` only flags about one
    of them count. Both are words of the filter.
    """
    table, models = selection.table, selection.table.row_codes["model"]
    chosen = selection.row_mask & table.answered
    flags = flagged_by(table, sources)
    found = {}
    for failure in failures:
        bit = np.uint32(FAILURE_BITS[failure])
        rows = np.flatnonzero(chosen & ((table.judged & bit) != 0))
        flagged = (flags[rows] & bit) != 0
        if findings:
            flagged &= about(table, (failure,), sources, findings)[rows]
        cases, codes = table.case_row[rows], models.codes[rows]
        patients = table.cluster[cases]
        for code in np.unique(codes):
            own = codes == code
            judged = Judged(cases[own], flagged[own], patients[own])
            found[failure, models.values[code]] = judged
    return found
