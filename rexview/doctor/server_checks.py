"""Check this installation: packages, folders, settings, sign-in and the server."""

from __future__ import annotations

import os
import platform
import re
import shutil
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Mapping
from datetime import datetime
from email.utils import parsedate_to_datetime
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from shutil import which
from typing import Any, Final
from urllib.parse import urlsplit

import streamlit as st
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from rexview import __version__
from rexview.addresses import RemoteAddress, display_set, remote_set_address
from rexview.disk_cache import CACHE_KINDS
from rexview.doctor.data_checks import compare_clock
from rexview.doctor.finding import (
    CheckContext,
    CheckFields,
    note_finding,
    ok_finding,
    wrong_finding,
)
from rexview.errors import SettingsError
from rexview.settings import DEMO_FOLDER, SETTING_SPECS, Settings, setting_sources
from rexview.store.database_location import data_folder, is_writable
from rexview.ui.web.server.server_state import THIS_MACHINE, base_path, on_this_machine_only
from rexview.ui.web.server.server_state import sign_in_configured as configured
from rexview.untrusted_input import printable_text
from rexview.vocab import english_count, english_noun

_ROOT: Final = Path(__file__).resolve().parents[2]
_OURS: Final = "requirements.txt"
_FOR_DEVELOPERS: Final = ("requirements-dev.txt", "requirements-dev-all.txt")
_SHOWN: Final = 6
_BROWSERS: Final = (
    "chromium-headless-shell",
    *("chromium", "chromium-browser", "google-chrome", "google-chrome-stable"),
)
NO_BROWSER: Final = "No browser started: install Chromium, or name one in REXVIEW_CHROMIUM."


def check_packages(_known: CheckContext) -> Iterator[CheckFields]:
    """Check Python, the packages that rexview requires, and each optional set of them."""
    yield _python()
    yield _check_requirements(_ROOT / _OURS, "rexview")
    for file in sorted(_ROOT.glob("requirements-*.txt")):
        if file.name not in _FOR_DEVELOPERS:
            yield _optional(file)
    yield _graphics_card()
    yield _browser()


def _python() -> CheckFields:
    project = tomllib.loads((_ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted, here = project["requires-python"], platform.python_version()
    if SpecifierSet(wanted).contains(here, prereleases=True):
        return ok_finding("Python", f"{here}, rexview {__version__}, {platform.system()}")
    return wrong_finding("Python", f"{here}; rexview needs {wanted}.", "Install a newer Python.")


def read_requirements(file: Path) -> Iterator[Requirement]:
    """Yield the requirements of a file that apply to this machine."""
    for line in file.read_text(encoding="utf-8").splitlines():
        text = line.partition(" #")[0].strip()
        if text and not text.startswith(("#", "-")):
            asked = Requirement(text)
            if asked.marker is None or asked.marker.evaluate():
                yield asked


def _package_problems(file: Path) -> tuple[list[str], list[str]]:
    """Return a file's missing packages, and those with another version."""
    missing, other = [], []
    for asked in read_requirements(file):
        try:
            here = version(asked.name)
        except PackageNotFoundError:
            missing.append(asked.name)
            continue
        if not asked.specifier.contains(here, prereleases=True):
            other.append(f"{asked.name} {here} ({asked.specifier})")
    return missing, other


def _check_requirements(file: Path, about: str) -> CheckFields:
    missing, other = _package_problems(file)
    install = f"To mend it: {_install(file)}"
    if missing:
        return wrong_finding(about, f"Not installed: {_shorten_list(missing)}.", install)
    if other:
        return wrong_finding(
            about, f"Not the versions that were tried: {_shorten_list(other)}.", install
        )
    count = english_count(len(list(read_requirements(file))), "package")
    return ok_finding(about, f"{count} in the versions of {file.name}")


def _optional(file: Path) -> CheckFields:
    about = file.stem.removeprefix("requirements-")
    purpose = file.read_text(encoding="utf-8").splitlines()[0].lstrip("# ").rstrip(".")
    missing, _ = _package_problems(file)
    if missing:
        there = f"{purpose}: {_shorten_list(missing)} not installed"
        return note_finding(about, there, f"If you want it: {_install(file)}")
    name, state, said, remedy = _check_requirements(file, about)
    return (name, state, purpose, "") if state == "ok" else (name, "note", said, remedy)


def _install(file: Path) -> str:
    """Return how to install a file's packages; the container image has no pip."""
    if _has_pip():
        return f"{_python_command()} -m pip install -r {file.name}"
    name = file.stem.partition("-")[2]
    build = f"build the image with WITH={name}" if name else "build the image anew"
    return f"install {file.name}; where this is a container, {build} (docs/deploy.md)"


def _python_command() -> str:
    """Return a shell's name for this Python: its path if the plain name is another one's."""
    name = Path(sys.executable).name
    found = which(name)
    return name if found and Path(found) == Path(sys.executable) else sys.executable


def _has_pip() -> bool:
    return find_spec("pip") is not None


def _shorten_list(names: list[str]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more


def _graphics_card() -> CheckFields:
    about = "graphics card"
    if find_spec("torch") is None:
        return ok_finding(
            about, "not asked: models on this machine need torch, which is not installed"
        )
    from rexview.models.local.local_model import find_graphics_card

    try:
        found = find_graphics_card()
    except (RuntimeError, OSError, ImportError) as error:
        reason = re.sub(r"\W+", " ", type(error).__name__)
        return note_finding(about, f"torch cannot be used here ({reason}).", "Install torch anew.")
    if found is None:
        return ok_finding(
            about, "none that torch can use: models on this machine run on the processor"
        )
    name, free = found
    return ok_finding(about, f"{name}, {free / 1e9:,.1f} GB free")


def browser_path() -> str | None:
    """Return the browser named in ``REXVIEW_CHROMIUM`` or an installed one, None for neither."""
    found = (path for name in _BROWSERS if (path := which(name)))
    return os.environ.get("REXVIEW_CHROMIUM") or next(found, None)


def _browser() -> CheckFields:
    if browser_path():
        return ok_finding("browser", "for python -m rexview bench")
    return ok_finding("browser", f"none, which only python -m rexview bench needs. {NO_BROWSER}")


# Folders that rexview writes to: whether that works, and how much space is left.

_LEAST: Final = 200_000_000
"""Free bytes below which work stops soon."""
_UPLOAD: Final = 1_000_000_000
_OF_EXPORTS: Final = 1_000_000_000


def check_folders(known: CheckContext) -> Iterator[CheckFields]:
    """Check each folder by creating a file in it, which leaves no trace."""
    settings = known.settings
    yield _folder("cache", settings.cache_folder, _most_kept(settings))
    yield _folder("exports", settings.cache_folder / "exports", _OF_EXPORTS)
    yield _folder("data of users", data_folder().parent, _LEAST)
    yield _folder("uploads", Path(tempfile.gettempdir()), _UPLOAD)
    folder = settings.review_set
    if folder == DEMO_FOLDER or remote_set_address(folder) is not None or not folder.is_dir():
        return
    if is_writable(folder):
        yield ok_finding("set", f"{folder}, {_room(folder)}")
    else:
        yield note_finding(
            "set",
            f"{folder} may not be written to.",
            "Reading and scoring need no more; runs of models and imports into it do.",
        )


def _most_kept(settings: Settings) -> int:
    return sum(int(getattr(settings, kind.limit)) for kind in CACHE_KINDS.values()) * 1_000_000


def _folder(about: str, folder: Path, wanted: int) -> CheckFields:
    """Check a folder, existing or not, and its free space for ``wanted`` bytes."""
    there = next((one for one in (folder, *folder.parents) if one.exists()), folder)
    if not there.is_dir():
        said = f"{folder} cannot be made: {there} is no folder."
        return wrong_finding(about, said, "Move it away, or name another folder.")
    if not is_writable(there):
        said = f"{there} may not be written to."
        return wrong_finding(
            about, said, "Give the user who runs rexview the right, or name another one."
        )
    free = shutil.disk_usage(there).free
    said = f"{folder}, {_room(there)}"
    if free < _LEAST:
        return wrong_finding(about, said, "Make room on this disk.")
    if free < wanted:
        limits = "make room, or set lower limits (docs/settings.md)."
        remedy = f"It may grow to {wanted / 1e9:,.1f} GB: {limits}"
        return note_finding(about, said, remedy)
    return ok_finding(about, said)


def _room(folder: Path) -> str:
    return f"{shutil.disk_usage(folder).free / 1e9:,.1f} GB free"


# Settings in force with their sources; private values are never shown.


def check_settings(known: CheckContext) -> Iterator[CheckFields]:
    """List the settings that are given, one a line, then the defaults of the others."""
    given = setting_sources(known.arguments)
    for spec in SETTING_SPECS:
        if spec.name in given:
            value = getattr(known.settings, spec.name)
            shown = "set" if spec.private else _displayed_value(value)
            yield ok_finding(spec.name, f"{shown} ({_source_text(given[spec.name], spec.name)})")
    others = [
        f"{spec.name} {_displayed_value(getattr(known.settings, spec.name))}"
        for spec in SETTING_SPECS
        if spec.name not in given
    ]
    if others:
        yield ok_finding(english_noun(len(others), "default"), ", ".join(others))


def _source_text(where: str, name: str) -> str:
    """Return a file with its folder, or the name of a variable."""
    if match := re.fullmatch(rf"(.*), {name}", where):
        return str(Path(match[1]).absolute())
    return where


def _displayed_value(value: Any) -> str:
    if isinstance(value, Path):
        return display_set(value)
    if isinstance(value, RemoteAddress):
        return value.text
    if isinstance(value, tuple):
        return os.pathsep.join(str(_displayed_value(one)) for one in value) or "empty"
    return "none" if value is None else f"{value}"


# Sign-in: whether people sign in, and whether its configuration is complete.

_SHORTEST: Final = 32
"""Letters of a secret that cannot be guessed."""
_TEAM: Final = "docs/team.md says what belongs there."


def check_sign_in(known: CheckContext) -> Iterator[CheckFields]:
    """Check secrets.toml, the addresses, the people; no secret is printed."""
    try:
        is_team = configured(known.settings)
    except SettingsError as error:
        yield wrong_finding("secrets.toml", str(error), _TEAM)
        return
    if not is_team:
        yield _without_sign_in(known.settings)
        return
    from rexview.ui.web.access.sign_in import providers, sign_in_section
    from rexview.ui.web.streamlit_adapter.process import sign_in_fault

    section = sign_in_section()
    names = providers() or ("default",)
    faults = {name: why for name in names if (why := sign_in_fault(name))}
    for why in faults.values():
        yield wrong_finding("secrets.toml", why, _TEAM)
    if not faults:
        yield ok_finding("secrets.toml", f"complete, {english_count(len(names), 'provider')}")
    yield _cookie_secret(section)
    yield _redirect(str(section.get("redirect_uri") or ""), known.settings)
    yield _people(known.settings)
    yield _link_secret(known.settings)


def _without_sign_in(settings: Settings) -> CheckFields:
    if on_this_machine_only() and not _is_public(settings):
        return ok_finding("sign-in", "nobody signs in: for people at this computer only")
    if settings.public_address is not None and not _is_public(settings):
        said = "Nobody signs in. Only who asks for localhost is answered; programs can feign that."
        remedy = "Let this computer only reach the port: docker run -p 127.0.0.1:8501:8501."
        return note_finding("sign-in", said, remedy)
    said = "Nobody signs in, and others are to reach this server: all would see and write all."
    return wrong_finding("sign-in", said, f"Write [auth] into secrets.toml; {_TEAM}")


def _is_public(settings: Settings) -> bool:
    public = settings.public_address
    return public is not None and urlsplit(public).hostname not in THIS_MACHINE


def _cookie_secret(section: Mapping[str, Any]) -> CheckFields:
    length = len(str(section.get("cookie_secret") or ""))
    if length >= _SHORTEST:
        return ok_finding("cookie_secret", "set")
    said = f"It is {'too short' if length else 'missing'}: others could forge a sign-in."
    remedy = 'Make one: python -c "import secrets; print(secrets.token_hex(32))"'
    return wrong_finding("cookie_secret", said, remedy)


def _redirect(address: str, settings: Settings) -> CheckFields:
    """Compare the sign-in's return address with the server's public address."""
    about, path = "redirect_uri", f"{base_path()}/oauth2callback"
    parts = urlsplit(address)
    origin = f"{parts.scheme}://{parts.netloc}"
    if not parts.hostname or parts.path != path:
        said = f"It must end with {path}."
        return wrong_finding(about, said, "Correct it in secrets.toml and at the provider.")
    if settings.public_address not in (None, origin):
        said = f"It leads to {origin}, and public_address is {settings.public_address}."
        return wrong_finding(about, said, "Give both the same scheme, name and port.")
    if parts.scheme != "https" and parts.hostname not in THIS_MACHINE:
        said = f"{origin} is not encrypted: sign-ins could be read on the way."
        return wrong_finding(
            about, said, "Put a proxy with a certificate in front, and write https://."
        )
    return ok_finding(about, f"{origin}, where browsers find this server")


def _people(settings: Settings) -> CheckFields:
    people, everybody = settings.people, settings.default_role
    if not people and everybody is None:
        said = "Nobody is listed, and there is no default_role: nobody gets in."
        return wrong_finding("people", said, "List them in rexview.yaml; docs/team.md shows how.")
    roles = [one.person.role for one in people]
    told = f"{len(people):,} listed" + (f", all others {everybody}" if everybody else "")
    if "lead" not in (*roles, everybody):
        return note_finding(
            "people", f"{told}; none is a lead.", "A lead opens sets and assigns cases."
        )
    return ok_finding("people", told)


def _link_secret(settings: Settings) -> CheckFields:
    length = len(settings.secret or "")
    if length >= _SHORTEST:
        return ok_finding("secret", "set")
    said = "too short" if length else "not set: open pages are reloaded after each start"
    remedy = "Set REXVIEW_SECRET to a long random text, the same for all servers of one address."
    return note_finding("secret", said, remedy)


# Server options that matter behind a proxy, the clock, and a running server.

_ASK_S: Final = 12.0
"""A server may itself wait 10 s for its database before it reports that as away."""
_SERVER_SHOWN: Final = 200
_READY: Final = "/rexview/ready"


def check_server(known: CheckContext) -> Iterator[CheckFields]:
    """Report what a proxy must know, and ask a server whether it is ready."""
    yield _address()
    yield _under_path()
    size = int(st.get_option("server.maxUploadSize"))
    yield ok_finding("uploads", f"at most {size} MB (nginx: client_max_body_size {size}m or more)")
    yield _config()
    now = datetime.now().astimezone()
    yield ok_finding("clock", f"{now:%Y-%m-%d %H:%M:%S} {now.tzname()}")
    if known.ask:
        yield from _check_running_server(known.ask.rstrip("/"))


def _address() -> CheckFields:
    at = f"{st.get_option('server.address') or 'every address'}, port {_port()}"
    if on_this_machine_only():
        return ok_finding(
            "listens on", f"{at}: a proxy on this computer reaches it, nobody else does"
        )
    return note_finding(
        "listens on",
        f"{at}: other computers reach it without TLS.",
        "Let a firewall, or the network of the containers, admit the proxy only.",
    )


def _port() -> int:
    return int(st.get_option("server.port"))


def _under_path() -> CheckFields:
    if base_path():
        return ok_finding("path", f"{base_path()}: the proxy passes it on, and redirect_uri has it")
    return ok_finding("path", "none")


def _config() -> CheckFields:
    """Check that rexview's default options are in force, by one of each kind."""
    changed = [
        name
        for name, ours in (
            ("server.fileWatcherType", "none"),
            ("browser.gatherUsageStats", False),
            ("client.showErrorDetails", "none"),
        )
        if st.get_option(name) != ours
    ]
    if changed:
        said = f"Not as rexview comes: {', '.join(changed)}."
        return note_finding(
            "config.toml", said, "See .streamlit/config.toml, which says what they are for."
        )
    return ok_finding("config.toml", "as rexview comes")


def _check_running_server(server: str) -> Iterator[CheckFields]:
    import httpx

    about = f"{printable_text(server)}{_READY}"
    try:
        answer = httpx.get(f"{server}{_READY}", timeout=_ASK_S, follow_redirects=False)
    except (httpx.InvalidURL, httpx.UnsupportedProtocol):
        remedy = "Give it like http://localhost:8501."
        yield wrong_finding("server", "This is no address of a server.", remedy)
        return
    except httpx.TimeoutException:
        yield wrong_finding(
            about, "It does not answer in time.", "Look at the server's log; restart it."
        )
        return
    except httpx.HTTPError as error:
        is_certificate = "CERTIFICATE" in str(error).upper()
        why = "Its certificate is not trusted here." if is_certificate else "Nothing answers there."
        remedy = (
            "Give the proxy a whole chain." if is_certificate else "Is it started, and so named?"
        )
        yield wrong_finding(about, why, remedy)
        return
    said = printable_text(" ".join(answer.text[:_SERVER_SHOWN].split()))
    if answer.status_code == httpx.codes.OK and said == "Ready.":
        yield ok_finding(about, said)
    elif answer.status_code == httpx.codes.SERVICE_UNAVAILABLE:
        yield wrong_finding(about, said, "Mend that; the server goes on by itself.")
    else:
        said = f"It answers with HTTP {answer.status_code}, as rexview does not."
        yield wrong_finding(about, said, "Is it another program, or a proxy that leads elsewhere?")
    if date := answer.headers.get("Date"):
        yield from _check_server_clock(date)


def _check_server_clock(date: str) -> Iterator[CheckFields]:
    try:
        clock = parsedate_to_datetime(date)
    except ValueError:
        return
    if clock.tzinfo is not None:
        yield compare_clock("the server's clock", clock)
