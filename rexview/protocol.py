"""The rules of a reader study, as ``reviewset.yaml`` gives them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal


@dataclass(frozen=True)
class Protocol:
    """The rules of a reader study.

    ``report`` says when a reader sees the radiologist's report; ``reveal`` when, after scoring,
    they learn which model gave which answer, ``reveal_peers`` whether they then see the scores of
    others too. ``second_reader_share`` is the part of the cases that a second reader scores as
    well; from ``disagreement`` on two readers' scores are adjudicated. ``seed`` fixes the order of
    cases; which letter an answer has depends on a secret of the reviews database.
    ``name_readers`` says whether whoever adjudicates may see whose scores are whose,
    ``choice_cases`` whether choice questions are on the worklists, too. ``cover_names`` has more
    names that would tell a model, covered wherever models are hidden.
    """

    report: Literal["on_request", "always", "never"] = "on_request"
    reveal: Literal["per_case", "at_end"] = "at_end"
    reveal_peers: bool = False
    second_reader_share: float = 0.25
    disagreement: float = 2.0
    seed: int = 1
    name_readers: bool = False
    choice_cases: bool = False
    cover_names: tuple[str, ...] = ()
    extra: Mapping[str, Any] = field(default_factory=dict)
