"""Which answers of each model can be judged for a failure, and which of them are flagged."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rexview.analysis.memory.selection import Selection
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
    table = selection.table
    columns, flagged = table.columns, table.flagged
    chosen, judged = selection.answer_mask, flagged.judged[: columns.n_answers]
    found = {}
    for failure in failures:
        numbers = np.flatnonzero(chosen & ((judged & np.uint32(FAILURE_BITS[failure])) != 0))
        if findings:
            of_all = flagged.about_findings((failure,), sources, findings)
        else:
            of_all = flagged.meeting((failure,), sources)
        cases, codes = columns.newest.case[numbers], columns.newest.model[numbers]
        is_flagged, patients = of_all[numbers], columns.cluster[cases]
        for code in np.flatnonzero(np.bincount(codes)):
            own = codes == code
            of_model = Judged(cases[own], is_flagged[own], patients[own])
            found[failure, columns.model.values[code]] = of_model
    return found
