"""A study with its candidate questions, as the page Curate shows them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from rexview.curation.considered import Considered

State = Literal["open", "done"]


@dataclass(frozen=True)
class AlikeQuestion:
    """Another candidate that asks nearly the same; ``similarity`` above 0.9, at most 1."""

    case: str
    candidate: str
    similarity: float


@dataclass(frozen=True)
class CandidateView:
    """A candidate, why it cannot be chosen (None: it can), and others that ask nearly the same."""

    candidate: Considered
    blocked: str | None = None
    alike: tuple[AlikeQuestion, ...] = ()


@dataclass(frozen=True)
class CurationStudy:
    """A study in the order of the set, its candidates by the model's sum, the highest first.

    ``case`` is the case that stands for it, ``title`` its id and what was asked of the radiologist.
    """

    case: str
    study_id: str | None
    title: str
    candidates: tuple[CandidateView, ...] = ()

    @property
    def state(self) -> State:
        """``done`` once a candidate is chosen, or all are rejected."""
        decisions = [view.candidate.decision for view in self.candidates]
        done = "chosen" in decisions or (decisions and set(decisions) == {"rejected"})
        return "done" if done else "open"

    @property
    def blocked(self) -> int:
        """How many candidates cannot be chosen."""
        return sum(view.blocked is not None for view in self.candidates)


@dataclass(frozen=True)
class Curation:
    """All studies of a set with their candidates."""

    studies: tuple[CurationStudy, ...]

    @cached_property
    def places(self) -> Mapping[str, int]:
        """The place of each study by its case."""
        return {study.case: place for place, study in enumerate(self.studies)}

    def study(self, case: str) -> CurationStudy | None:
        """Return the study that a case stands for, None without one."""
        place = self.places.get(case)
        return None if place is None else self.studies[place]

    def view(self, case: str, candidate: str) -> CandidateView | None:
        """Return one candidate, None where there is none."""
        study = self.study(case)
        views = study.candidates if study else ()
        return next((view for view in views if view.candidate.id == candidate), None)
