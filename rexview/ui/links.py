"""Signed, expiring links to pixels.

Routes bypass the page script, so a page's checks do not protect them: a link carries what it gives
access to, when it ends, and a signature over both. The server serves nothing else.
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

from rexview.errors import RexviewError

LIFETIME_S: Final = 3600
"""A link holds for one to two of these: its end is rounded up so that it stays the same, and a
browser's cache keeps working, within the hour."""


class LinkRefused(RexviewError):
    """A link that this server did not sign, or that has ended."""


@dataclass(frozen=True)
class Grant:
    """What a link gives access to: one kind of view of one image of one open review set."""

    kind: str
    set_id: str
    image: str
    version: str = ""
    detail: Any = None


class LinkSigner:
    """Makes and checks links with one secret."""

    def __init__(self, secret: str | None = None) -> None:
        self._key = hashlib.sha256((secret or secrets.token_hex(32)).encode()).digest()

    def sign(self, grant: Grant, *, now: float | None = None) -> str:
        """Return a URL-safe token for ``grant``."""
        now = time.time() if now is None else now
        ends = (int(now) // LIFETIME_S + 2) * LIFETIME_S
        fields = [grant.kind, grant.set_id, grant.image, grant.version, grant.detail, ends]
        payload = json.dumps(fields, separators=(",", ":"), ensure_ascii=False).encode()
        return f"{_encode(payload)}.{_encode(self._mac(payload))}"

    def check(self, token: str, *, now: float | None = None) -> Grant:
        """Return what the token grants.

        Raises
        ------
        LinkRefused
            The token is not ours, was changed, or has ended.
        """
        now = time.time() if now is None else now
        payload_text, _, mac_text = token.partition(".")
        try:
            payload, mac = _decode(payload_text), _decode(mac_text)
        except ValueError:
            raise LinkRefused("This link is not one of ours.") from None
        if not hmac.compare_digest(mac, self._mac(payload)):
            raise LinkRefused("This link is not one of ours.")
        kind, set_id, image, version, detail, ends = json.loads(payload)
        if now > ends:
            raise LinkRefused("This link has ended. Reload the page.")
        return Grant(kind, set_id, image, version, detail)

    def _mac(self, payload: bytes) -> bytes:
        return hmac.new(self._key, payload, hashlib.sha256).digest()[:16]


def _encode(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _decode(text: str) -> bytes:
    return base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
