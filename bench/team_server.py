"""Run the server for the team benchmark: the demo, PostgreSQL, nginx, people signed in."""

from __future__ import annotations

import json
import shutil
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from bench.reliability.server import ScoreServer
from bench.serving import ROOT, BenchUnavailable, free_port
from rexview.people import Role
from rexview.settings import DEMO_FOLDER
from rexview.ui.web.streamlit_adapter.sign_in_cookie import signed_cookie

_PATH: Final = "/usr/sbin:/sbin"
_START_S: Final = 30.0
_CONF: Final = """\
pid {folder}/nginx.pid;
error_log {folder}/error.log;
worker_processes 1;
events {{ worker_connections 512; }}
http {{
  access_log off;
  client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/x1; uwsgi_temp_path {folder}/x2; scgi_temp_path {folder}/x3;
  client_max_body_size 200m;
  map $http_upgrade $connection_upgrade {{ default upgrade; "" ""; }}
  # A person stays with the server that their page runs on, which the cookie names; where that one
  # is gone another takes over, and the cookie names that one from then on.
  map $cookie_rexview_server $rexview_pool {{ {pools} default all; }}
  map $upstream_addr $rexview_server {{ {names} default ""; }}
  {upstreams}
  upstream all {{ least_conn; {all} }}
  upstream meetings {{ {meetings} }}
  server {{
    listen 127.0.0.1:{port};
    proxy_http_version 1.1;
    proxy_set_header Host $http_host;
    proxy_set_header Upgrade $http_upgrade;
    proxy_set_header Connection $connection_upgrade;
    proxy_read_timeout 1d;
    proxy_buffering off;
    proxy_connect_timeout 2s;
    proxy_next_upstream error timeout;
    location / {{ proxy_pass http://$rexview_pool; }}
    location = /_stcore/stream {{
      proxy_pass http://$rexview_pool;
      add_header Set-Cookie "rexview_server=$rexview_server; Path=/; HttpOnly; SameSite=Lax" always;
    }}
    # A meeting is held on one server; the other answers 503, and it is asked for at the first.
    location /rexview/meeting/ {{
      proxy_pass http://meetings;
      proxy_next_upstream error timeout http_503 non_idempotent;
    }}
  }}
}}
"""


def configuration(folder: Path, port: int, ports: Sequence[int]) -> str:
    """Return nginx's configuration for a port in front of servers on this machine."""
    names = [f"s{number}" for number, _ in enumerate(ports, start=1)]
    servers = [f"server 127.0.0.1:{one}" for one in ports]
    return _CONF.format(
        folder=folder,
        port=port,
        pools=" ".join(f"{name} {name};" for name in names),
        names=" ".join(f"~:{one}$ {name};" for one, name in zip(ports, names, strict=True)),
        upstreams="\n  ".join(
            f"upstream {name} {{ "
            + " ".join(
                f"{server} max_fails=0{'' if server is first else ' backup'};" for server in servers
            )
            + " }"
            for name, first in zip(names, servers, strict=True)
        ),
        all=" ".join(f"{server} max_fails=1 fail_timeout=5s;" for server in servers),
        meetings=" ".join(
            f"{server} max_fails=0{' backup' if place else ''};"
            for place, server in enumerate(servers)
        ),
    )


@contextmanager
def nginx(folder: Path, port: int, ports: Sequence[int]) -> Iterator[str]:
    """Run nginx until the block ends; yield its address.

    Raises
    ------
    BenchUnavailable
        It is not installed, or did not start.
    """
    command = shutil.which("nginx") or shutil.which("nginx", path=_PATH)
    if command is None:
        raise BenchUnavailable("This needs nginx.")
    folder.mkdir()
    file = folder / "nginx.conf"
    file.write_text(configuration(folder, port, ports), encoding="utf-8")
    process = subprocess.Popen([command, "-p", folder, "-c", file, "-g", "daemon off;"])  # noqa: S603
    try:
        limit = time.monotonic() + _START_S
        while not (folder / "nginx.pid").exists() or not (folder / "nginx.pid").read_text():
            if process.poll() is not None or time.monotonic() > limit:
                raise BenchUnavailable("nginx did not start.")
            time.sleep(0.02)
        yield f"http://localhost:{port}"
    finally:
        process.terminate()
        process.wait()


# The server for the team benchmark: the demo, PostgreSQL, and people who have signed in.

_COOKIE_SECRET: Final = "of this benchmark only, and long enough"  # noqa: S105


@contextmanager
def postgres() -> Iterator[Any]:
    """Run a private PostgreSQL server.

    Raises
    ------
    BenchUnavailable
        None is available, or no checkout to start it from.
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
    """People with roles, known to every server of :meth:`server`.

    ``address`` is the app's address for browsers: a proxy's, or that of the only server.
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
        """Working folder of the servers, with the ``rexview.yaml`` that names the people."""
        self.settings.mkdir()
        (self.settings / ".streamlit").symlink_to(ROOT / ".streamlit")
        self.set_people(self.people)

    def set_people(self, people: Sequence[Mapping[str, str]]) -> None:
        """Replace the ``rexview.yaml`` with these people."""
        part = self.settings / "rexview.yaml.part"
        part.write_text(json.dumps({"people": list(people)}), encoding="utf-8")
        part.replace(self.settings / "rexview.yaml")

    def server(self, name: str, port: int) -> ScoreServer:
        """Return a server that is not started yet, with its own folder."""
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
        """Return the cookie of a signed-in person, in the form for browsers."""
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
        There is no PostgreSQL.
    """
    port = free_port()
    with postgres() as database:
        found = Team(folder, roles, database.new_database("team"), f"http://localhost:{port}")
        with found.server("one", port) as server:
            yield found, server
