"""Worker program that runs a model on its machine: requests in, replies out."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, NamedTuple

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[3]))  # run by its path: find rexview

from rexview.child_process import serve_requests
from rexview.disk_cache import cache_code_version
from rexview.models.backend import AttemptFailed, Card, ModelRequest, Parameters, Reply
from rexview.models.local.local_model import LocalModel
from rexview.models.local.model_files import REQUIRED_PACKAGES, MemoryNeeds

WorkerInput = Sequence[ModelRequest] | bool
"""Requests; or a bool: prepare, and whether files may be downloaded."""
Answer = list[Reply | AttemptFailed] | MemoryNeeds | AttemptFailed


class ModelArguments(NamedTuple):
    """The arguments of a worker's :class:`.LocalModel`."""

    parameters: Parameters
    card: Card
    batch: int


@cache
def model_version() -> str:
    """Return the version of the code and packages that decide a model's answers."""
    here = Path(__file__).resolve().parents[1]
    return cache_code_version(here.rglob("*.py"), *map(_installed, REQUIRED_PACKAGES))


def _installed(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def begin(held: ModelArguments) -> tuple[str, Callable[[WorkerInput], Answer]]:
    """Set up the model; return the code version and a function that answers requests."""
    model: list[LocalModel] = []

    def answer(asked: WorkerInput) -> Answer:
        try:
            if not model:
                model.append(LocalModel(*held))
            if isinstance(asked, bool):
                return model[0].prepare(download=asked)
        except AttemptFailed as failure:
            return failure
        return model[0].ask(asked)

    return model_version(), answer


def replies_of(answer: Any, requests: int) -> list[Reply | AttemptFailed]:
    """Return a worker's replies; if it failed as a whole, its failure once for each request."""
    return [answer] * requests if isinstance(answer, AttemptFailed) else answer


if __name__ == "__main__":
    seconds, _ = sys.argv[1:]
    serve_requests(begin, int(seconds), "behind")
