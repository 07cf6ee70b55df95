"""Sign-ins that end: on all servers of a database, after a restart, and while it is away."""

import time
from datetime import UTC, datetime, timedelta

import pytest

from rexview.errors import NotAdmitted, StoreUnreachable
from rexview.settings import Settings
from rexview.store.database.shared_state import REVOCATION_RETENTION, open_revoked_sign_ins
from rexview.ui.web.access import revoked_sessions
from rexview.ui.web.access.revoked_sessions import STALE_AFTER_S, SignInRevocations

NOW = datetime(2026, 1, 2, tzinfo=UTC)


@pytest.fixture(params=["sqlite", "postgresql"])
def settings(request, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    if request.param == "sqlite":
        return Settings()
    server = request.getfixturevalue("postgres_server")
    return Settings(database_url=server.new_database(f"ended{time.monotonic_ns()}"))


@pytest.fixture
def servers(settings, monkeypatch):
    """Two servers that share what people have ended, and ask for it often."""
    monkeypatch.setattr(revoked_sessions, "POLL_INTERVAL_S", 0.05)
    made = [SignInRevocations(lambda: open_revoked_sign_ins(settings)) for _ in range(2)]
    yield made
    for one in made:
        one.stop()


def refused(server, sign_in):
    try:
        server.check(sign_in)
    except NotAdmitted as error:
        return str(error)
    return ""


def test_what_is_ended_is_remembered_until_no_cookie_is_so_old(settings):
    store = open_revoked_sign_ins(settings)
    assert store.read() == frozenset()
    store.end("a", now=NOW)
    store.end("a", now=NOW)
    store.end("b", now=NOW + timedelta(days=1))
    assert store.read(now=NOW + REVOCATION_RETENTION - timedelta(seconds=1)) == {"a", "b"}
    assert store.read(now=NOW + REVOCATION_RETENTION) == {"b"}
    store.end("c", now=NOW + REVOCATION_RETENTION)
    assert store.read(now=NOW) == {"b", "c"}, "the row that is too old is removed"
    store.close()


def test_a_sign_out_holds_here_at_once_and_on_the_other_server_soon(servers):
    here, there = servers
    assert refused(here, "a") == refused(there, "a") == ""
    here.end("a")
    assert "You have signed out" in refused(here, "a")
    while not refused(there, "a"):
        time.sleep(0.02)
    assert "You have signed out" in refused(there, "a")
    assert refused(there, "b") == "", "the next sign-in is another one"


def test_a_sign_out_survives_a_restart(servers, settings):
    servers[0].end("a")
    again = SignInRevocations(lambda: open_revoked_sign_ins(settings))
    assert "You have signed out" in refused(again, "a")
    again.stop()


class Away:
    """The ended sign-ins in a database that can be away."""

    def __init__(self, store):
        self.store, self.is_away, self.takes_nothing = store, True, False

    def read(self):
        self._reach()
        return self.store.read()

    def end(self, sign_in):
        self._reach()
        if self.takes_nothing:
            raise StoreUnreachable("The disk of the server is full.", "Make room.")
        self.store.end(sign_in)

    def close(self):
        self.store.close()

    def _reach(self):
        if self.is_away:
            raise StoreUnreachable("The server cannot be reached.", "Check that it runs.")


def test_nobody_gets_in_while_it_cannot_be_known(settings, monkeypatch):
    monkeypatch.setattr(revoked_sessions, "POLL_INTERVAL_S", 0.05)
    times = [0.0]
    away = Away(open_revoked_sign_ins(settings))
    server = SignInRevocations(lambda: away, clock=lambda: times[0])
    told = refused(server, "a")
    assert "cannot check whether you have signed out" in told
    assert "The server cannot be reached." in told
    server.end("b")
    assert "You have signed out" in refused(server, "b")
    away.is_away = False
    while refused(server, "a"):
        time.sleep(0.02)
    while away.read() != {"b"}:  # written now that the database is back
        time.sleep(0.02)
    away.is_away = True
    while not server._problem:
        time.sleep(0.02)
    times[0] = STALE_AFTER_S
    assert refused(server, "a") == "", "a database that is back soon disturbs nobody"
    times[0] = STALE_AFTER_S + 0.1
    assert "cannot check whether you have signed out" in refused(server, "a")
    server.stop()


def test_a_database_that_takes_nothing_locks_nobody_else_out(settings, monkeypatch):
    monkeypatch.setattr(revoked_sessions, "POLL_INTERVAL_S", 0.05)
    times = [0.0]
    full = Away(open_revoked_sign_ins(settings))
    full.is_away, full.takes_nothing = False, True
    server = SignInRevocations(lambda: full, clock=lambda: times[0])
    server.end("b")
    times[0] = STALE_AFTER_S + 0.1
    while refused(server, "a"):
        time.sleep(0.02)
    assert "You have signed out" in refused(server, "b")
    full.takes_nothing = False
    while full.read() != {"b"}:
        time.sleep(0.02)
    server.stop()
