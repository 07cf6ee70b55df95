"""Read S3-compatible storage with botocore; credentials come only from the environment."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, NamedTuple

from rexview.addresses import RemoteAddress
from rexview.errors import StorageAway, StorageError, StorageMissing, StorageRefused
from rexview.remote.http_storage import (
    CHUNK,
    CONNECT_S,
    MAX_DOWNLOAD_SECONDS,
    SILENCE_LIMIT_S,
    DownloadSink,
)
from rexview.request_deadline import limit_storage_call_time, start_deadline

_CREDENTIAL_VARIABLES: Final = (
    "AWS_ACCESS_KEY_ID",
    "AWS_PROFILE",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI",
)
"""Variables of which any one provides credentials; without them, requests are not signed."""
_PAGE: Final = 1000
"""Objects that a storage lists in one answer."""
_MIN_BYTES_PER_SECOND: Final = 100_000
"""Bytes in a second: a slower download of a large file is given up."""
_INSTALL: Final = "Run pip install -r requirements-storage.txt."
_WRONG_KEY: Final = (
    "InvalidAccessKeyId",
    "SignatureDoesNotMatch",
    "ExpiredToken",
    "InvalidToken",
    "AuthorizationHeaderMalformed",
)


@dataclass(frozen=True)
class S3Object:
    """An object of a bucket: ``tag`` changes with its content, ``size`` is in bytes."""

    key: str
    tag: str
    size: int
    modified: float


def is_botocore_installed() -> bool:
    """Whether botocore is installed."""
    try:
        import botocore.session  # noqa: F401
    except ImportError:
        return False
    return True


@cache
def _client() -> Any:
    try:
        import botocore.session
        from botocore import UNSIGNED
        from botocore.config import Config
    except ImportError:
        raise StorageRefused(f"S3 storage cannot be read yet. {_INSTALL}") from None
    logging.getLogger("botocore").setLevel(logging.WARNING)
    environ = os.environ
    signed = any(environ.get(name) for name in _CREDENTIAL_VARIABLES)
    own_server = environ.get("AWS_ENDPOINT_URL_S3") or environ.get("AWS_ENDPOINT_URL")
    config = Config(
        connect_timeout=CONNECT_S,
        read_timeout=SILENCE_LIMIT_S,
        retries={"total_max_attempts": 2, "mode": "standard"},
        max_pool_connections=32,
        region_name=environ.get("AWS_REGION") or environ.get("AWS_DEFAULT_REGION") or "us-east-1",
        s3={"addressing_style": "path" if own_server else "auto"},
        **({} if signed else {"signature_version": UNSIGNED}),
    )
    client = botocore.session.get_session().create_client("s3", config=config)
    limit_storage_call_time(client, MAX_DOWNLOAD_SECONDS)
    return client


@contextmanager
def _translated_errors(address: RemoteAddress) -> Iterator[None]:
    """Turn errors of botocore into our own, with a sentence each."""
    try:
        from botocore import exceptions
        from urllib3.exceptions import HTTPError
    except ImportError:
        raise StorageRefused(f"S3 storage cannot be read yet. {_INSTALL}") from None
    where = address.origin
    try:
        yield
    except exceptions.ClientError as error:
        raise _fault_of(error.response, address) from None
    except (exceptions.ConnectTimeoutError, exceptions.ReadTimeoutError):
        raise StorageAway(f"{where} does not answer in time. Try again later.") from None
    except (exceptions.EndpointConnectionError, exceptions.ProxyConnectionError):
        raise StorageAway(f"{where} cannot be reached. Try again later.") from None
    except (exceptions.NoCredentialsError, exceptions.PartialCredentialsError):
        raise _not_allowed(address) from None
    except exceptions.ParamValidationError:
        raise StorageRefused(f"{where} cannot be the address of a bucket.") from None
    except (exceptions.HTTPClientError, exceptions.IncompleteReadError, HTTPError):
        raise StorageAway(f"The connection to {where} broke off. Try again.") from None
    except exceptions.BotoCoreError as error:
        raise StorageRefused(f"{where} cannot be asked ({type(error).__name__}).") from None


def _not_allowed(address: RemoteAddress) -> StorageRefused:
    return StorageRefused(
        f"{address.origin} does not let this computer read it. Whoever runs rexview looks at "
        "AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and the rights of that key."
    )


def _fault_of(response: Any, address: RemoteAddress) -> StorageError:
    where = address.origin
    code = str(response.get("Error", {}).get("Code", ""))
    status = int(response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0))
    if code == "NoSuchBucket":
        return StorageMissing(f"There is no bucket {where}.")
    if code in _WRONG_KEY:
        return StorageRefused(
            f"{where} does not know the key it was asked with. Whoever runs rexview corrects "
            "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY."
        )
    if status == 404:
        return StorageMissing(f"{where} has nothing at this address.")
    if status in (401, 403):
        return _not_allowed(address)
    if 300 <= status < 400:
        return StorageRefused(f"{where} is in another region. Set AWS_REGION to it.")
    if status >= 500 or status == 429:
        return StorageAway(f"{where} is out of order or busy (HTTP {status}). Try again later.")
    return StorageRefused(f"{where} refuses the request (HTTP {status}).")


def _tag(answer: Mapping[str, Any]) -> str:
    """Return an ETag without quotes; not all storages write them in lists."""
    return str(answer.get("ETag", "")).strip('"')


def fetch_object(
    address: RemoteAddress, known: str, out: DownloadSink, *, must_be: bool = False
) -> str | None:
    """Fetch an object; return its tag, None if it is unchanged.

    With ``must_be`` it is fetched only if its tag is ``known``.

    Raises
    ------
    StorageMissing, StorageAway, StorageRefused
    """
    asking = {"Bucket": address.host, "Key": address.path}
    if known:
        asking["IfMatch" if must_be else "IfNoneMatch"] = f'"{known}"'
    with _translated_errors(address):
        client = _client()
        try:
            answer = client.get_object(**asking)
        except client.exceptions.ClientError as error:
            status = error.response["ResponseMetadata"]["HTTPStatusCode"]
            if status == 304:
                return None
            if status == 412:
                raise StorageAway(f"{address.origin} is being written to. Try again.") from None
            raise
        body = answer["Body"]
        try:
            tag = _tag(answer)
            if known and tag == known and not must_be:
                return None  # this storage ignores conditions
            if must_be and known and tag != known:
                raise StorageAway(f"{address.origin} is being written to. Try again.")
            length = answer.get("ContentLength")
            out.expect(length)
            start_deadline(MAX_DOWNLOAD_SECONDS + (length or 0) / _MIN_BYTES_PER_SECOND)
            for chunk in body.iter_chunks(CHUNK):
                out.write(chunk)
            return tag
        finally:
            body.close()


class S3Listing(NamedTuple):
    """Content below a prefix: objects, and prefixes of the folders in it.

    ``is_whole`` means that nothing was left out.
    """

    objects: list[S3Object]
    folders: list[str]
    is_whole: bool


def list_objects(folder: RemoteAddress, most: int, *, deep: bool = True) -> S3Listing:
    """List the objects of a bucket below a prefix, up to about ``most`` objects or folders.

    Without ``deep`` only the objects and folders directly in that folder are listed.

    Raises
    ------
    StorageMissing, StorageAway, StorageRefused
    """
    prefix = f"{folder.path.rstrip('/')}/" if folder.path.strip("/") else ""
    asking: dict[str, Any] = {"Bucket": folder.host, "Prefix": prefix}
    asking["PaginationConfig"] = {"PageSize": min(most, _PAGE)}
    if not deep:
        asking["Delimiter"] = "/"
    objects: list[S3Object] = []
    folders: list[str] = []
    is_whole = True
    with _translated_errors(folder):
        for page in _client().get_paginator("list_objects_v2").paginate(**asking):
            objects += [
                S3Object(
                    one["Key"],
                    _tag(one),
                    int(one["Size"]),
                    one["LastModified"].timestamp(),
                )
                for one in page.get("Contents", ())
            ]
            folders += [one["Prefix"] for one in page.get("CommonPrefixes", ())]
            is_whole = not page.get("IsTruncated")
            if max(len(objects), len(folders)) >= most:
                break
    return S3Listing(objects, folders, is_whole)
