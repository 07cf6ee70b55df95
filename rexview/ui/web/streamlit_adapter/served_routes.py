"""What Streamlit 1.67 serves and takes, and who gets it: all that is not named here is refused.

A test compares the table with the routes that the installed Streamlit has, so that a new release
shows at once what changed; until somebody has looked at it, what is new is refused.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from re import Pattern
from typing import Final, Literal

from starlette.routing import compile_path
from streamlit.proto.BackMsg_pb2 import BackMsg

Audience = Literal["all", "sign-in", "files", "lead", "nobody"]
"""Who gets an answer: ``all`` (the page that asks people to sign in needs it), ``sign-in`` (all,
but only where people sign in), ``files`` (whoever may have files, see ``access.middleware``),
``lead``. Where nobody signs in, whoever sits at the machine gets what a lead gets."""

_READ: Final = ("GET", "HEAD")
HEALTH: Final = "/_stcore/health"
LOGOUT: Final = "/auth/logout"


@dataclass(frozen=True)
class StreamlitRoute:
    """One path of Streamlit's: as Streamlit writes it, and the methods that are passed on to it."""

    path: str
    audience: Audience
    methods: tuple[str, ...]
    meaning: str

    @cached_property
    def _pattern(self) -> Pattern[str]:
        return compile_path(self.path)[0]

    def takes(self, method: str, path: str) -> bool:
        """Whether a request (its path without the app's base path) is passed on to this route."""
        return method in self.methods and self._pattern.fullmatch(path) is not None


ROUTES: Final = (
    StreamlitRoute(HEALTH, "all", _READ, "whether the server runs"),
    StreamlitRoute(
        "/_stcore/host-config", "all", ("GET",), "who may embed the app; asked for before any page"
    ),
    StreamlitRoute("/media/{file_id:path}", "files", _READ, "downloads, and the app's icon"),
    StreamlitRoute(
        "/_stcore/upload_file/{session_id}/{file_id}", "files", ("PUT", "DELETE"), "uploads"
    ),
    StreamlitRoute("/_stcore/metrics", "lead", ("GET",), "sessions, memory, caches, as numbers"),
    StreamlitRoute("/auth/login", "sign-in", ("GET",), "goes to the identity provider"),
    StreamlitRoute(LOGOUT, "sign-in", ("GET",), "ends the sign-in"),
    StreamlitRoute("/oauth2callback", "sign-in", ("GET",), "where the provider sends people back"),
    StreamlitRoute("/component/{path:path}", "nobody", (), "components of the first kind"),
    StreamlitRoute(
        "/_stcore/bidi-components/{path:path}", "nobody", (), "components that are packages"
    ),
    StreamlitRoute("/_stcore/agent/interact", "nobody", (), "runs the app for a program"),
    StreamlitRoute("/_stcore/agent/mcp", "nobody", (), "runs the app for an assistant"),
    StreamlitRoute("/_stcore/agent/openapi.json", "nobody", (), "describes both"),
)
STREAM: Final = "/_stcore/stream"
"""The websocket over which a page is run; everybody has it, since the sign-in is a page."""
STATIC_FILES: Final = ("/favicon.png", "/manifest.json")
STATIC_FOLDER: Final = "/static/"
"""Streamlit's own scripts, styles and fonts. For any other path it sends its page."""

MESSAGES: Final = frozenset(
    {
        "rerun_script",
        "stop_script",
        "file_urls_request",  # where an upload goes
        "backend_operation_request",  # downloads that are made when they are asked for
        "app_heartbeat",
    }
)
"""What a browser may send over the websocket. Not: clearing the caches of all visitors, reading the
git state of the folder, switching reruns on, and what developers of Streamlit use."""


def is_known_message(content: bytes | None) -> bool:
    """Whether the app takes this from the websocket; not text (None), nor what is no message."""
    try:
        return BackMsg.FromString(content or b"").WhichOneof("type") in MESSAGES
    except Exception:  # whatever protobuf raises for what is none of its messages
        return False
