"""Where requests go: which base URLs are taken, and what is to be said of them."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from rexview.bounded import printable
from rexview.models.reply import AttemptFailed

OPENAI: Final = "https://api.openai.com/v1"
_LONGEST: Final = 2000
_PATHS: Final = ("/chat/completions", "/responses", "/completions", "/batches", "/files")


@dataclass(frozen=True)
class Address:
    """A base URL that is taken, without a slash at its end.

    ``warning`` is for the person before anything is sent, None where there is nothing to say.
    """

    url: str
    host: str
    is_openai: bool
    is_this_machine: bool
    warning: str | None = None


def read_address(base_url: str | None) -> Address:
    """Check a base URL; None is OpenAI's own.

    Raises
    ------
    AttemptFailed
        Of kind ``setup``, when it cannot be one, or carries a name or a password.
    """
    text = (OPENAI if base_url is None else base_url).strip()
    if len(text) > _LONGEST or printable(text) != text:
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
    this_machine, private = _near(host)
    shown = f"[{host}]" if ":" in host else host
    where = f"{shown}:{port}" if port else shown
    warning = None
    if parts.scheme == "http" and not private:
        warning = (
            f"Images and questions go to {where} unencrypted, and others on the way can read them: "
            "use https."
        )
    is_openai = host == "api.openai.com" or host.endswith(".api.openai.com")
    return Address(f"{parts.scheme}://{where}{path}", where, is_openai, this_machine, warning)


def _near(host: str) -> tuple[bool, bool]:
    """Return whether a host is this machine, and whether it is of a private network."""
    try:
        number = ipaddress.ip_address(host)
    except ValueError:
        here = host == "localhost" or host.endswith(".localhost")
        return here, here or "." not in host or host.endswith((".local", ".internal", ".lan"))
    return number.is_loopback, number.is_private


def _refused(message: str) -> AttemptFailed:
    return AttemptFailed("setup", message, stops_all=True)
