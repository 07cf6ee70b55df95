"""Ask a model that several workers have loaded, on this machine or on others."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Final

from rexview.child_process import ProcessDied, ProcessUnusable
from rexview.models.backend import AttemptFailed, Card, ModelRequest, Parameters, Reply
from rexview.models.local.local_model import LocalModel
from rexview.models.local.model_files import MemoryNeeds, missing_packages, setup_failure
from rexview.models.local.worker import ModelArguments, begin, model_version, replies_of
from rexview.spread.workers import WorkerJob, WorkerPool, WorkerProvider

_LOG: Final = logging.getLogger(__name__)


class DistributedModel:
    """A model that each worker loads at its first request; see :class:`.LocalModel`.

    If two workers died over a batch, the batch is asked again in halves, down to single requests. A
    request that fails alone gets no answer; all others get theirs.

    Raises
    ------
    AttemptFailed
        Of kind ``setup`` if this configuration can ask nothing.
    """

    def __init__(
        self, parameters: Parameters, card: Card, batch: int, spread: WorkerProvider
    ) -> None:
        if (missing := missing_packages()) is not None:
            raise setup_failure(missing)
        self.batch = LocalModel(parameters, card, batch).batch
        job = WorkerJob(
            begin,
            ModelArguments(parameters, card, batch),
            model_version,
            "asks a model",
            holds_model=True,
        )
        self._workers: Final = WorkerPool(spread, job)
        self.calls: int | None = self._workers.count

    def prepare(self, *, download: bool = False) -> list[MemoryNeeds]:
        """Find the model's files on every worker, and return the memory needed there.

        Raises
        ------
        AttemptFailed
            A worker cannot load it; the message says what to do.
        """
        try:
            found = self._workers.ask_each(download)
        except (ProcessDied, ProcessUnusable) as error:
            raise setup_failure(str(error)) from None
        for one in found:
            if isinstance(one, AttemptFailed):
                raise one
        return found

    def ask(self, requests: Sequence[ModelRequest]) -> list[Reply | AttemptFailed]:
        """Ask the first free worker."""
        try:
            return replies_of(self._workers.ask(list(requests)), len(requests))
        except ProcessUnusable as error:
            return [setup_failure(str(error))] * len(requests)
        except ProcessDied:
            if len(requests) == 1:
                words = "Two workers died over it: send fewer or smaller images."
                return [AttemptFailed("request", words)]
            _LOG.warning("A worker died over %s cases: they are asked in halves.", len(requests))
        half = -(-len(requests) // 2)
        return [*self.ask(requests[:half]), *self.ask(requests[half:])]

    def close(self) -> None:
        """End the workers."""
        self._workers.kill()
        self._workers.close()
