"""The routes of a meeting on a real HTTP server of this process, with cases made simply."""

import asyncio
import threading
import time
from contextlib import asynccontextmanager, contextmanager

import httpx
import uvicorn
from starlette.applications import Starlette

from bench.meeting import LiveWindow
from bench.serving import free_port
from rexview.people import Person
from rexview.store import Entry
from rexview.ui.meeting.live import rooms, route
from rexview.ui.meeting.live import route as stream
from rexview.ui.meeting.live.admission import room_json
from rexview.ui.web.access import permissions
from rexview.ui.web.server import review_sets
from support.opened_app import server_for
from support.small_set import write_set

LEA = Person("lea", "Lea", "lead")


class PlainCases:
    """A case is a word for each step that is shown."""

    def case_json(self, review_set, held, case_id, step):
        return {"words": [f"{case_id} {name} words" for name in held.steps[: step + 1]]}

    def models_by_letter(self, review_set, held, case_id):
        return {"A": "n", "B": "m"}


class Meeting:
    """A meeting of the small set, and windows on it."""

    def __init__(self, review_set, base):
        self.review_set, self.base = review_set, base

    @property
    def reviews(self):
        return review_sets.reviews(self.review_set)

    def write(self, *entries, person=LEA):
        self.reviews.record(entries, person)

    def address(self, person=LEA):
        with permissions.acting_as(person):
            return f"{self.base}/{room_json(self.review_set, 'm1')['address']}"

    @asynccontextmanager
    async def windows(self, *people):
        """Open a window for each person; each has the newest of all that is told."""
        async with httpx.AsyncClient(timeout=20) as http:
            opened = [LiveWindow(http, self.address(person)) for person in people]
            for one in opened:
                one.follow()
            try:
                for one in opened:
                    await one.until(lambda one=one: {"people", "cases"} <= one.newest.keys())
                yield opened
            finally:
                await asyncio.gather(*(one.leave() for one in opened))


@contextmanager
def served(routes):
    """Serve routes on a free port in a thread; give the address and what stops it."""
    config = uvicorn.Config(Starlette(routes=routes), port=free_port(), log_level="error")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{config.port}"
    finally:
        stream.end_streams()
        server.should_exit = True
        thread.join(10)
        assert not thread.is_alive(), "a stream has kept the server from ending"


@contextmanager
def held_meeting(tmp_path, monkeypatch):
    """Give a meeting of the small set: case c2, then c1."""
    folder = write_set(tmp_path / "set")
    monkeypatch.setattr(rooms.ROOMS, "_rooms", {})
    with server_for(folder, tmp_path, monkeypatch):
        opened = review_sets.open_set(folder)
        with served(route.routes(PlainCases())) as base:
            held = Meeting(opened, base)
            held.write(
                Entry("meeting", subject="m1", value={"name": "Tuesday"}),
                *(
                    Entry("agenda", case, subject="m1", value={"place": place})
                    for place, case in enumerate(("c2", "c1"))
                ),
            )
            yield held
