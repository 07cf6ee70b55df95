"""The server that a team is measured on: the demo, PostgreSQL, and people who have signed in."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from rexview.bench.reliability.server import ScoreServer
from rexview.bench.serving import ROOT, BenchUnavailable, free_port
from rexview.people import Role
from rexview.settings import DEMO_FOLDER
from rexview.ui.streamlit_adapter.sign_in_cookie import signed_cookie

_COOKIE_SECRET: Final = "of this benchmark only, and long enough"  # noqa: S105


@contextmanager
def postgres() -> Iterator[Any]:
    """Run a PostgreSQL server of one's own.

    Raises
    ------
    BenchUnavailable
        There is none, or no checkout to start it from.
    """
    try:
        from tools.postgres import PostgresServer, ServerMissing
    except ImportError:
        raise BenchUnavailable("This needs a checkout of rexview: tools is not there.") from None
    try:
        server = PostgresServer()
    except ServerMissing as error:
        raise BenchUnavailable(f"This needs PostgreSQL: {error}") from None
    with server:
        yield server


class Team:
    """People with roles, known to every server that :meth:`server` makes.

    ``address`` is where browsers find the app: a proxy's, or that of the only server.
    """

    def __init__(self, folder: Path, roles: list[Role], database_url: str, address: str) -> None:
        self.folder, self.address, self.database_url = folder, address, database_url
        self.emails: Final = [f"{role}{n}@clinic.example" for n, role in enumerate(roles)]
        self.people: Final = [
            {"email": email, "name": f"Person {number}", "role": role, "id": f"person-{number}"}
            for number, (email, role) in enumerate(zip(self.emails, roles, strict=True))
        ]
        self.review_set: Final = folder / "set"
        if not self.review_set.exists():
            shutil.copytree(DEMO_FOLDER, self.review_set)
        self.secrets: Final = folder / "secrets.toml"
        self.secrets.write_text(
            f'[auth]\nredirect_uri = "{address}/oauth2callback"\n'
            f'cookie_secret = "{_COOKIE_SECRET}"\nclient_id = "x"\nclient_secret = "x"\n'
            'server_metadata_url = "http://localhost:9/none"\n',
            encoding="utf-8",
        )
        self.settings: Final = folder / "settings"
        """Where servers are started: with the ``rexview.yaml`` that names the people."""
        self.settings.mkdir()
        (self.settings / ".streamlit").symlink_to(ROOT / ".streamlit")
        self.set_people(self.people)

    def set_people(self, people: Sequence[Mapping[str, str]]) -> None:
        """Put another ``rexview.yaml`` in the place of the one that is there."""
        part = self.settings / "rexview.yaml.part"
        part.write_text(json.dumps({"people": list(people)}), encoding="utf-8")
        part.replace(self.settings / "rexview.yaml")

    def server(self, name: str, port: int) -> ScoreServer:
        """Return a server that is not started yet, with a folder of its own."""
        folder = self.folder / name
        folder.mkdir()
        return ScoreServer(
            folder,
            review_set=self.review_set,
            database_url=self.database_url,
            environment={
                "REXVIEW_PUBLIC_ADDRESS": self.address,
            },
            options={"secrets.files": str(self.secrets)},
            port=port,
            cwd=self.settings,
        )

    def cookies(self, number: int) -> list[dict[str, Any]]:
        """Return the cookie with which a person is signed in, as a browser takes it."""
        email = self.emails[number]
        claims = {
            "origin": self.address,
            "is_logged_in": True,
            "sub": email,
            "email": email,
            "iat": int(time.time()),
        }
        name, value = signed_cookie(claims, _COOKIE_SECRET)
        return [{"name": name, "value": value, "url": self.address}]


@contextmanager
def team(folder: Path, roles: list[Role]) -> Iterator[tuple[Team, ScoreServer]]:
    """Run one server on PostgreSQL for people with these roles.

    Raises
    ------
    BenchUnavailable
    """
    port = free_port()
    with postgres() as database:
        found = Team(folder, roles, database.new_database("team"), f"http://localhost:{port}")
        with found.server("one", port) as server:
            yield found, server
