"""A real server with a meeting on its review set, and links into it for made-up people."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from rexview.bench.reliability.server import SECRET, ScoreServer
from rexview.people import Person
from rexview.store import Entry, open_reviews
from rexview.store.database.connection import close_databases
from rexview.ui.meeting.live.ticket import ADDRESS, KIND
from rexview.ui.server import review_sets
from rexview.ui.server.sealed_tokens import Grant, LinkSigner

MEETING: Final = "bench"


class MeetingServer(ScoreServer):
    """The app on a copy of the demo, with a meeting on its first cases.

    Attributes
    ----------
    cases : tuple of str
        Those on the agenda, in order.
    """

    def __init__(self, folder: Path, cases: int, *, own_secret: bool = False) -> None:
        super().__init__(folder, own_secret=own_secret)
        lead = Person("presenter", "Presenter", "lead")
        self.cases: Final = tuple(self.review_set.cases["id"][:cases])
        entries = [
            Entry("agenda", case, subject=MEETING, value={"place": place})
            for place, case in enumerate(self.cases)
        ]
        meeting = Entry("meeting", subject=MEETING, value={"name": "Meeting"})
        open_reviews(self.review_set, self.settings).record([meeting, *entries], lead)
        close_databases()

    def address(self, number: int) -> str:
        """Return where a person joins; number 0 may lead, others only look."""
        who = Person(f"person-{number}", f"Person {number}", "viewer" if number else "lead")
        set_id = review_sets.set_id(self.review_set.folder)
        grant = Grant(KIND, set_id, MEETING, detail=[who.id, who.name, who.role])
        return f"{self.url}/{ADDRESS}/{LinkSigner(SECRET).sign(grant)}"

    def restart(self) -> None:
        """Kill the server and start it anew: it remembers nothing of who was there."""
        self.kill()
        self.start()

    def processor_s(self) -> float | None:
        """Return how many seconds of processor time the server has used; None without ``/proc``."""
        try:
            stat = Path(f"/proc/{self.process}/stat").read_text(encoding="ascii")
        except OSError:
            return None
        user, system = stat.rpartition(")")[2].split()[11:13]
        return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")
