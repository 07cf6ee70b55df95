"""Check base URLs of model servers, and remember which ones the user has confirmed."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import platformdirs

from rexview.errors import FileRefused
from rexview.models.backend import AttemptFailed
from rexview.untrusted_input import printable_text, read_file

OPENAI_URL: Final = "https://api.openai.com/v1"
_LONGEST: Final = 2000
_PATHS: Final = ("/chat/completions", "/responses", "/completions", "/batches", "/files")


@dataclass(frozen=True)
class ServerAddress:
    """An accepted base URL, without a slash at its end.

    ``warning`` is shown to the user before anything is sent; None if there is none.
    """

    url: str
    host: str
    is_openai: bool
    is_this_machine: bool
    warning: str | None = None


def check_base_url(base_url: str | None) -> ServerAddress:
    """Return a checked base URL; None is OpenAI's own.

    Raises
    ------
    AttemptFailed
        Of kind ``setup`` if it is no valid base URL, or contains a name or a password.
    """
    text = (OPENAI_URL if base_url is None else base_url).strip()
    if len(text) > _LONGEST or printable_text(text) != text:
        raise _refused("The base URL cannot be one.")
    try:
        parts = urlsplit(text)
        port = parts.port
        host = parts.hostname or ""
    except ValueError:
        raise _refused("The base URL cannot be one.") from None
    if parts.scheme not in ("http", "https") or not host:
        raise _refused("The base URL must begin with https:// or http:// and name a server.")
    if parts.username is not None or parts.password is not None:
        raise _refused(
            "The base URL carries a name or a password. Leave it out, and give the key as an "
            "environment variable."
        )
    if parts.query or parts.fragment:
        raise _refused("The base URL must end before any ? or #.")
    path = parts.path.rstrip("/")
    for ending in _PATHS:
        if path.endswith(ending):
            raise _refused(f"The base URL must end before {ending}, mostly with /v1.")
    this_machine, private = _locate_host(host)
    shown = f"[{host}]" if ":" in host else host
    where = f"{shown}:{port}" if port else shown
    warning = None
    if parts.scheme == "http" and not private:
        warning = (
            f"Images and questions go to {where} unencrypted, and others on the way can read them: "
            "use https."
        )
    is_openai = host == "api.openai.com" or host.endswith(".api.openai.com")
    return ServerAddress(f"{parts.scheme}://{where}{path}", where, is_openai, this_machine, warning)


def _locate_host(host: str) -> tuple[bool, bool]:
    """Return whether a host is this machine, and whether it is in a private network."""
    try:
        number = ipaddress.ip_address(host)
    except ValueError:
        here = host == "localhost" or host.endswith(".localhost")
        return here, here or "." not in host or host.endswith((".local", ".internal", ".lan"))
    return number.is_loopback, number.is_private


def _refused(message: str) -> AttemptFailed:
    return AttemptFailed("setup", message, stops_all=True)


# Servers that this user has confirmed on this machine: no other server is asked.
#
# The address of a run is stored in the folder of the review set, which may come from somebody else.
# So it is used only after this user has typed it (``--base-url``) or pressed the button below it on
# a page. OpenAI's own address needs no confirmation. A port of this machine does: anybody with an
# account here can listen there.

_FILE: Final = "model-servers.txt"
_MOST_BYTES: Final = 1_000_000


def is_confirmed_server(address: ServerAddress) -> bool:
    """Whether this user has confirmed a base URL, including its path, on this machine."""
    own = address.is_openai and address.url.startswith("https://")
    return own or address.url in _read_confirmed()


def confirm_server_address(address: ServerAddress) -> None:
    """Remember that this user has confirmed a base URL.

    Raises
    ------
    OSError
        The folder of the user's data cannot be written.
    """
    if is_confirmed_server(address):
        return
    file = _confirmed_file()
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("a", encoding="utf-8") as lines:
        lines.write(f"{address.url}\n")
    file.chmod(0o600)


def check_server_confirmed(address: ServerAddress) -> None:
    """Raise if this user has not confirmed a server.

    Raises
    ------
    AttemptFailed
        Of kind ``setup``, with what to do.
    """
    if not is_confirmed_server(address):
        raise AttemptFailed(
            "setup",
            f"The run would send to {address.url}, which you have not confirmed on this computer: "
            f"nothing was sent. If it is the right server, add --base-url {address.url}",
            stops_all=True,
        )


def _read_confirmed() -> frozenset[str]:
    try:
        return frozenset(
            read_file(_confirmed_file(), _MOST_BYTES).decode("utf-8", "replace").splitlines()
        )
    except (OSError, FileRefused):
        return frozenset()


def _confirmed_file() -> Path:
    return Path(platformdirs.user_data_dir("rexview")) / _FILE
