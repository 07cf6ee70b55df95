"""The studies of a curation round: the desk's data of each, its history and the counts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, Final, Literal

from rexview.analysis.curation import (
    CandidateView,
    Curation,
    CurationStudy,
    SimilarQuestion,
    build_curation,
)
from rexview.analysis.query.engine import Position
from rexview.curation.candidates import CandidateRating, CandidateSummary
from rexview.curation.coverage import CATEGORY, Coverage, count_coverage
from rexview.people import Person
from rexview.schema import Case, ReviewSet
from rexview.store import Reviews, StoredEntry
from rexview.store.current_state import CurrentState
from rexview.ui.answers import answer_card as answers_html
from rexview.ui.web.link import keys as link_keys
from rexview.ui.web.link.in_app import href
from rexview.ui.web.link.pages import PAGE_CURATE
from rexview.ui.web.saving.curation_entries import CURATION_KINDS, candidates_json, is_scored
from rexview.ui.web.server import review_sets
from rexview.vocab import (
    CATEGORIES,
    CATEGORY_NAMES,
    CRITERIA,
    QUESTION_DEFECTS,
    QUESTION_TAGS,
    time_text,
)
from rexview.words import tr, trn

StudyScope = Literal["all", "open", "done", "blocked"]
STUDY_SCOPES: Final[dict[StudyScope, str]] = {
    "all": tr("All studies"),
    "open": tr("Open"),
    "done": tr("Done"),
    "blocked": tr("Blocked"),
}


@dataclass(frozen=True)
class CurationRound:
    """A person's curation of the studies of a set.

    ``show`` and ``category`` select the studies. With ``score_first`` the model's scores of a
    candidate stay hidden until the person has given their own.
    """

    review_set: ReviewSet
    person: Person
    reviews: Reviews
    state: CurrentState
    curation: Curation
    show: StudyScope = "all"
    category: str | None = None
    score_first: bool = True

    @cached_property
    def listed(self) -> Sequence[str]:
        """The cases of the selected studies, in the order of the set."""
        return [study.case for study in self.curation.studies if self._is_listed(study)]

    @cached_property
    def _places(self) -> dict[str, int]:
        return {case: place for place, case in enumerate(self.listed)}

    def _is_listed(self, study: CurationStudy) -> bool:
        views = study.candidates
        if self.category and all(view.candidate.category != self.category for view in views):
            return False
        if self.show == "blocked":
            return study.blocked > 0
        return self.show == "all" or study.state == self.show

    @property
    def is_whole(self) -> bool:
        """Whether all studies of the set are selected."""
        return self.show == "all" and self.category is None

    def position(self, case: str) -> Position:
        """Return the position of a study; one that is not selected is between two others."""
        number, total = self._places.get(case), len(self.listed)
        if number is not None:
            before = self.listed[number - 1] if number else None
            after = self.listed[number + 1] if number + 1 < total else None
            return Position(number + 1, total, before, after)
        places = self.curation.places
        here = places.get(case, -1)
        before = next((one for one in reversed(self.listed) if places[one] < here), None)
        after = next((one for one in self.listed if places[one] > here), None)
        return Position(None, total, before, after)

    def page(self, start: int, size: int) -> Sequence[str]:
        """Return at most ``size`` studies from index ``start``."""
        return self.listed[start : start + size]

    def case_of(self, wanted: str | None) -> str | None:
        """Return the case of the wanted one's study, or else the case to continue with."""
        if wanted is not None:
            if self.curation.study(wanted):
                return wanted
            case = self.review_set.case(wanted)
            of = case.study_id if case else None
            found = (
                one.case
                for one in self.curation.studies
                if of and one.study_id == of and self._patient(one.case) == self._patient(wanted)
            )
            if same := next(found, None):
                return same
        return min(self.listed, key=self._order_to_go_on, default=None)

    def _order_to_go_on(self, case: str) -> int:
        """Return a sort key for the next study: those with undecided questions come first."""
        study = self._study(case)
        waits = any(view.candidate.decision is None for view in study.candidates)
        if waits:
            return 0 if study.state == "open" else 1
        return 2 if study.state == "open" else 3

    def _patient(self, case_id: str) -> str | None:
        case = self.review_set.case(case_id)
        return case.patient_id if case else None

    @property
    def done(self) -> int:
        """Number of finished studies among the selected ones."""
        return sum(self._study(case).state == "done" for case in self.listed)

    @cached_property
    def covered(self) -> Coverage:
        """What the chosen questions of all studies cover."""
        return count_coverage(
            view.candidate for study in self.curation.studies for view in study.candidates
        )

    def _study(self, case: str) -> CurationStudy:
        return self.curation.studies[self.curation.places[case]]

    def in_order(self, study: CurationStudy) -> Sequence[CandidateView]:
        """Return its candidates by the model's sum; in proposed order while that is hidden."""
        if not self.score_first:
            return study.candidates
        return sorted(study.candidates, key=lambda view: view.candidate.place)

    def reader_name(self, reader: str) -> str:
        """Return the name of a person who wrote or is named in the set."""
        people = self.state.people
        named = people[reader].name if reader in people else reader
        return self.review_set.reader_names.get(reader, named)


def load_round(
    review_set: ReviewSet, person: Person, show: StudyScope, category: str | None, score_first: bool
) -> CurationRound:
    """Return the current round of a person on an open set.

    Raises
    ------
    StoreError
        The written entries cannot be read.
    """
    written = review_sets.with_current_reviews(review_set)
    reviews = review_sets.reviews(review_set)
    return CurationRound(
        written,
        person,
        reviews,
        reviews.current_state(),
        current_curation(written),
        show,
        category,
        score_first,
    )


@lru_cache(maxsize=4)
def current_curation(review_set: ReviewSet) -> Curation:
    """Return the studies of a set with people's entries, made once for each state."""
    return build_curation(review_set)


# History of the candidates of a study, in words: who, when, and the change.

_MOST: Final = 40
"""Most entries shown of one candidate, the newest ones."""
_NAMES: Final[Mapping[str, str]] = {
    **CRITERIA,
    "decision": tr("Decision"),
    "question": tr("Question"),
    "boxes_question": tr("Question with boxes"),
    "category": tr("Category"),
    "comment": tr("Comment"),
    "risk": tr("Risk"),
    "after_model": tr("After seeing the model's scores"),
    "passed": tr("Passed"),
    "defect": tr("Defect"),
}


def history_json(
    now: CurationRound, case: str, seen: frozenset[str]
) -> dict[str, list[dict[str, str]]]:
    """Return the history by candidate, newest first.

    Others' scores are left out if the person has to score first (not ``seen``).
    """
    found: dict[str, list[dict[str, str]]] = defaultdict(list)
    left: dict[str, int] = defaultdict(int)
    for row in now.reviews.history(case=case):
        candidate = row.subject or ""
        hidden = row.kind == "rate" and row.person != now.person.id
        if row.kind not in CURATION_KINDS or (hidden and now.score_first and candidate not in seen):
            continue
        if len(found[candidate]) == _MOST:
            left[candidate] += 1
            continue
        found[candidate].append(
            {"at": time_text(row.at), "name": row.person_name, "words": describe_change(row)}
        )
    for candidate, more in left.items():
        words = trn(
            "{n:,} earlier entry is not listed here",
            "{n:,} earlier entries are not listed here",
            more,
        ).format(n=more)
        found[candidate].append({"at": "", "name": "", "words": words})
    return found


def describe_change(row: StoredEntry) -> str:
    """Describe what an entry changed."""
    if not row.intact:
        return tr("this entry was changed outside the app and cannot be read")
    before, after = _plain(row.previous), _plain(row.value)
    if row.kind == "propose":
        return tr("withdrew the question") if row.value is None else tr("wrote the question")
    if row.kind == "rate" and row.value is not None and not after and not before:
        return tr("asked to see the model's scores without scoring")
    changes = [
        f"{name} {_said(before.get(name))} → {_said(after.get(name))}"
        for name in dict.fromkeys([*before, *after])
        if before.get(name) != after.get(name)
    ]
    return "; ".join(changes) or tr("no change")


def _plain(value: Mapping[str, Any] | None) -> dict[str, str]:
    """Return the non-empty fields of a value, by their names on the page."""
    found: dict[str, str] = {}
    for field, said in (value or {}).items():
        if field == "tags":
            tags = {one["name"]: one["values"] for one in said or ()}
            found |= {
                QUESTION_TAGS[name]: ", ".join(tags[name]) for name in QUESTION_TAGS if name in tags
            }
        elif said is not None:
            found[_NAMES.get(field, field)] = _word(field, said)
    return found


def _word(field: str, said: Any) -> str:
    if isinstance(said, bool):
        return tr("yes") if said else tr("no")
    names = {"category": CATEGORY_NAMES, "defect": QUESTION_DEFECTS}.get(field, {})
    return names.get(said, str(said))


def _said(value: str | None) -> str:
    return "–" if value is None else f"“{value}”"


# The desk's data of one study on the Curate page, and the counts of all studies.

_MOST_ALIKE: Final = 2
_MOST_VALUES: Final = 60
"""Most values of one tag offered while it is typed."""
_READER: Final = "reader"


def study_json(now: CurationRound, study: CurationStudy) -> dict[str, Any]:
    """Return one study's data for the curator's desk."""
    case, position = now.review_set.case(study.case), now.position(study.case)
    own = candidates_json(now.state, now.person, study.case)
    seen = frozenset(str(own["solved"]).split())
    history = history_json(now, study.case, seen)
    return {
        "case": study.case,
        "place": position.number or "–",
        "previous": position.before,
        "next": position.after,
        "own": own,
        "report": {"state": "shown", "html": _report_html(case) if case else "", "always": True},
        "content": {
            "candidates": [
                candidate_json(now, view, seen, history.get(view.candidate.id, []))
                for view in now.in_order(study)
            ],
        },
    }


def candidate_json(
    now: CurationRound, view: CandidateView, seen: frozenset[str], history: list[dict[str, str]]
) -> dict[str, Any]:
    """Return one candidate, without scores that must stay hidden from the person."""
    one = view.candidate
    mine = one.people.get(now.person.id)
    others = [rating for key, rating in one.people.items() if key != now.person.id]
    model = one.model_rating
    hidden = (
        now.score_first
        and (model is not None or bool(others))
        and one.id not in seen
        and not is_scored(_rate(mine))
    )
    return {
        "id": one.id,
        "question": one.proposed,
        "category": one.proposed_category,
        "source": one.source,
        "by": now.reader_name(one.by) if one.source == _READER else one.by,
        "given": {"select": _select(one), "rate": _rate(mine), "tag": _own_tags(one, now)},
        "tags": {name: list(values) for name, values in one.tags.items() if values},
        "model": None if hidden or model is None else _model_json(model),
        "hidden": hidden,
        "others": [] if hidden else [_other_json(now, rating) for rating in others],
        "blocked": view.blocked,
        "judged": one.question,
        "alike": [_alike_json(now, one, like) for like in view.alike[:_MOST_ALIKE]],
        "alike_count": len(view.alike),
        "history": history,
    }


def _select(one: CandidateSummary) -> dict[str, Any] | None:
    names = ("decision", "question", "boxes_question", "category", "comment")
    return {name: getattr(one.selection, name) for name in names} if one.selection else None


def _rate(rating: CandidateRating | None) -> dict[str, Any] | None:
    if rating is None:
        return None
    more = {name: getattr(rating, name) for name in ("risk", "comment", "after_model")}
    return {**rating.scores, **more}


def _own_tags(one: CandidateSummary, now: CurationRound) -> dict[str, Any] | None:
    if one.tagged_by != now.person.id:
        return None
    return {"tags": {name: list(values) for name, values in one.tags.items()}}


def _model_json(rating: CandidateRating) -> dict[str, Any]:
    return {
        "scores": dict(rating.scores),
        "sum": rating.total,
        "stated": rating.stated_total,
        "risk": rating.risk,
        "comment": rating.comment or "",
    }


def _other_json(now: CurationRound, rating: CandidateRating) -> dict[str, str]:
    given = [f"{CRITERIA[name]} {score or '–'}" for name, score in rating.scores.items()]
    if rating.total is not None:
        given.append(tr("sum {n}").format(n=rating.total))
    if rating.risk:
        given.append(tr("risk"))
    return {"name": now.reader_name(rating.by), "words": " · ".join(given)}


def _alike_json(now: CurationRound, one: CandidateSummary, like: SimilarQuestion) -> dict[str, Any]:
    other, there = now.curation.view(like.case, like.candidate), now.curation.study(like.case)
    same_study = like.case == one.case
    title = there.study_id or there.case if there else like.case
    return {
        "words": f"{like.similarity:.0%}, {tr('in this study') if same_study else title}",
        "question": other.candidate.question if other else "",
        "href": None if same_study else href(PAGE_CURATE, link_keys.link_query(case=like.case)),
    }


def _report_html(case: Case) -> str:
    said = answers_html.request_html(case) + answers_html.report_sections_html(case.report)
    return said or f"<p>{tr('This study has neither report nor indication.')}</p>"


def counts_json(covered: Coverage) -> dict[str, Any]:
    """Return the chosen questions by category and by every value of their tags."""
    chosen = {
        name: {one.value or "": one.chosen for one in parts if one.chosen}
        for name, parts in covered.parts.items()
    }
    tags = {name: chosen[name] for name in QUESTION_TAGS}
    for values in tags.values():
        values.pop("", None)  # not tagged
    return {"chosen": covered.chosen, "categories": chosen[CATEGORY], "tags": tags}


def words_json(covered: Coverage) -> dict[str, Any]:
    """Return the texts of the desk: names, and the values used so far in tags."""
    values = {
        name: [one.value for one in covered.parts[name] if one.value][:_MOST_VALUES]
        for name in QUESTION_TAGS
    }
    return {
        "criteria": CRITERIA,
        "categories": CATEGORIES["open"],
        "tags": QUESTION_TAGS,
        "values": values,
    }


def targets_json(wanted: int | None) -> dict[str, Any]:
    """Return the wanted number of questions, as many of each category."""
    each = -(-wanted // len(CATEGORIES["open"])) if wanted else None
    return {"all": wanted, "categories": dict.fromkeys(CATEGORIES["open"], each) if each else {}}
