"""Kill one of two servers while a reader scores: ``python -m rexview bench failover``.

Two servers run behind nginx on one PostgreSQL, with a real browser. Each turn gives a score, kills
the page's server (SIGKILL) and gives another score. Then that server is started again, and the next
turn waits until it is ready: in practice the other one has long been running.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, Final
from urllib.request import urlopen

from bench.browser import chromium, new_page
from bench.measure import Measured, at_most, result
from bench.reliability.server import ScoreServer
from bench.serving import BenchUnavailable, free_port
from bench.team_server import Team, nginx, postgres
from rexview.ui.web.server.page_work import READY

KILLS: Final = 5
_BACK_MS: Final = 5000.0
_READY_S: Final = 120.0
_CONNECTED: Final = (
    '[data-testid="stApp"][data-test-connection-state="CONNECTED"]'
    '[data-test-script-state="notRunning"]'
)
_SAVED: Final = ".rx-pad .saved[data-state=saved]"


def run(kills: int = KILLS) -> Measured:
    """Measure this many kills.

    Raises
    ------
    BenchUnavailable
        There is no browser, no nginx or no PostgreSQL.
    """
    with tempfile.TemporaryDirectory() as place, postgres() as database, chromium() as browser:
        folder = Path(place)
        ports = [free_port() for _ in range(3)]
        address = f"http://localhost:{ports[0]}"
        team = Team(folder, ["reader"], database.new_database("team"), address)
        servers = [team.server(f"server{port}", port) for port in ports[1:]]
        with servers[0], servers[1], nginx(folder / "nginx", ports[0], ports[1:]):
            for server in servers:
                _until_ready(server)
            back, moved, given = _killed(browser, team, servers, kills)
            stored = len(servers[0].scores())
    rows = [
        result("back on the other server, median", statistics.median(back), "ms"),
        result("back on the other server, slowest", max(back), "ms", goal=at_most(_BACK_MS)),
        result("another case or filter than before", float(moved), "times", goal=at_most(0)),
        result("scores lost", float(given - stored), "scores", goal=at_most(0), note=f"of {given}"),
    ]
    notes = (
        "Back: the page is connected, its script has run, the same case is there, and the score "
        "that was given after the kill is in the database."
    )
    return Measured(rows, notes=notes)


def _killed(
    browser: Any, team: Team, servers: list[ScoreServer], kills: int
) -> tuple[list[float], int, int]:
    back, moved, given = [], 0, 0
    with new_page(browser) as page:
        page.context.add_cookies(team.cookies(0))
        page.goto(f"{team.address}/score?task=score")
        for _ in range(kills):
            page.locator(".rx-pad .row.current").wait_for()
            page.locator(_CONNECTED).wait_for(state="attached")
            page.keyboard.press("n")
            page.wait_for_timeout(3000)  # by then the address shows the case
            before, case = page.url, page.locator(".rx-pad .place").get_attribute("title")
            name = next(one for one in page.context.cookies() if one["name"] == "rexview_server")
            server = servers[int(name["value"][1:]) - 1]
            page.keyboard.press("3")
            server.kill()
            began = time.perf_counter()
            page.keyboard.press("4")
            given += 2
            page.locator(f"[data-painted-case='{case}']").wait_for()
            _until_elsewhere(page, name["value"])
            page.locator(_CONNECTED).wait_for(state="attached")
            page.locator(_SAVED).wait_for()
            back.append(1000 * (time.perf_counter() - began))
            now = page.locator(".rx-pad .place").get_attribute("title")
            moved += (page.url, now) != (before, case)
            server.start()
            _until_ready(server)
    return back, moved, given


def _until_ready(server: ScoreServer) -> None:
    """Wait until a server reports that it can serve pages.

    Raises
    ------
    BenchUnavailable
        It takes too long.
    """
    deadline = time.monotonic() + _READY_S
    while time.monotonic() < deadline:
        with suppress(OSError), urlopen(server.url + READY, timeout=10):  # noqa: S310
            return
        time.sleep(0.1)
    raise BenchUnavailable(f"A server was not ready after {_READY_S:g} s.")


def _until_elsewhere(page: Any, was: str) -> None:
    """Wait until the page's websocket belongs to another server, as the cookie shows."""
    while was in [one["value"] for one in page.context.cookies()]:
        page.wait_for_timeout(20)
