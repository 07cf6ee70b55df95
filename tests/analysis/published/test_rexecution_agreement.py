"""The printed agreement of readers as the page reads it."""

from rexview.analysis.published.rexecution import published_agreement
from rexview.vocab import DIMENSIONS


def test_the_table_is_that_of_the_paper() -> None:
    found = {row.dimension: row for row in published_agreement()}
    assert tuple(found) == DIMENSIONS
    process = found["process"]
    assert (process.n, process.qwk, process.mad) == (51, 0.215, 0.667)
    assert (process.reader1_mean, process.reader1_sd) == (4.118, 0.84)
    assert (process.reader2_mean, process.reader2_sd) == (4.51, 0.784)
    assert {row.n for row in found.values()} == {51, 15}
