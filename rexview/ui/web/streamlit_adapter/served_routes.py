"""The routes that Streamlit 1.67 serves, and their audience: all others are refused.

A test compares the table with the routes of the installed Streamlit. It reports what a new release
changed; new routes are refused until a developer adds them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from re import Pattern
from typing import Final, Literal

from starlette.routing import compile_path
from streamlit.proto.BackMsg_pb2 import BackMsg

Audience = Literal["all", "sign-in", "files", "lead", "nobody"]
"""Who gets a response: ``all`` (needed by the page that asks people to sign in), ``sign-in`` (all,
but only where people sign in), ``files`` (users who may have files, see ``access.request_checks``),
``lead``. Where nobody signs in, the user of the machine gets what a lead gets."""

_READ: Final = ("GET", "HEAD")
HEALTH: Final = "/_stcore/health"
LOGOUT: Final = "/auth/logout"


@dataclass(frozen=True)
class StreamlitRoute:
    """One path of Streamlit, in its notation, and the methods that are passed on to it."""

    path: str
    audience: Audience
    methods: tuple[str, ...]
    meaning: str

    @cached_property
    def _pattern(self) -> Pattern[str]:
        return compile_path(self.path)[0]

    def takes(self, method: str, path: str) -> bool:
        """Return whether a request is passed on here; ``path`` lacks the app's base path."""
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
"""The websocket over which a page runs; open to everybody, because the sign-in is a page."""
STATIC_FILES: Final = ("/favicon.png", "/manifest.json")
STATIC_FOLDER: Final = "/static/"
"""Streamlit's own scripts, styles and fonts. It answers any other path with its page."""

MESSAGES: Final = frozenset(
    {
        "rerun_script",
        "stop_script",
        "file_urls_request",  # the address for an upload
        "backend_operation_request",  # downloads that are made on request
        "app_heartbeat",
    }
)
"""Messages a browser may send over the websocket. Excluded: clearing all visitors' caches, reading
the folder's git state, turning reruns on, and Streamlit's developer messages."""


def is_known_message(content: bytes | None) -> bool:
    """Return whether the app accepts this message; False for text (None) and non-messages."""
    try:
        return BackMsg.FromString(content or b"").WhichOneof("type") in MESSAGES
    except Exception:  # any exception of protobuf for invalid bytes
        return False
