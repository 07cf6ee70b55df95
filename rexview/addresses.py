"""Parse addresses of remote pictures and review sets; no request is sent.

An address comes from tables that a stranger may have made. It names a storage, a host and a path,
and never a user: user names, passwords and signed links are refused.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import quote, unquote, urlsplit

from rexview.errors import AddressRefused

REMOTE_SETS_FOLDER: Final = "remote-sets"
"""Folder in the cache folder with the tables of remote review sets, a folder each."""
DICOMWEB_SCHEMES: Final = ("dicomweb+https", "dicomweb+http")
HTTP_SCHEMES: Final = ("https", "http", *DICOMWEB_SCHEMES)
"""Schemes of addresses that are requested over HTTP."""
_ADDRESS: Final = re.compile(r"^([A-Za-z][A-Za-z0-9+.\-]+)://")
_MAX_ADDRESS: Final = 2000
_MAX_FOLDER_NAME: Final = 255
_HOST: Final = re.compile(r"^(\[[0-9a-f:.]+\]|[a-z0-9._\-]+)(:[0-9]{1,5})?$")
_USUAL_PORTS: Final = {"http": ":80", "https": ":443"}
_ESCAPED: Final = re.compile(r"[/:%\x00-\x1f\\]")


@dataclass(frozen=True)
class RemoteAddress:
    """A parsed address: ``scheme://host/path``, ``host`` the bucket of an S3 address.

    ``path`` has no leading slash. It is percent-encoded for HTTP, else unchanged.
    """

    scheme: str
    host: str
    path: str

    @property
    def origin(self) -> str:
        """The storage to contact, such as ``https://host``: safe to show and log."""
        return f"{self.scheme}://{self.host}"

    @property
    def text(self) -> str:
        """The whole address, in its plain form."""
        return f"{self.origin}/{self.path}"

    @property
    def url(self) -> str:
        """The URL to request over HTTP."""
        return self.text.removeprefix("dicomweb+")

    def is_under(self, base: RemoteAddress) -> bool:
        """True if it is below the folder that another address names, or equal to it."""
        folder = base.path.rstrip("/")
        inside = not folder or self.path == folder or self.path.startswith(f"{folder}/")
        return (self.scheme, self.host) == (base.scheme, base.host) and inside

    def joined(self, relative: str) -> RemoteAddress:
        """Return the address of a path in the folder that this one names."""
        written = quote(relative, safe="/-._~") if self.scheme in HTTP_SCHEMES else relative
        folder = self.path.rstrip("/")
        return RemoteAddress(self.scheme, self.host, f"{folder}/{written}" if folder else written)


def is_address(text: str) -> bool:
    """True if a text is an address rather than a local path."""
    return bool(_ADDRESS.match(text)) and not text.lower().startswith("file://")


def parse_address(text: str) -> RemoteAddress:
    """Return an address from any spelling.

    Raises
    ------
    AddressRefused
        With the reason; the message does not repeat the address, which may contain a password.
    """
    match = _ADDRESS.match(text)
    if not match:
        raise AddressRefused("This is no address; one begins like s3:// or https://.")
    scheme = match[1].lower()
    if len(text) > _MAX_ADDRESS or any(ord(letter) < 32 or ord(letter) == 127 for letter in text):
        raise AddressRefused("The address is too long or holds control characters.")
    host, _, path = text[match.end() :].partition("/")
    if "@" in host:
        raise AddressRefused(
            "The address holds a user name or a password. Take them out; docs/importing.md says "
            "where they belong."
        )
    host = host.lower()
    if not _HOST.match(host):
        raise AddressRefused("The address names no host or bucket that can be one.")
    if scheme in HTTP_SCHEMES:
        host = host.removesuffix(_USUAL_PORTS[scheme.removeprefix("dicomweb+")])
        parts = urlsplit(f"https://h/{path}")
        if parts.query or parts.fragment:
            raise AddressRefused("The address has a part after ? or #, which may hold a key.")
        if "\\" in unquote(parts.path):
            raise AddressRefused("The address holds a backslash.")
        path = quote(parts.path.removeprefix("/"), safe="/%-._~!$&'()*+,;=:@")
    if "\\" in path or {".", ".."} & set(unquote(path).split("/")):
        raise AddressRefused("The address climbs out of its folder.")
    return RemoteAddress(scheme, host, path)


def remote_set_folder(address: str, cache_folder: Path) -> Path:
    """Return the folder for the tables of the set at an address; it need not exist.

    Raises
    ------
    AddressRefused
        It cannot be the address of a review set.
    """
    read = parse_address(address)
    plain = f"{read.origin}/{read.path.strip('/')}"
    name = _ESCAPED.sub(lambda found: f"%{ord(found[0]):02X}", plain)
    if len(name.encode("utf-8", "replace")) > _MAX_FOLDER_NAME:
        raise AddressRefused("The address of a review set may have about 200 characters.")
    return cache_folder / REMOTE_SETS_FOLDER / name


def remote_set_address(folder: Path) -> RemoteAddress | None:
    """Return the address of the set whose tables are in a folder; None for a local set.

    Only the names of the folder and of its parent are checked.
    """
    if folder.parent.name != REMOTE_SETS_FOLDER or "%3A%2F%2F" not in folder.name:
        return None
    try:
        return parse_address(unquote(folder.name))
    except AddressRefused:
        return None


def display_set(folder: Path) -> str:
    """Return the path or the address of a set, for display."""
    address = remote_set_address(folder)
    return f"{address.text.rstrip('/')}/" if address else str(folder)


def set_place_key(folder: Path) -> str:
    """Return a set's place as a key: its address, else its path, links followed."""
    address = remote_set_address(folder)
    return address.text if address else str(folder.resolve())


def set_display_name(folder: Path) -> str:
    """Return the last name of the path or the address of a set, for display."""
    address = remote_set_address(folder)
    return address.text.rstrip("/").rpartition("/")[2] if address else folder.name
