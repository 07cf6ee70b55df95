"""Batches for workers that may die: what becomes of the batch that one dies over."""

import pytest
from support.spread import dying

from rexview.child_process import ProcessUnusable
from rexview.spread.workers import LocalProcesses, WorkerJob, answer_batches, open_worker_pool


@pytest.fixture(name="workers")
def workers_fixture():
    with open_worker_pool(
        LocalProcesses(1), WorkerJob(dying.begin, "1", lambda: "1", "tests")
    ) as workers:
        yield workers


def test_a_batch_is_parted_until_what_kills_is_known(workers):
    died = []
    found = list(answer_batches(workers, ["ab", ["a", "die"], "c"], lambda: died.append(1)))
    assert found == [[2, 2], [1, None], [1]]
    assert died == [1]


def test_what_depends_on_the_whole_batch_is_never_asked_for_in_parts(workers):
    with pytest.raises(ProcessUnusable, match="worked out together"):
        list(answer_batches(workers, [["a", "die"]], may_part=False))
