"""A reader in a study: their worklist, their entries, and the model of each letter.

Both the Score page and the route that saves scores use this module, so that they cannot differ.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Any

import polars as pl

from rexview.analysis.case.blinding import MODEL_NAME_COVER, cover_names
from rexview.analysis.case.case_page import READER_FAILURES
from rexview.analysis.query.study_tasks import (
    CaseState,
    ScoreItem,
    StudyEngine,
    Worklist,
    WorklistProgress,
    assign_slots,
    count_progress,
    find_case_states,
    find_models_expected_to_draw,
    keyed_hash,
    list_score_items,
    read_study_rubric,
)
from rexview.analysis.reader_exposure import (
    REPORT_EXPOSURE,
    TASK_KINDS,
    UNBLINDED_EXPOSURE,
    Exposures,
)
from rexview.answer_digest import digests_of, split_stale_rows
from rexview.people import Person
from rexview.schema import ReviewSet
from rexview.store import Entry, Reviews, StoredEntry, may_write_kind
from rexview.store.current_state import CurrentState, EntrySubject, scores_frame
from rexview.ui.web.server import review_sets, server_state

_OF_READER = ("score", "verdict", "skip", "reveal")


@dataclass(frozen=True)
class ReaderState:
    """All current entries of one person in one review set."""

    person: str
    state: CurrentState

    def of(self, kind: str) -> Mapping[EntrySubject, StoredEntry]:
        """Return the newest row of each subject of one kind."""
        return self.state.of(kind, self.person)

    def was_shown(self, case: str, what: str) -> bool:
        """Return whether the person was shown ``models``, ``report`` or ``unblinded`` of a case."""
        shown = self.of("reveal")
        return (case, None, what, None) in shown or (None, None, what, None) in shown

    @cached_property
    def skips(self) -> dict[str, str]:
        """The reason for each case that is skipped now."""
        rows = (row for row in self.of("skip").values() if row.value is not None)
        return {row.case or "": str((row.value or {}).get("reason") or "") for row in rows}

    @cached_property
    def unblinded(self) -> frozenset[str]:
        """The cases that the person has opened with their models named."""
        return frozenset(
            case for case, _, what, _ in self.of("reveal") if case and what == UNBLINDED_EXPOSURE
        )

    @cached_property
    def last_case(self) -> str | None:
        """The case of the newest row; cases only opened with models named are ignored."""
        rows = [
            row
            for kind in _OF_READER
            for (_, _, what, _), row in self.of(kind).items()
            if row.case and (kind, what) != ("reveal", UNBLINDED_EXPOSURE)
        ]
        return max(rows, key=lambda row: row.id).case if rows else None


@dataclass(frozen=True)
class ReaderStudy:
    """One reader's view of a study at one moment."""

    review_set: ReviewSet
    person: Person
    reviews: Reviews
    given: ReaderState
    engine: StudyEngine
    assigned: frozenset[str] | None
    letter_key: bytes = field(repr=False)

    @cached_property
    def worklist(self) -> Worklist:
        """The reader's items to score, in their own order."""
        return self.engine.worklist(self.person.id, self.assigned)

    def has(self, case: str) -> bool:
        """Return whether a case is on the worklist."""
        return bool(self.worklist.in_order([case]))

    def in_order(self, cases: Iterable[str]) -> list[str]:
        """Return the given cases that are on the worklist, in its order."""
        return list(self.worklist.in_order(cases))

    def revealed(self) -> Sequence[str]:
        """Return the cases of the worklist whose models the reader was shown, in its order."""
        cases = {case for case, _, what, _ in self.given.of("reveal") if what == "models"}
        if None in cases:  # all at once
            return self.worklist.page(0, len(self.worklist))
        return self.in_order(case for case in cases if case)

    @cached_property
    def states(self) -> dict[str, CaseState]:
        """The state of each case of the worklist that is no longer open."""
        touched = self.in_order({*self.scores["case"], *self.given.skips})
        return find_case_states(self.engine.required(touched), self.scores, self.given.skips)

    def state(self, case: str) -> CaseState:
        """Return the reader's state for a case of the worklist."""
        return self.states.get(case, "open")

    @cached_property
    def scores(self) -> pl.DataFrame:
        """The reader's scores of the current answers, columns :data:`rexview.frames.SCORES`."""
        return split_stale_rows(scores_frame(self.given.of("score").values()), self.review_set)[0]

    @property
    def progress(self) -> WorklistProgress:
        """The reader's progress over the whole worklist."""
        return count_progress(self.states, len(self.worklist))

    def slots(self, case_id: str) -> Mapping[str, str]:
        """Return the model behind each letter of a case."""
        return _slots(self.review_set, case_id, self.person.id, self.letter_key)

    def digests(self, case_id: str) -> Mapping[str, str]:
        """Return the digest of each answer to a case, by model."""
        models = self.slots(case_id).values()
        found = digests_of(self.review_set).of_all((case_id, model) for model in models)
        return {model: digest for (_, model), digest in found.items()}

    def shown(self, case_id: str) -> Mapping[str, str]:
        """Return the opaque id of the answer of each letter, as :func:`shown_answer_ids` does."""
        slots = self.slots(case_id)
        return shown_answer_ids(
            self.review_set, case_id, slots, reader=self.person.id, key=self.letter_key
        )

    def is_stale(self, row: StoredEntry) -> bool:
        """Return whether a row of the history is about an earlier answer than the one shown now."""
        now = self.digests(row.case or "").get(row.model or "")
        return None not in (row.answer_digest, now) and row.answer_digest != now

    def resume(self) -> str | None:
        """Return the case to continue with; None if all are scored or skipped."""
        closed = {case for case, state in self.states.items() if state != "begun"}
        unblinded = self.given.unblinded - self.states.keys()
        return next_case_to_score(self.worklist, closed, unblinded, self.given.last_case)

    def now(self) -> ReaderStudy:
        """Return this study with the current entries of the database."""
        given = ReaderState(self.person.id, self.reviews.current_state())
        return replace(self, given=given)

    def holding(self, cases: Sequence[str]) -> ReaderStudy:
        """Return this study with these cases loaded; on ClickHouse a set holds few."""
        held = review_sets.with_cases_loaded(self.review_set, cases)
        return self if held is self.review_set else replace(self, review_set=held)

    def may_name_models(self, case_id: str | None) -> bool:
        """Return whether the rules show the reader a case's models now; None: all cases."""
        rule = self.review_set.info.protocol.reveal
        if case_id is None:
            return rule == "at_end" and self.progress.remaining == 0
        return rule == "per_case" and self.states.get(case_id) in ("done", "skipped")


def next_case_to_score(
    worklist: Worklist, closed: Collection[str], unblinded: Collection[str], last: str | None
) -> str | None:
    """Return the case to continue with; cases in ``unblinded`` come last.

    ``unblinded`` are cases opened with their models named, in which nothing was given yet.
    """
    following = worklist.next_open({*closed, *unblinded}, last) if unblinded else None
    return following or worklist.next_open(closed, last)


def load_reader_study(review_set: ReviewSet, person: Person) -> ReaderStudy:
    """Return the current study of a reader.

    Raises
    ------
    StoreBusy, StoreUnreachable, StoreFull
    """
    reviews = review_sets.reviews(review_set)
    every = reviews.assignments()
    theirs = frozenset(one.case for one in every if one.reader == person.id)
    # a reader without cases gets none if others have some, except a person who works alone
    alone = not server_state.requires_sign_in() and may_write_kind(person, "assign")
    assigned = theirs if every and (theirs or not alone) else None
    engine = review_sets.study_engine(review_set)
    given = ReaderState(person.id, reviews.current_state())
    return ReaderStudy(review_set, person, reviews, given, engine, assigned, reviews.letter_key())


@lru_cache(maxsize=4096)
def _slots(review_set: ReviewSet, case_id: str, reader: str, key: bytes) -> Mapping[str, str]:
    models = [answer.model for answer in review_set.answers_of(case_id)]
    return assign_slots(case_id, models, reader=reader, key=key)


def adjudicator_slots(
    review_set: ReviewSet, case_id: str, person: Person, key: bytes
) -> tuple[str, Mapping[str, str]]:
    """Return the id for an adjudicator's own letters (no reader has them), and their models."""
    reader = f"adjudicator {person.id}"
    return reader, _slots(review_set, case_id, reader, key)


def shown_answer_ids(
    review_set: ReviewSet, case_id: str, slots: Mapping[str, str], *, reader: str, key: bytes
) -> Mapping[str, str]:
    """Return an opaque id of the answer of each letter, which the browser returns with an entry.

    The id changes with the letter's model and with the answer's text. It is keyed, because the
    answer itself may hold names that are covered on the page.

    Parameters
    ----------
    review_set : ReviewSet
    case_id : str
    slots : mapping of str to str
        Letter to model, as :func:`rexview.analysis.query.study_tasks.assign_slots` gives it.
    reader : str
        Id of the reader.
    key : bytes
        Secret of the set: :meth:`rexview.store.Reviews.letter_key`.
    """
    digests = digests_of(review_set).of_all((case_id, model) for model in slots.values())
    return {
        slot: keyed_hash(key, "shown", reader, case_id, slot, model, digests[case_id, model])[:32]
        for slot, model in slots.items()
    }


@lru_cache(maxsize=4096)
def items_to_score(review_set: ReviewSet, case_id: str) -> Mapping[str, tuple[ScoreItem, ...]]:
    """Return the items to score on each answer of a case, by model."""
    dimensions = tuple(read_study_rubric(review_set))
    expected = find_models_expected_to_draw(review_set, review_set.case(case_id))
    return {
        answer.model: list_score_items(answer, dimensions, lacks_boxes=answer.model in expected)
        for answer in review_set.answers_of(case_id)
    }


def case_record_json(study: ReaderStudy, case_id: str) -> dict[str, Any]:
    """Return the reader's entries on a case, by letter, for the pad (:file:`case_record.js`).

    A score of an earlier answer does not count for the shown answer: it is returned as ``earlier``.
    """
    given, slots = study.given, study.slots(case_id)
    given_scores, verdicts = given.of("score"), given.of("verdict")
    scores: dict[str, Any] = {}
    flags: dict[str, bool] = {}
    earlier_flags: list[str] = []
    for slot, model in slots.items():
        for item in items_to_score(study.review_set, case_id).get(model, ()):
            row = given_scores.get((case_id, model, item.dimension, item.picture))
            if row is not None:
                value: Mapping[str, Any] = row.value or {}
                score, stale = value.get("score"), study.is_stale(row)
                key = f"{slot}/{item.dimension}/{'' if item.picture is None else item.picture}"
                scores[key] = {
                    "score": None if stale else score,
                    "comment": value.get("comment") or "",
                }
                if stale and score is not None:
                    scores[key]["earlier"] = score
        for failure in READER_FAILURES:
            row = verdicts.get((case_id, model, failure, None))
            verdict = (row.value or {}).get("verdict") if row else None
            if row and verdict and study.is_stale(row):
                earlier_flags += [f"{slot}/{failure}"] if verdict == "confirmed" else []
            elif verdict:
                flags[f"{slot}/{failure}"] = verdict == "confirmed"
    return {
        "scores": scores,
        "flags": flags,
        "earlierFlags": earlier_flags,
        "shown": dict(study.shown(case_id)),
        "skip": given.skips.get(case_id),
        "revealed": given.was_shown(case_id, "models"),
        "report": given.was_shown(case_id, REPORT_EXPOSURE),
        "seen": {
            what: _seen(study, case_id, what) for what in (REPORT_EXPOSURE, UNBLINDED_EXPOSURE)
        },
        "revision": given.state.revision,
    }


def _seen(study: ReaderStudy, case_id: str, what: str) -> dict[str, Any] | None:
    if not study.given.was_shown(case_id, what):
        return None
    finished = study.states.get(case_id) == "done"
    history = study.reviews.history(case=case_id, person=study.person.id)
    rows = [row for row in history if row.kind not in TASK_KINDS]  # rows of scoring only
    found = Exposures().after(rows[::-1]).of(study.person.id, case_id, what, finished=finished)
    if found is None:
        return None
    return {"at": found.at.isoformat(), "timing": found.timing, "accepted": found.accepted}


# The consensus as the Adjudicate page shows it, where letters replace models.
#
# Names of models in it are covered, unless the user wrote them. Browsers get and send back only
# the covered text; the original stays on the server.


def visible_consensus(
    review_set: ReviewSet, reviews: Reviews, person: Person, row: StoredEntry | None
) -> dict[str, Any]:
    """Return ``score`` and ``comment`` of a consensus as a person sees them, None where absent.

    A person's own text is covered, too, if an earlier text by somebody else had the same covered
    form. It may be theirs, kept with another score, and guessed text must not look different.

    Raises
    ------
    StoreUnreachable, StoreBusy
    """
    value: Mapping[str, Any] = (row.value if row is not None else None) or {}
    score, comment = value.get("score"), value.get("comment") or None
    if row is None or comment is None:
        return {"score": score, "comment": comment}
    covered = cover_names(review_set, comment)
    own = row.person == person.id and all(
        one.person == person.id
        for one in _history(reviews, row)
        if not one.intact or cover_names(review_set, _words(one)) == covered
    )
    return {"score": score, "comment": comment if own else covered}


def original_comment(review_set: ReviewSet, reviews: Reviews, entry: Entry) -> Any:
    """Return the original comment of an entry whose comment may have been shown covered.

    A comment that matches none on the same subject is returned unchanged.

    Raises
    ------
    StoreUnreachable, StoreBusy
    """
    comment = (entry.value or {}).get("comment")
    if not isinstance(comment, str) or MODEL_NAME_COVER not in comment:
        return comment
    before = map(_words, _history(reviews, entry))
    return next((one for one in before if cover_names(review_set, one) == comment), comment)


def _words(row: StoredEntry) -> str:
    return (row.value or {}).get("comment") or ""


def _history(reviews: Reviews, on: Entry | StoredEntry) -> list[StoredEntry]:
    """Return all that was recorded on the same subject, newest first."""
    rows = reviews.history(case=on.case, kind="adjudicate")
    about = (on.model, on.subject, on.picture)
    return [row for row in rows if (row.model, row.subject, row.picture) == about]
