"""nginx before servers, as docs/team.md has it, for benchmarks and tests."""

from __future__ import annotations

import shutil
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from rexview.bench.serving import BenchUnavailable

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
    """Return the configuration of nginx on a port before servers on this machine."""
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
    """Run nginx until the block ends; give its address.

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
