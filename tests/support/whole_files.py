"""Test files shared out to processes, whole, also after a process has died.

pytest-xdist 3.8 waits for ever where a process dies near the end of ``--dist=loadfile``: it hands
out again what that process had done, in commands that nobody answers (its issues 1323, 1327 and
1378), and the test that killed it (its pull request 1371).
"""

from __future__ import annotations

from xdist.scheduler import LoadFileScheduling
from xdist.workermanage import WorkerController

_WAITS_FOR_MORE = 2
"""A process that has no more tests than that waits for others, or to be told to end."""


class WholeFiles(LoadFileScheduling):
    """Files are shared out as ``--dist=loadfile`` does; what a dead process left is done once."""

    def remove_node(self, node: WorkerController) -> str | None:
        """Take a process out; return the test it died of, which is not begun again."""
        workload = self.assigned_work.pop(node)
        left = {file: tests for file, tests in workload.items() if not all(tests.values())}
        if not left:
            return None
        died_of: str = next(
            test for tests in left.values() for test, done in tests.items() if not done
        )
        for file, tests in left.items():
            tests = {test: done or test == died_of for test, done in tests.items()}
            if not all(tests.values()):
                self.workqueue[file] = tests
        if self.workqueue:
            for other in self.nodes:
                self._reschedule(other)
        return died_of

    def schedule(self) -> None:
        """Give every process work; one that came later gets enough of it not to wait for ever."""
        super().schedule()
        for node in self.nodes:
            while self.workqueue and not node.shutting_down:
                if self._pending_of(self.assigned_work[node]) > _WAITS_FOR_MORE:
                    break
                self._assign_work_unit(node)
        if self.collection and not self.workqueue:
            for node in self.nodes:
                node.shutdown()
