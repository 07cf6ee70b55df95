"""The name of whoever works alone, in a small file of the user of this machine."""

from __future__ import annotations

import json
from pathlib import Path

import platformdirs
import streamlit as st


def recall_name() -> str | None:
    """Return the name given last time, None when there is none or the server is open to others."""
    if not _own_machine():
        return None
    try:
        content = json.loads(_file().read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    name = content.get("name") if isinstance(content, dict) else None
    return name if isinstance(name, str) else None


def remember_name(name: str) -> None:
    """Keep a name for next time; a folder that cannot be written costs only the asking again."""
    if not _own_machine():
        return
    file = _file()
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        part = file.with_suffix(".part")
        part.write_text(json.dumps({"name": name}, ensure_ascii=False), encoding="utf-8")
        part.replace(file)
    except OSError:
        pass


def _own_machine() -> bool:
    """Whether only people at this machine reach the server, so that one name is remembered."""
    return st.get_option("server.address") in ("localhost", "127.0.0.1", "::1")


def _file() -> Path:
    return Path(platformdirs.user_data_dir("rexview")) / "person.json"
