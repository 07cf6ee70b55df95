"""Report the progress of a run and pass requests to it, through two small files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, Final, Literal, get_args

from rexview.models.running.run_folder import (
    RunFolder,
    is_active_run,
    read_json,
    write_json_atomically,
)

RunState = Literal["starting", "running", "waiting", "paused", "finished", "cancelled", "broken"]
RUN_STATES: Final[tuple[RunState, ...]] = get_args(RunState)
ACTIVE_STATES: Final = frozenset({"starting", "running", "waiting", "paused"})
"""States of a run that a process works on."""
RunCommand = Literal["run", "pause", "cancel"]
RUN_COMMANDS: Final[tuple[RunCommand, ...]] = get_args(RunCommand)


@dataclass(frozen=True)
class RunProgress:
    """Progress of a run.

    Attributes
    ----------
    done, total
        Numbers of answers so far, and of answers wanted.
    outcomes, failed
        Answers by outcome, and given-up items by the kind of failure.
    per_minute, seconds_left
        Measured over the last minute; None while unknown.
    spent, unsure
        Billed cost, and cost that may come on top, as plain values of :class:`.RunCost`.
    waiting_for, waiting_until
        Why nothing is sent at the moment, and until when (ISO 8601).
    message
        One line about the ending, if it did not finish normally.
    lines
        The last messages, oldest first.
    """

    run: str
    model: str
    state: RunState = "starting"
    done: int = 0
    total: int = 0
    outcomes: Mapping[str, int] = field(default_factory=dict)
    failed: Mapping[str, int] = field(default_factory=dict)
    in_flight: int = 0
    per_minute: float | None = None
    seconds_left: float | None = None
    spent: Mapping[str, Any] = field(default_factory=dict)
    unsure: Mapping[str, Any] = field(default_factory=dict)
    budget: str | None = None
    waiting_for: str | None = None
    waiting_until: str | None = None
    message: str | None = None
    lines: tuple[str, ...] = ()
    pid: int | None = None
    host: str | None = None
    started: str | None = None
    updated: str | None = None

    @property
    def errors(self) -> int:
        """Number of items that failed."""
        return sum(self.failed.values())

    @property
    def at_work(self) -> bool:
        """Whether a process works on the run."""
        return self.state in ACTIVE_STATES


def write_progress(run: RunFolder, progress: RunProgress) -> None:
    """Write the progress of a run.

    Raises
    ------
    OSError
        It cannot be written; the file is unchanged.
    """
    write_json_atomically(run.progress, asdict(progress))


def read_progress(run: RunFolder, *, as_written: bool = False) -> RunProgress:
    """Read the progress of a run; one whose process died silently is broken.

    Values come from the file; a missing or damaged file gives none. With ``as_written`` the process
    is not checked.
    """
    values = read_json(run.progress) or {}
    progress = _progress(run.id, values)
    if not as_written and progress.at_work and not is_active_run(run):
        message = "Its process ended without a message: resume it."
        progress = replace(progress, state="broken", in_flight=0, message=message)
    return progress


def _progress(run_id: str, values: Mapping[str, Any]) -> RunProgress:
    def whole(name: str) -> int:
        value = values.get(name)
        return value if isinstance(value, int) and value >= 0 else 0

    def number(name: str) -> float | None:
        value = values.get(name)
        return float(value) if isinstance(value, int | float) else None

    def text(name: str) -> str | None:
        value = values.get(name)
        return value if isinstance(value, str) else None

    def counts(name: str) -> dict[str, Any]:
        value = values.get(name)
        found = value if isinstance(value, dict) else {}
        return {word: n for word, n in found.items() if isinstance(n, int | float | None)}

    state, lines = text("state"), values.get("lines")
    return RunProgress(
        run=run_id,
        model=text("model") or "",
        state=next((known for known in RUN_STATES if known == state), "starting"),
        done=whole("done"),
        total=whole("total"),
        outcomes={word: int(n or 0) for word, n in counts("outcomes").items()},
        failed={word: int(n or 0) for word, n in counts("failed").items()},
        in_flight=whole("in_flight"),
        per_minute=number("per_minute"),
        seconds_left=number("seconds_left"),
        spent=counts("spent"),
        unsure=counts("unsure"),
        budget=text("budget"),
        waiting_for=text("waiting_for"),
        waiting_until=text("waiting_until"),
        message=text("message"),
        lines=tuple(str(line) for line in lines) if isinstance(lines, list) else (),
        pid=whole("pid") or None,
        host=text("host"),
        started=text("started"),
        updated=text("updated"),
    )


def send_run_command(run: RunFolder, wish: RunCommand) -> None:
    """Ask the process of a run to go on, pause or cancel; it checks twice a second.

    Raises
    ------
    OSError
        The request cannot be written.
    """
    write_json_atomically(
        run.control, {"wish": wish, "at": datetime.now(UTC).isoformat(timespec="seconds")}
    )


def read_run_command(run: RunFolder) -> RunCommand:
    """Return what is wanted of a run; by default that it runs."""
    word = (read_json(run.control) or {}).get("wish")
    return next((known for known in RUN_COMMANDS if known == word), "run")
