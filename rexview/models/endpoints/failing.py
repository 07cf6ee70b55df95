"""Why there is no answer, in one line that says what to do: HTTP errors, lost connections."""

from __future__ import annotations

import re
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from rexview.models.endpoints import limits
from rexview.models.endpoints.untrusted import fields, kept, one_line, text
from rexview.models.reply import AttemptFailed, Failing

POLICY_CODES: Final = frozenset(
    (
        *("invalid_prompt", "content_filter", "content_policy_violation", "bio_policy"),
        *("misalignment_policy_violation", "image_content_policy_violation"),
        *("responsibleaipolicyviolation", "moderation_blocked"),
    )
)
"""Error codes of a question that was blocked for what it says or shows: final, and no failure."""
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
class Told:
    """What a server said that it will not do.

    ``status`` is None for an error that came within an answer.
    """

    status: int | None
    body: Any
    headers: Mapping[str, str]

    @property
    def error(self) -> Mapping[str, Any]:
        """The error's own fields, wherever the server puts them."""
        body = fields(self.body)
        return fields(body.get("error")) or body

    @property
    def code(self) -> str:
        """The error's code or type, folded; empty where there is none."""
        error = self.error
        for name in ("code", "type"):
            word = text(error.get(name))
            if word:
                return word.casefold()
        return ""

    @property
    def message(self) -> str:
        """The server's words."""
        error = fields(self.body).get("error")
        for value in (self.error.get("message"), error, self.error.get("detail"), self.body):
            if words := text(value):
                return "" if words.lstrip().startswith("<") else words  # a proxy's page
        return str(self.body) if self.body else ""

    @property
    def param(self) -> str:
        """The field that the server names, empty where it names none."""
        return text(self.error.get("param")) or ""

    @property
    def blocked(self) -> bool:
        """Whether the question was blocked for what it says or shows."""
        inner = text(fields(self.error.get("innererror")).get("code")) or ""
        return bool({self.code, inner.casefold()} & POLICY_CODES)


@dataclass(frozen=True)
class Asked:
    """Whom was asked what: for messages. ``key_name`` is the variable that the key came from."""

    host: str
    path: str
    model: str
    key: str | None
    key_name: str
    other_api: str


def refused(told: Told, asked: Asked) -> AttemptFailed:
    """Return the failure for an HTTP error, or for an error within an answer."""
    kind, advice, again, stops_all = _judged(told, asked)
    words = one_line(told.message, asked.key)
    said = f" It says: {words}" if words and kind != "key" else ""
    wait = limits.retry_after(told.headers)
    return AttemptFailed(
        kind,
        f"{advice}{said}",
        again=again,
        stops_all=stops_all,
        retry_after_s=wait if again else None,
        limits=limits.rate_limits(told.headers),
        maybe_paid=told.status in (408, 502, 504, 524)
        or (told.status is None and kind == "server"),
        raw={
            "status": told.status,
            "code": told.code or None,
            "request_id": told.headers.get("x-request-id"),
            "body": kept(told.body, asked.key),
        },
    )


def _judged(told: Told, asked: Asked) -> tuple[Failing, str, bool, bool]:
    """Return kind, advice, whether it may be asked again, and whether it stops all."""
    status, code, words, host = told.status, told.code, told.message, asked.host
    if code in _NO_MONEY or status == 402:
        advice = f"The account at {host} has no credit left: add some, then resume."
        return "rate_limit", advice, False, True
    if status == 429 and _TOO_LARGE_FOR_LIMIT.search(words):  # no waiting helps
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
    return _not_accepted(words, code, host)


_END: Final = (False, True)


def _not_accepted(words: str, code: str, host: str) -> tuple[Failing, str, bool, bool]:
    if _LIMIT_TOO_HIGH.search(words):
        advice = f"{host} does not allow so many output tokens: lower --max-output-tokens."
        return "request", advice, False, False
    if code == "context_length_exceeded" or _TOO_LONG.search(words):
        advice = "The question with its images is longer than the model takes: send fewer images."
        return "request", advice, False, False
    if _ABOUT_IMAGES.search(words):
        return "image", f"{host} did not accept an image.", False, False
    return "request", f"{host} did not accept the request.", False, False


def lost(error: BaseException, asked: Asked, timeout_s: float) -> AttemptFailed:
    """Return the failure for a connection that could not be made, or ended; the cause decides."""
    import httpx2

    causes = [error]
    while (cause := causes[-1].__cause__ or causes[-1].__context__) and len(causes) < 10:
        causes.append(cause)

    def has(*kinds: type[BaseException]) -> bool:
        return any(isinstance(each, kinds) for each in causes)

    host, again, stops_all, paid = asked.host, True, False, True
    kind: Failing = "network"
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
