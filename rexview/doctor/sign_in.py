"""Whether people sign in, and whether what that needs is complete."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final
from urllib.parse import urlsplit

from rexview.doctor.finding import Known, Said, note, ok, wrong
from rexview.errors import SettingsError
from rexview.settings import Settings
from rexview.ui.server.server_state import THIS_MACHINE, base_path, on_this_machine_only
from rexview.ui.server.server_state import sign_in_configured as configured
from rexview.vocab import counted

_SHORTEST: Final = 32
"""Letters of a secret that nobody guesses."""
_TEAM: Final = "docs/team.md says what belongs there."


def look_at_sign_in(known: Known) -> Iterator[Said]:
    """Look at secrets.toml, the addresses, the people; nothing that is secret is said."""
    try:
        is_team = configured(known.settings)
    except SettingsError as error:
        yield wrong("secrets.toml", str(error), _TEAM)
        return
    if not is_team:
        yield _without(known.settings)
        return
    from rexview.ui.access.sign_in import providers, sign_in_section
    from rexview.ui.streamlit_adapter.as_started import why_no_sign_in

    section = sign_in_section()
    names = providers() or ("default",)
    faults = {name: why for name in names if (why := why_no_sign_in(name))}
    for why in faults.values():
        yield wrong("secrets.toml", why, _TEAM)
    if not faults:
        yield ok("secrets.toml", f"complete, {counted(len(names), 'provider')}")
    yield _cookie_secret(section)
    yield _redirect(str(section.get("redirect_uri") or ""), known.settings)
    yield _people(known.settings)
    yield _link_secret(known.settings)


def _without(settings: Settings) -> Said:
    if on_this_machine_only() and not _is_public(settings):
        return ok("sign-in", "nobody signs in: for people at this computer only")
    if settings.public_address is not None and not _is_public(settings):
        said = "Nobody signs in. Only who asks for localhost is answered; programs can feign that."
        remedy = "Let this computer only reach the port: docker run -p 127.0.0.1:8501:8501."
        return note("sign-in", said, remedy)
    said = "Nobody signs in, and others are to reach this server: all would see and write all."
    return wrong("sign-in", said, f"Write [auth] into secrets.toml; {_TEAM}")


def _is_public(settings: Settings) -> bool:
    public = settings.public_address
    return public is not None and urlsplit(public).hostname not in THIS_MACHINE


def _cookie_secret(section: Mapping[str, Any]) -> Said:
    length = len(str(section.get("cookie_secret") or ""))
    if length >= _SHORTEST:
        return ok("cookie_secret", "set")
    said = f"It is {'too short' if length else 'missing'}: others could forge a sign-in."
    remedy = 'Make one: python -c "import secrets; print(secrets.token_hex(32))"'
    return wrong("cookie_secret", said, remedy)


def _redirect(address: str, settings: Settings) -> Said:
    """Compare where the sign-in comes back to with where browsers find the server."""
    about, path = "redirect_uri", f"{base_path()}/oauth2callback"
    parts = urlsplit(address)
    origin = f"{parts.scheme}://{parts.netloc}"
    if not parts.hostname or parts.path != path:
        said = f"It must end with {path}."
        return wrong(about, said, "Correct it in secrets.toml and at the provider.")
    if settings.public_address not in (None, origin):
        said = f"It leads to {origin}, and public_address is {settings.public_address}."
        return wrong(about, said, "Give both the same scheme, name and port.")
    if parts.scheme != "https" and parts.hostname not in THIS_MACHINE:
        said = f"{origin} is not encrypted: sign-ins could be read on the way."
        return wrong(about, said, "Put a proxy with a certificate in front, and write https://.")
    return ok(about, f"{origin}, where browsers find this server")


def _people(settings: Settings) -> Said:
    people, everybody = settings.people, settings.default_role
    if not people and everybody is None:
        said = "Nobody is listed, and there is no default_role: nobody gets in."
        return wrong("people", said, "List them in rexview.yaml; docs/team.md shows how.")
    roles = [one.person.role for one in people]
    told = f"{len(people):,} listed" + (f", all others {everybody}" if everybody else "")
    if "lead" not in (*roles, everybody):
        return note("people", f"{told}; none is a lead.", "A lead opens sets and assigns cases.")
    return ok("people", told)


def _link_secret(settings: Settings) -> Said:
    length = len(settings.secret or "")
    if length >= _SHORTEST:
        return ok("secret", "set")
    said = "too short" if length else "not set: open pages are reloaded after each start"
    remedy = "Set REXVIEW_SECRET to a long random text, the same for all servers of one address."
    return note("secret", said, remedy)
