"""What the log of a run says is at the server, by the events of :mod:`.batch`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass
class Job:
    """One shard, as far as it has come."""

    shard: str
    names: tuple[str, ...]
    file: str | None = None
    batch: str | None = None


def jobs_of(past: Iterable[Mapping[str, Any]]) -> tuple[list[Job], dict[str, list[str | None]]]:
    """Return the shards that are at the server, and files there of others, as the log says.

    Of a shard whose upload was not confirmed there is no batch: its requests are sent anew.
    """
    jobs: dict[str, Job] = {}
    to_clear: dict[str, list[str | None]] = {}
    for line in past:
        shard = str(line.get("shard"))
        match line.get("event"):
            case "batch_planned":
                jobs[shard] = Job(shard, tuple(map(str, line["names"])))
            case "batch_uploaded" if shard in jobs:
                jobs[shard].file = str(line["file"])
            case "batch_created" if shard in jobs:
                jobs[shard].batch = str(line["batch"])
            case "batch_ended":
                jobs.pop(shard, None)
                to_clear[shard] = line["files"]
            case "batch_cleared":
                to_clear.pop(shard, None)
    return [job for job in jobs.values() if job.file is not None], to_clear
