"""State of the server from start to stop: settings, secrets, the disk cache.

Cached per process with ``functools``, because the routes need it outside of pages. The server waits
for this module before it answers, so nothing heavy is imported here.
"""

from __future__ import annotations

import json
import sys
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import platformdirs
import streamlit as st

from rexview.errors import SettingsError
from rexview.settings import MEMORY, Settings, load_settings
from rexview.ui.web.server.sealed_tokens import LinkSigner
from rexview.ui.web.streamlit_adapter.process import secrets_loaded

if TYPE_CHECKING:
    from rexview.imaging import DiskCache


THIS_MACHINE: Final = frozenset({"localhost", "127.0.0.1", "::1"})

_NAME_FILE: Final = "person"


@cache
def settings() -> Settings:
    """Return the settings of this server, read once."""
    return load_settings(sys.argv[1:])


def uses_clickhouse() -> bool:
    """Return whether the review sets of this server are on ClickHouse."""
    return settings().engine != MEMORY


@cache
def requires_sign_in() -> bool:
    """Return whether people sign in here; decided once, when the server starts.

    Raises
    ------
    SettingsError
        As for :func:`sign_in_configured`.
    """
    return sign_in_configured(settings())


def sign_in_configured(given: Settings) -> bool:
    """Return whether people sign in, from the settings and the secrets file.

    Raises
    ------
    SettingsError
        The settings name people, or there is a secrets file, but no sign-in is configured.
        Everybody is refused then, because otherwise everybody would be a lead.
    """
    loaded = secrets_loaded()
    if not loaded and any(Path(file).exists() for file in st.get_option("secrets.files")):
        raise SettingsError("secrets.toml is there but cannot be read; the server logged why.")
    configured = loaded and bool(st.secrets.get("auth"))
    if (given.people or given.default_role) and not configured:
        raise SettingsError(
            "The settings say who may sign in, but secrets.toml has no [auth]. See docs/team.md."
        )
    return configured


def on_this_machine_only() -> bool:
    """Return whether only people at this machine reach the server."""
    return st.get_option("server.address") in THIS_MACHINE


def base_path() -> str:
    """Return the path under which the app is served: empty, or ``/`` and a name."""
    base = str(st.get_option("server.baseUrlPath") or "").strip("/")
    return f"/{base}" if base else ""


@cache
def signer() -> LinkSigner:
    """Return the signer of links to pixels."""
    return LinkSigner(settings().secret)


@cache
def image_cache() -> DiskCache:
    """Return the disk cache of decoded pixels and thumbnails."""
    from rexview.imaging import DiskCache

    return DiskCache(settings().cache_folder / "images", settings().cache_mb * 1_000_000)


def stored_name() -> str | None:
    """Return the name given last on this machine; None on a server that others reach, too."""
    kept = read_user_file(_NAME_FILE) if on_this_machine_only() else None
    name = kept.get("name") if isinstance(kept, dict) else None
    return name if isinstance(name, str) else None


def store_name(name: str) -> None:
    """Store a name to propose, if only people at this machine reach the server."""
    if on_this_machine_only():
        with suppress(OSError):  # without a writable folder only the proposal is lost
            write_user_file(_NAME_FILE, {"name": name})


def _user_file(name: str) -> Path:
    return Path(platformdirs.user_data_dir("rexview")) / f"{name}.json"


def read_user_file(name: str) -> Any:
    """Return a stored value for the user of this machine; None if there is none."""
    try:
        return json.loads(_user_file(name).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def write_user_file(name: str, content: Any) -> None:
    """Store a small value for the user of this machine, replacing the previous one.

    Raises
    ------
    OSError
    """
    file = _user_file(name)
    file.parent.mkdir(parents=True, exist_ok=True)
    part = file.with_suffix(".part")
    part.write_text(json.dumps(content, ensure_ascii=False, indent=1), encoding="utf-8")
    part.replace(file)
