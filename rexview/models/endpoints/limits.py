"""What headers say about limits, and how long to wait."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from rexview.models.reply import RateLimits

_PART = re.compile(r"(\d+(?:\.\d+)?)(ms|us|µs|ns|h|m|s|d)")
LONGEST_WAIT_S = 86_400.0
"""No server is waited for longer than a day at a time, whatever it asks for."""
_MOST_DIGITS = 18
_SECONDS = {"d": 86_400, "h": 3600, "m": 60, "s": 1, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9}


def seconds(word: str | None) -> float | None:
    """Return a duration (``6m0s``, ``20ms``, ``1.5``) in seconds, None where it is none."""
    if word is None:
        return None
    word = word.strip()
    parts = _PART.findall(word)
    if parts and "".join(number + unit for number, unit in parts) == word:
        return float(sum(float(number) * _SECONDS[unit] for number, unit in parts))
    try:
        number = float(word)
    except ValueError:
        return None
    return number if math.isfinite(number) and number >= 0 else None


def _count(word: str | None) -> int | None:
    is_count = word is not None and word.isascii() and word.isdigit() and len(word) <= _MOST_DIGITS
    return int(word or "") if is_count else None


def rate_limits(headers: Mapping[str, str]) -> RateLimits | None:
    """Read the ``x-ratelimit`` headers; None where the server sends none."""
    found = RateLimits(
        _count(headers.get("x-ratelimit-remaining-requests")),
        seconds(headers.get("x-ratelimit-reset-requests")),
        _count(headers.get("x-ratelimit-remaining-tokens")),
        seconds(headers.get("x-ratelimit-reset-tokens")),
    )
    return None if found == RateLimits() else found


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds that the server asks to wait; a date counts from now (RFC 9110)."""
    wait = _asked_wait(headers)
    return None if wait is None else min(wait, LONGEST_WAIT_S)


def _asked_wait(headers: Mapping[str, str]) -> float | None:
    of_milliseconds = seconds(headers.get("retry-after-ms"))
    if of_milliseconds is not None:
        return of_milliseconds / 1000
    word = headers.get("retry-after")
    number = seconds(word)
    if number is not None or word is None:
        return number
    try:
        until = parsedate_to_datetime(word)
    except (ValueError, OverflowError):
        return None
    until = until if until.tzinfo else until.replace(tzinfo=UTC)
    return max(0.0, (until - datetime.now(UTC)).total_seconds())
