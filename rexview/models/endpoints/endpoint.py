"""Ask a model behind an OpenAI-compatible endpoint, through either API."""

from __future__ import annotations

import re
import ssl
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from rexview.models.backend import AttemptFailed, ModelRequest, Parameters, Reply
from rexview.models.endpoints import chat_completions, request_errors, responses_api
from rexview.models.endpoints.model_output import outcome_of
from rexview.models.endpoints.request_errors import (
    RequestTarget,
    ServerError,
    connection_failure,
    error_for_log,
    http_failure,
    object_fields,
    parse_untrusted,
    text_or_none,
)
from rexview.models.endpoints.server_addresses import ServerAddress, check_base_url
from rexview.request_deadline import limit_request_time

if TYPE_CHECKING:
    import httpx2
    import openai


# The openai package, limited to one attempt, one server, and answers of bounded size.
#
# It is imported when the first endpoint is made: it is slow to import, and most of the app needs no
# model.

MAX_BODY_BYTES: Final = 64_000_000
"""Limit for one answer, pictures included; results of a batch have their own."""
_CONNECT_S: Final = 20.0
_OF_OPENAI: Final = ("OpenAI-Organization", "OpenAI-Project")
_NO_KEY: Final = "none"


class BodyTooLarge(Exception):
    """A server sends more than the limit."""


def make_openai_client(
    address: ServerAddress, key: str | None, connections: int, timeout_s: float, most_bytes: int
) -> openai.OpenAI:
    """Return a client that does not retry, follows no redirect and limits the size of a body.

    Parameters
    ----------
    address : ServerAddress
        Server to ask; a server on this machine is never asked through a proxy.
    key : str or None
        None for servers without keys.
    connections : int
        How many requests run at once.
    timeout_s : float
        Seconds after which an attempt is given up, with no answer or an unfinished one.
    most_bytes : int
        Limit for one body.

    Raises
    ------
    AttemptFailed
        Of kind ``setup`` if openai is not installed.
    """
    try:
        import httpx2
        import openai
    except ImportError:
        raise AttemptFailed(
            "setup",
            "The package openai is not installed: pip install -r requirements.txt.",
            stops_all=True,
        ) from None

    def bound(response: httpx2.Response) -> None:
        if response.headers.get("content-encoding", "identity") != "identity":
            raise httpx2.DecodingError("compressed although asked not to", request=response.request)
        response.stream = _bounded_stream(response.stream, most_bytes)

    is_plain = address.is_this_machine and address.url.startswith("http://")
    http_client = openai.DefaultHttpxClient(
        limits=httpx2.Limits(
            max_connections=connections + 2, max_keepalive_connections=connections + 2
        ),
        timeout=httpx2.Timeout(timeout_s, connect=min(_CONNECT_S, timeout_s)),
        follow_redirects=False,
        trust_env=not address.is_this_machine,
        verify=_no_tls() if is_plain else True,
        headers={"accept-encoding": "identity"},
        event_hooks={"response": [bound]},
    )
    limit_request_time(http_client, timeout_s)
    # account ids in the environment are meant for OpenAI only
    elsewhere: Any = {} if address.is_openai else dict.fromkeys(_OF_OPENAI, openai.Omit())
    return openai.OpenAI(
        api_key=key or _NO_KEY,
        default_headers=elsewhere,
        base_url=address.url,
        max_retries=0,
        timeout=httpx2.Timeout(timeout_s, connect=min(_CONNECT_S, timeout_s)),
        http_client=http_client,
    )


def _no_tls() -> ssl.SSLContext:
    """Return a context without certificates, for plain HTTP: loading them takes time."""
    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


def _bounded_stream(stream: Any, most_bytes: int) -> Any:
    """Return a response's stream that raises if it is too long."""
    import httpx2

    class Bounded(httpx2.SyncByteStream):
        def __iter__(self) -> Iterator[bytes]:
            count = 0
            for piece in stream:
                count += len(piece)
                if count > most_bytes:
                    raise BodyTooLarge
                yield piece

        def close(self) -> None:
            stream.close()

    return Bounded()


_ENDPOINT_OF_OPENAI: Final = "OPENAI_API_KEY"
NO_SCHEMA_NOTE: Final = "The server did not take the JSON schema: asked without it."
_ABOUT_SCHEMA: Final = re.compile(
    r"response_format|text\.format|json_?schema|structured.output|guided|grammar|\bschema", re.I
)


@dataclass(frozen=True)
class SuccessBody:
    """A body that arrived with status 200."""

    body: Mapping[str, Any]
    headers: Mapping[str, str]


class Endpoint:
    """Asks one server for one model; several threads may call it at once.

    Parameters
    ----------
    parameters : Parameters
        ``api`` is ``responses`` or ``chat``. ``base_url`` None is OpenAI's own.
    key : str or None
        The key, if the server needs one; it is never stored.
    key_name : str
        Variable of the key, for messages.
    connections : int
        How many requests run at once.

    Attributes
    ----------
    warnings
        Warnings for the user before anything is sent.

    Raises
    ------
    AttemptFailed
        Of kind ``setup`` or ``key`` if this configuration can ask nothing.
    """

    batch = 1
    calls: int | None = None
    most_bytes = MAX_BODY_BYTES

    def __init__(
        self,
        parameters: Parameters,
        *,
        key: str | None = None,
        key_name: str = _ENDPOINT_OF_OPENAI,
        connections: int = 32,
    ) -> None:
        self.address = check_base_url(parameters.base_url)
        _check_parameters(parameters, self.address, key, key_name)
        self.parameters = parameters
        warnings = (self.address.warning, _key_warning(self.address, key, key_name))
        self.warnings = tuple(words for words in warnings if words)
        is_chat = parameters.api == "chat"
        self.path = chat_completions.CHAT_PATH if is_chat else responses_api.RESPONSES_PATH
        self._asked = RequestTarget(
            host=self.address.host,
            path=self.path,
            model=parameters.model,
            key=key,
            key_name=key_name,
            other_api="chat" if parameters.api == "responses" else "responses",
        )
        self._key = key
        self._read_body = (
            chat_completions.read_chat_body if is_chat else responses_api.read_responses_body
        )
        self.client = make_openai_client(
            self.address, key, connections, parameters.timeout_s, self.most_bytes
        )
        self._create: Any = (
            self.client.responses.with_raw_response.create
            if parameters.api == "responses"
            else self.client.chat.completions.with_raw_response.create
        )
        self._takes_schema: bool | None = None  # unknown until the server has answered
        self._limit_name: chat_completions.LimitName = (
            "max_completion_tokens" if self.address.is_openai else "max_tokens"
        )

    def ask(self, requests: Sequence[ModelRequest]) -> list[Reply | AttemptFailed]:
        """Ask for each request in turn.

        If the server rejects a part of a request (a schema, the name of the limit), it is asked
        again at once without that part. The reply's notes report this, and it is remembered.
        """
        return [self._ask(request) for request in requests]

    def close(self) -> None:
        """Close the connections."""
        self.client.close()

    def client_for_files(self, timeout_s: float, most_bytes: int) -> openai.OpenAI:
        """Return another client of the same server for large bodies; the caller closes it."""
        longest = max(timeout_s, self.parameters.timeout_s)
        return make_openai_client(self.address, self._key, 1, longest, most_bytes)

    def body_of(self, request: ModelRequest, *, structured: bool = True) -> dict[str, Any]:
        """Return the body to send, by what is known of the server so far."""
        structured = structured and self.parameters.structured and self._takes_schema is not False
        if self.parameters.api == "responses":
            return responses_api.responses_body(request, structured=structured)
        body = chat_completions.chat_body(
            request, structured=structured, limit_name=self._limit_name
        )
        return {**body, "store": False} if self.address.is_openai else body

    def read(self, status: int, body: Any, headers: Mapping[str, str]) -> Reply | AttemptFailed:
        """Read a JSON body, received by HTTP or in the file of a batch."""
        came = _classify_body(status, body, headers)
        return self._reply(came) if isinstance(came, SuccessBody) else self._settled(came)

    def failed(self, error: Exception) -> AttemptFailed:
        """Return the failure for an error of the openai package."""
        import httpx2
        import openai

        if isinstance(error, openai.APIStatusError):
            return http_failure(_error_of_response(error.response), self._asked)
        if isinstance(error, (openai.APIConnectionError, httpx2.HTTPError, httpx2.InvalidURL)):
            return connection_failure(error, self._asked, self.parameters.timeout_s)
        if isinstance(error, BodyTooLarge):
            size = f"{self.most_bytes / 1e6:g} MB"
            message = f"{self.address.host} sent more than {size}, which is not taken."
            return AttemptFailed("server", message, maybe_paid=True)
        kind = type(error).__name__
        return AttemptFailed("setup", f"The request could not be sent ({kind}).")

    def _ask(self, request: ModelRequest) -> Reply | AttemptFailed:
        notes: list[str] = []
        with_schema = True
        for _ in range(3):  # as it is, with the limit's other name, without the schema
            body = self.body_of(request, structured=with_schema)
            schema_sent = bool({"text", "response_format"} & body.keys())
            begun = time.monotonic()
            came = self._send(body)
            latency = round(time.monotonic() - begun, 4)
            if isinstance(came, AttemptFailed):
                return came
            if isinstance(came, SuccessBody):
                if request.schema is not None and self.parameters.structured:
                    if not schema_sent:
                        notes.append(NO_SCHEMA_NOTE)
                    if self._takes_schema is None:
                        self._takes_schema = schema_sent
                reply = self._reply(came)
                return replace(reply, latency_s=latency, notes=tuple(notes))
            settled = self._settled(came)
            if schema_sent and self._may_be_the_schema(came):
                with_schema = False
            elif not self._other_limit_name(came, body):
                return settled
        return settled

    def _other_limit_name(self, told: ServerError, body: Mapping[str, Any]) -> bool:
        """Switch to the other name of the limit, if the server complains about the name."""
        if told.status not in (400, 422):
            return False
        names: tuple[chat_completions.LimitName, chat_completions.LimitName] = (
            "max_tokens",
            "max_completion_tokens",
        )
        for used, other in (names, names[::-1]):
            said = told.param == used or (used in told.message and other in told.message)
            if used in body and said:  # not the current name: another thread may have changed it
                self._limit_name = other
                return True
        return False

    def _may_be_the_schema(self, told: ServerError) -> bool:
        if told.status not in (400, 422, 500, 501) or told.blocked:
            return False
        if _ABOUT_SCHEMA.search(f"{told.param} {told.message}"):
            return True  # llama-cpp-python sends status 500 for it
        # some servers only report "bad request"
        unknown = self._takes_schema is not True and told.status < 500
        return unknown and http_failure(told, self._asked).kind == "request"

    def _send(self, body: Mapping[str, Any]) -> SuccessBody | ServerError | AttemptFailed:
        import openai

        host = self.address.host
        try:
            # transformers serve streams responses unless told not to
            response = self._create(**body, stream=False).http_response
            content = response.content
        except openai.APIStatusError as error:
            return _error_of_response(error.response)
        except Exception as error:  # one error must not end a run of many cases
            return self.failed(error)
        found, is_json = parse_untrusted(content)
        if is_json and isinstance(found, dict):
            return _classify_body(200, found, response.headers)
        if isinstance(found, str) and found.lstrip()[:1] == "<":
            message = f"{host} answers with a web page: check the base URL, which mostly ends /v1."
            return AttemptFailed("request", message, stops_all=True, raw={"body": found[:2000]})
        return AttemptFailed(
            "server",
            f"{host} sent an answer that is not JSON.",
            again=True,
            maybe_paid=True,
            limits=request_errors.read_rate_limits(response.headers),
            raw={"body": error_for_log(found, self._asked.key)},
        )

    def _reply(self, came: SuccessBody) -> Reply:
        said, raw = self._read_body(came.body, self.parameters.max_output_tokens)
        return Reply(
            outcome=outcome_of(said),
            text=said.text or said.refusal or "",
            finish_reason=said.word,
            refusal=said.refusal,
            usage=said.usage,
            model_served=text_or_none(came.body.get("model")),
            request_id=came.headers.get("x-request-id") or text_or_none(came.body.get("id")),
            service_tier=text_or_none(came.body.get("service_tier")),
            pictures=said.pictures,
            limits=request_errors.read_rate_limits(came.headers),
            raw=raw,
        )

    def _settled(self, told: ServerError) -> Reply | AttemptFailed:
        """Return the failure; for a blocked question, a filtered answer."""
        if not told.blocked:
            return http_failure(told, self._asked)
        return Reply(
            outcome="filtered",
            text="",
            finish_reason=told.code,
            request_id=told.headers.get("x-request-id"),
            limits=request_errors.read_rate_limits(told.headers),
            raw=object_fields(error_for_log(object_fields(told.body), self._asked.key)),
        )


def _error_of_response(response: Any) -> ServerError:
    return ServerError(response.status_code, parse_untrusted(response.content)[0], response.headers)


def _classify_body(status: int, body: Any, headers: Mapping[str, str]) -> SuccessBody | ServerError:
    """Separate answers from errors, which some servers send with status 200."""
    if status != 200 or not isinstance(body, dict):
        return ServerError(status, body, headers)
    answered = body.get("output") or body.get("choices")
    if body.get("status") == "failed" or (body.get("error") and not answered):
        return ServerError(None, body, headers)
    return SuccessBody(body, headers)


def _key_warning(address: ServerAddress, key: str | None, key_name: str) -> str | None:
    """Return a warning if a key that may be OpenAI's goes to another server."""
    if address.is_openai or key_name != _ENDPOINT_OF_OPENAI or not (key or "").startswith("sk-"):
        return None
    return (
        f"The key in {key_name} goes to {address.host}. If it is not the key of that server, name "
        "the variable of the right one in models.yaml (key_variable)."
    )


def _check_parameters(
    parameters: Parameters, address: ServerAddress, key: str | None, key_name: str
) -> None:
    """Refuse parameters that this endpoint does not support."""
    fault = None
    if parameters.api == "transformers":
        fault = "A local model has no base URL: leave --base-url out."
    elif parameters.api == "responses" and parameters.seed is not None:
        fault = "The Responses API takes no seed: leave it out, or use --api chat."
    elif not parameters.timeout_s > 0:
        fault = "The time limit must be more than 0 seconds."
    if fault is not None:
        raise AttemptFailed("setup", fault, stops_all=True)
    if key is None and address.is_openai:
        fault = f"There is no key for {address.host}: set the environment variable {key_name}."
    elif key is not None and not (key.isascii() and key.isprintable() and " " not in key):
        fault = f"The key in {key_name} has letters that no key has: copy it again."
    if fault is not None:
        raise AttemptFailed("key", fault, stops_all=True)
