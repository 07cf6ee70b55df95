"""Sealed, expiring links to pixels and tickets for writing.

Routes bypass the page script, so a page's checks do not protect them. A link contains what it gives
access to, for whom and until when, encrypted and authenticated. The server serves nothing else, and
a link does not reveal the file or the model, not even by its length.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import secrets
import time
from dataclasses import dataclass
from typing import Any, Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESSIV

from rexview.errors import RexviewError
from rexview.words import tr

LIFETIME_S: Final = 3600
"""A link is valid for one to two times this long: its end is rounded up, so that the link stays the
same within the hour and a browser's cache keeps working."""
_BLOCK: Final = 192
"""Links are padded to a multiple of this many bytes, so that they hide the length of paths."""
_PURPOSE: Final = b"rexview link 2"


class LinkRefused(RexviewError):
    """A link that this server did not make, that is for somebody else, or that has expired."""


@dataclass(frozen=True)
class Grant:
    """The access that a link gives: one kind of view of one image of one open review set.

    ``person`` is the id of the one person it is for, empty without sign-in. ``detail`` is any JSON
    value.
    """

    kind: str
    set_id: str
    image: str
    version: str = ""
    detail: Any = None
    person: str = ""


class LinkSigner:
    """Makes and opens links with one secret.

    The same grant gives the same link (deterministic authenticated encryption, AES-SIV, RFC 5297),
    so that browsers can cache what they fetched.
    """

    def __init__(self, secret: str | None = None) -> None:
        seed = (secret or secrets.token_hex(32)).encode()
        self._seal = AESSIV(hashlib.sha512(_PURPOSE + b"\0seal\0" + seed).digest())
        self._name_key = hashlib.sha256(_PURPOSE + b"\0name\0" + seed).digest()

    def sign(self, grant: Grant, *, lifetime_s: int = LIFETIME_S, now: float | None = None) -> str:
        """Return a URL-safe token for ``grant``, valid for one to two times ``lifetime_s``."""
        now = time.time() if now is None else now
        ends = (int(now) // lifetime_s + 2) * lifetime_s
        fields = [grant.kind, grant.set_id, grant.image, grant.version, grant.detail, grant.person]
        payload = json.dumps([*fields, ends], separators=(",", ":")).encode()
        payload += b" " * (-len(payload) % _BLOCK)
        return (
            base64.urlsafe_b64encode(self._seal.encrypt(payload, [_PURPOSE])).decode().rstrip("=")
        )

    def check(self, token: str, *, now: float | None = None) -> Grant:
        """Return the token's grant; the caller must check that it is for the requester.

        Raises
        ------
        LinkRefused
            The token is not ours, was changed, or has expired.
        """
        now = time.time() if now is None else now
        try:
            sealed = base64.b64decode(
                token + "=" * (-len(token) % 4), altchars=b"-_", validate=True
            )
            payload = self._seal.decrypt(sealed, [_PURPOSE])
        except (ValueError, InvalidTag):
            raise LinkRefused(tr("This link is not from this app.")) from None
        kind, set_id, image, version, detail, person, ends = json.loads(payload)
        if now > ends:
            raise LinkRefused(tr("This link has expired. Reload the page."))
        return Grant(kind, set_id, image, version, detail, person)

    def name(self, *parts: str) -> str:
        """Return an opaque name that is always the same for the same parts."""
        text = json.dumps(parts).encode()
        return hmac.new(self._name_key, text, hashlib.sha256).hexdigest()[:32]
