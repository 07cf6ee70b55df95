"""Explain a failed request in one line with what to do: HTTP errors, lost connections."""

from __future__ import annotations

import json
import math
import re
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, Final

from rexview.models.backend import AttemptFailed, FailureCause, RateLimits
from rexview.untrusted_input import printable_text

# Limits in headers, and how long to wait.

_PART = re.compile(r"(\d+(?:\.\d+)?)(ms|us|µs|ns|h|m|s|d)")
MAX_SERVER_WAIT_S = 86_400.0
"""Longest wait for a server, a day, whatever it asks for."""
_MOST_DIGITS = 18
_SECONDS = {"d": 86_400, "h": 3600, "m": 60, "s": 1, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9}


def read_duration(word: str | None) -> float | None:
    """Return a duration (``6m0s``, ``20ms``, ``1.5``) in seconds, None if it is none."""
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


def read_rate_limits(headers: Mapping[str, str]) -> RateLimits | None:
    """Read the ``x-ratelimit`` headers; None if the server sends none."""
    found = RateLimits(
        _count(headers.get("x-ratelimit-remaining-requests")),
        read_duration(headers.get("x-ratelimit-reset-requests")),
        _count(headers.get("x-ratelimit-remaining-tokens")),
        read_duration(headers.get("x-ratelimit-reset-tokens")),
    )
    return None if found == RateLimits() else found


def read_retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds that the server asks to wait; a date is relative to now (RFC 9110)."""
    wait = _asked_wait(headers)
    return None if wait is None else min(wait, MAX_SERVER_WAIT_S)


def _asked_wait(headers: Mapping[str, str]) -> float | None:
    of_milliseconds = read_duration(headers.get("retry-after-ms"))
    if of_milliseconds is not None:
        return of_milliseconds / 1000
    word = headers.get("retry-after")
    number = read_duration(word)
    if number is not None or word is None:
        return number
    try:
        until = parsedate_to_datetime(word)
    except (ValueError, OverflowError):
        return None
    until = until if until.tzinfo else until.replace(tzinfo=UTC)
    return max(0.0, (until - datetime.now(UTC)).total_seconds())


# Content from a server as plain values: of any type and size, and perhaps with a key in it.

MAX_MESSAGE: Final = 300
"""Characters of a server's words in a message."""
MAX_RAW_TEXT: Final = 20_000
"""Characters of each text of a failed attempt that are kept in the log."""
_MOST_COUNT: Final = 10**12
_MOST_DEEP: Final = 20
_MOST_ITEMS: Final = 200
_MASK: Final = "[key]"
_KEY_LIKE: Final = re.compile(
    r"(?i)\bbearer\s+[^\s\"',;]{6,}"
    r"|\b(?:sk|rk|pk|hf|gsk|xai|nvapi|key)[-_][A-Za-z0-9_*.\-]{6,}"
    r"|\bAIza[A-Za-z0-9_\-]{10,}"
)


def parse_untrusted(content: bytes) -> tuple[Any, bool]:
    """Return JSON as plain values, otherwise the text, and whether it was JSON.

    An unpaired surrogate, which no file could store, becomes a question mark.
    """
    try:
        value = json.loads(content)
        if b"\\ud" in content.lower():
            value = json.loads(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return content.decode("utf-8", "replace"), False
    return value, True


def text_or_none(value: Any) -> str | None:
    """Return a text, None for anything else."""
    return value if isinstance(value, str) else None


def count_or_none(value: Any) -> int | None:
    """Return a count, None for anything else."""
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    return value if 0 <= value <= _MOST_COUNT else None  # a table stores no larger number


def object_fields(value: Any) -> Mapping[str, Any]:
    """Return an object's fields; empty if it is no object."""
    return value if isinstance(value, dict) else {}


def list_items(value: Any) -> list[Any]:
    """Return a list's items; empty if it is no list."""
    return value if isinstance(value, list) else []


def mask_keys(words: str, key: str | None) -> str:
    """Return a text without the key, and without anything that looks like one."""
    if key and len(key) >= 4:
        words = words.replace(key, _MASK)
    return _KEY_LIKE.sub(_MASK, words)


def short_line(words: str, key: str | None) -> str:
    """Return a server's words for a message: short, on one line, without keys."""
    line = printable_text(" ".join(mask_keys(words[: 10 * MAX_MESSAGE], key).split()))
    return line if len(line) <= MAX_MESSAGE else line[: MAX_MESSAGE - 1] + "…"


def error_for_log(value: Any, key: str | None, deep: int = 0) -> Any:
    """Return the body of an error for the log: without keys, and of bounded size."""
    if isinstance(value, str):
        words = mask_keys(value[: 2 * MAX_RAW_TEXT], key)
        return words if len(words) <= MAX_RAW_TEXT else words[:MAX_RAW_TEXT] + "…"
    if isinstance(value, (dict, list)) and deep >= _MOST_DEEP:
        return "…"
    if isinstance(value, dict):
        some = list(value.items())[:_MOST_ITEMS]
        return {
            mask_keys(str(name)[:200], key): error_for_log(each, key, deep + 1)
            for name, each in some
        }
    if isinstance(value, list):
        return [error_for_log(each, key, deep + 1) for each in value[:_MOST_ITEMS]]
    return value


POLICY_CODES: Final = frozenset(
    (
        *("invalid_prompt", "content_filter", "content_policy_violation", "bio_policy"),
        *("misalignment_policy_violation", "image_content_policy_violation"),
        *("responsibleaipolicyviolation", "moderation_blocked"),
    )
)
"""Error codes of a question blocked for its content: final, and no failure."""
IMAGE_CODES: Final = frozenset(
    (
        *("invalid_image", "invalid_image_format", "invalid_base64_image", "invalid_image_url"),
        *("image_too_large", "image_too_small", "image_parse_error", "invalid_image_mode"),
        *("image_file_too_large", "unsupported_image_media_type", "empty_image_file"),
        *("failed_to_download_image", "image_file_not_found"),
    )
)
_NO_MONEY: Final = frozenset(("insufficient_quota", "billing_hard_limit_reached"))
_TOO_LONG: Final = re.compile(
    r"context[ _](?:length|window|size)|maximum (?:context|input|model)|too many (?:input )?tokens"
    r"|prompt is too long|exceeds? the (?:available )?context",
    re.IGNORECASE,
)
_LIMIT_TOO_HIGH: Final = re.compile(
    r"max_(?:output_|completion_)?tokens\b.*(?:cannot|greater|large|exceed|at most|too)",
    re.IGNORECASE,
)
_ABOUT_IMAGES: Final = re.compile(r"\b(?:image|vision|multi-?modal|mmproj)", re.IGNORECASE)
_NO_SUCH_MODEL: Final = re.compile(
    r"does not exist|not (?:been )?found|(?:no such|unknown|invalid|not a valid) model"
    r"|pinned to|(?:not|no) (?:have )?access",
    re.IGNORECASE,
)
_TOO_LARGE_FOR_LIMIT: Final = re.compile(r"request too large", re.IGNORECASE)


@dataclass(frozen=True)
class ServerError:
    """An error that a server reported.

    ``status`` is None for an error within an answer.
    """

    status: int | None
    body: Any
    headers: Mapping[str, str]

    @property
    def error(self) -> Mapping[str, Any]:
        """The error's own fields, wherever the server puts them."""
        body = object_fields(self.body)
        return object_fields(body.get("error")) or body

    @property
    def code(self) -> str:
        """The error's code or type in lower case; empty if there is none."""
        error = self.error
        for name in ("code", "type"):
            word = text_or_none(error.get(name))
            if word:
                return word.casefold()
        return ""

    @property
    def message(self) -> str:
        """The server's message."""
        error = object_fields(self.body).get("error")
        for value in (self.error.get("message"), error, self.error.get("detail"), self.body):
            if words := text_or_none(value):
                return "" if words.lstrip().startswith("<") else words  # a proxy's HTML page
        return str(self.body) if self.body else ""

    @property
    def param(self) -> str:
        """The field that the server names, empty if it names none."""
        return text_or_none(self.error.get("param")) or ""

    @property
    def blocked(self) -> bool:
        """Whether the question was blocked for its content."""
        inner = text_or_none(object_fields(self.error.get("innererror")).get("code")) or ""
        return bool({self.code, inner.casefold()} & POLICY_CODES)


@dataclass(frozen=True)
class RequestTarget:
    """Server and model of a request, for messages. ``key_name`` is the variable of the key."""

    host: str
    path: str
    model: str
    key: str | None
    key_name: str
    other_api: str


def http_failure(told: ServerError, asked: RequestTarget) -> AttemptFailed:
    """Return the failure for an HTTP error, or for an error within an answer."""
    kind, advice, again, stops_all = _classify_error(told, asked)
    words = short_line(told.message, asked.key)
    said = f" It says: {words}" if words and kind != "key" else ""
    wait = read_retry_after(told.headers)
    return AttemptFailed(
        kind,
        f"{advice}{said}",
        again=again,
        stops_all=stops_all,
        retry_after_s=wait if again else None,
        limits=read_rate_limits(told.headers),
        maybe_paid=told.status in (408, 502, 504, 524)
        or (told.status is None and kind == "server"),
        raw={
            "status": told.status,
            "code": told.code or None,
            "request_id": told.headers.get("x-request-id"),
            "body": error_for_log(told.body, asked.key),
        },
    )


def _classify_error(
    told: ServerError, asked: RequestTarget
) -> tuple[FailureCause, str, bool, bool]:
    """Return kind, advice, whether to ask again, and whether it stops the run."""
    status, code, words, host = told.status, told.code, told.message, asked.host
    if code in _NO_MONEY or status == 402:
        advice = f"The account at {host} has no credit left: add some, then resume."
        return "rate_limit", advice, False, True
    if status == 429 and _TOO_LARGE_FOR_LIMIT.search(words):  # waiting does not help
        advice = f"A request is larger than the tokens a minute at {host}: send fewer images."
        return "request", advice, False, False
    if status == 429 or code == "rate_limit_exceeded":
        return "rate_limit", f"{host} takes no more requests for now.", True, False
    if code in IMAGE_CODES:
        return "image", f"{host} did not accept an image.", False, False
    if code == "model_not_found" or (
        status in (400, 403, 404) and asked.model in words and _NO_SUCH_MODEL.search(words)
    ):
        advice = f"{host} does not know the model {asked.model}: check its name and your access."
        return "model", advice, False, True
    if status == 401 or code == "invalid_api_key":
        return "key", f"{host} did not accept the key: set {asked.key_name} to a valid one.", *_END
    if status == 403:
        advice = f"{host} does not allow this with the key in {asked.key_name}."
        return "key", advice, False, True
    if status == 404 or status in (405, 501):
        advice = (
            f"{host} has no {asked.path}: check the base URL, which mostly ends with /v1, or try "
            f"--api {asked.other_api}."
        )
        return "request", advice, False, True
    if status is not None and 300 <= status < 400:
        advice = f"{host} sends requests elsewhere, which is not followed: give the final base URL."
        return "request", advice, False, True
    if status == 408:
        return "timeout", f"{host} gave up waiting.", True, False
    if status == 413:
        advice = f"The request is too large for {host}: send fewer or smaller images."
        return "request", advice, False, False
    if code == "data_residency_mismatch":
        return "request", f"{host} does not serve this account from here.", *_END
    if status is None or status >= 500 or status in (409, 425):
        return "server", f"{host} failed.", True, False
    return _classify_bad_request(words, code, host)


_END: Final = (False, True)


def _classify_bad_request(words: str, code: str, host: str) -> tuple[FailureCause, str, bool, bool]:
    if _LIMIT_TOO_HIGH.search(words):
        advice = f"{host} does not allow so many output tokens: lower --max-output-tokens."
        return "request", advice, False, False
    if code == "context_length_exceeded" or _TOO_LONG.search(words):
        advice = "The question with its images is longer than the model takes: send fewer images."
        return "request", advice, False, False
    if _ABOUT_IMAGES.search(words):
        return "image", f"{host} did not accept an image.", False, False
    return "request", f"{host} did not accept the request.", False, False


def connection_failure(
    error: BaseException, asked: RequestTarget, timeout_s: float
) -> AttemptFailed:
    """Return the failure for a connection that failed or broke off; the cause decides."""
    import httpx2

    causes = [error]
    while (cause := causes[-1].__cause__ or causes[-1].__context__) and len(causes) < 10:
        causes.append(cause)

    def has(*kinds: type[BaseException]) -> bool:
        return any(isinstance(each, kinds) for each in causes)

    host, again, stops_all, paid = asked.host, True, False, True
    kind: FailureCause = "network"
    if has(httpx2.ConnectTimeout, httpx2.PoolTimeout):
        message, paid = f"No connection to {host} came about: check network and base URL.", False
    elif has(httpx2.TimeoutException):
        kind = "timeout"
        message = f"{host} did not answer within {timeout_s:g} s; it may still have worked on it."
    elif has(ssl.SSLError):
        message = f"The connection to {host} is not safe: its certificate is not accepted."
        again, stops_all, paid = False, True, False
    elif has(httpx2.UnsupportedProtocol, httpx2.InvalidURL, httpx2.LocalProtocolError):
        kind, message = "setup", f"Nothing can be sent to {host}: check base URL and key."
        again, stops_all, paid = False, True, False
    elif has(httpx2.ConnectError, httpx2.ProxyError):
        message = f"There is no connection to {host}: is the server running, and the network there?"
        paid = False
    elif has(httpx2.DecodingError):
        kind = "server"
        message = f"{host} sent an answer that cannot be read."
    else:
        message = f"The connection to {host} ended before the answer was there."
    return AttemptFailed(
        kind,
        message,
        again=again,
        stops_all=stops_all,
        maybe_paid=paid,
        raw={"error": [type(each).__name__ for each in causes]},
    )
