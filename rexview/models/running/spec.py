"""What a run was asked for: written once as ``run.json``, read again to go on with it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Literal

from rexview import __version__
from rexview.errors import RunError
from rexview.models.card import Card, Price
from rexview.models.prompt import Prompt
from rexview.models.request import Parameters
from rexview.models.running.folder import RunFolder, read_json
from rexview.models.running.money import Budget
from rexview.written_boxes.forms import BoxForm

Selected = Literal["all", "cases", "filter"]


@dataclass(frozen=True)
class RunSpec:
    """One run as it was asked for.

    Attributes
    ----------
    selected, query
        How the cases were chosen, and the query of the link where that was a filter.
    cases
        Their ids, in the order in which they are asked; for a judge those of what it judges.
    repeats
        How many times each case is asked.
    concurrency
        How many requests may be under way at once.
    batch
        Whether they are sent in files, to be answered within a day.
    created, started_by
        ISO 8601 with the zone; who asked for it, as far as that is known.
    """

    id: str
    parameters: Parameters
    card: Card
    prompt: Prompt
    cases: tuple[str, ...]
    selected: Selected = "all"
    query: str | None = None
    repeats: int = 1
    budget: Budget | None = None
    concurrency: int = 4
    batch: bool = False
    set_name: str = ""
    created: str = ""
    started_by: str = ""
    version: str = __version__

    def same_questions(self, other: RunSpec) -> bool:
        """Whether both ask the same model in the same words with the same parameters."""
        mine, theirs = (
            (one.parameters.sent(), one.prompt.id, one.prompt.hash) for one in (self, other)
        )
        return mine == theirs

    def as_json(self) -> dict[str, Any]:
        """Return it as plain values."""
        return asdict(self)


def read_spec(run: RunFolder) -> RunSpec:
    """Read what a run was asked for.

    Raises
    ------
    RunError
        ``run.json`` is not there, or not what this version writes.
    """
    values = read_json(run.spec)
    try:
        if values is None:
            raise ValueError("it is no JSON object")
        spec = _spec_of(values)
    except (KeyError, TypeError, ValueError) as error:
        raise RunError(
            f"{run.under}/{run.id}/run.json cannot be read ({error}): restore it, or begin a new "
            "run without --resume."
        ) from None
    if spec.id != run.id:
        raise RunError(f"{run.under}/{run.id}/run.json is of another run, {spec.id[:80]!r}.")
    return spec


def _spec_of(values: Mapping[str, Any]) -> RunSpec:
    card = dict(values["card"])
    card["match"] = tuple(card["match"])
    card["boxes"] = _record(BoxForm, card.get("boxes") or {})
    card["price"] = _record(Price, card["price"]) if card.get("price") else None
    cases = values["cases"]
    if not isinstance(cases, list) or not all(isinstance(one, str) for one in cases):
        raise ValueError("cases is no list of ids")
    for name in ("repeats", "concurrency"):
        if not isinstance(values[name], int) or values[name] < 1:
            raise ValueError(f"{name} is no number from 1")
    parts = {
        "parameters": _record(Parameters, values["parameters"]),
        "card": _record(Card, card),
        "prompt": _record(Prompt, values["prompt"]),
        "cases": tuple(cases),
        "budget": _record(Budget, values["budget"]) if values.get("budget") else None,
    }
    return _record(RunSpec, {**values, **parts})  # type: ignore[no-any-return]


def _record(kind: type, values: Mapping[str, Any]) -> Any:
    """Make a record of what it has fields for; a newer version may have written more."""
    known = {spec.name for spec in fields(kind)}
    return kind(**{name: value for name, value in values.items() if name in known})


def newest_alike(run_folders: list[RunFolder], spec: RunSpec) -> RunFolder | None:
    """Return the newest run that asks as a new one would; runs that cannot be read are none."""
    for run in run_folders:
        try:
            found = read_spec(run)
        except RunError:
            continue
        if found.same_questions(spec):
            return run
    return None
