"""The experts' sample of multiple choice questions, read one by one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, Final

import polars as pl
import streamlit as st

from rexview.analysis.published.rexvqa import EXPERT_QUESTION_COUNT, published_expert_defects
from rexview.analysis.query.engine import Position
from rexview.curation.choice.expert_sample import DefectShare, SampleResult, count_expert_verdicts
from rexview.curation.choice.validation import CHECKS, combine_checks
from rexview.errors import StoreError
from rexview.people import Person
from rexview.schema import ReviewSet
from rexview.store.current_state import CurrentState
from rexview.store.merged_set import EXPERT_CHECK
from rexview.ui.answers import answer_card as answers_html
from rexview.ui.curate.page_parts import SAMPLE, STYLES, show_model_help, study_page
from rexview.ui.safe_text import lines_as_markdown
from rexview.ui.turning.item_pad import TurnableItems, draw_pad
from rexview.ui.turning.ticket import turning_json
from rexview.ui.viewer.case_payload import ViewerSettings, show_viewer
from rexview.ui.web.app.shell import show_nothing_yet
from rexview.ui.web.components import component
from rexview.ui.web.link import keys as link_keys
from rexview.ui.web.link.pages import PAGE_CURATE, PAGE_RUN_MODELS
from rexview.ui.web.saving.curation_entries import candidates_json
from rexview.ui.web.saving.entries import CURATE_PAGE
from rexview.ui.web.saving.outbox import outbox_json
from rexview.ui.web.server import review_sets
from rexview.vocab import CATEGORY_NAMES, QUESTION_DEFECTS
from rexview.words import tr

# The current sampled questions of an expert.


@dataclass(frozen=True)
class SampleRound:
    """A person's reading of the sample; ``result`` has the questions and the experts' findings."""

    review_set: ReviewSet
    person: Person
    state: CurrentState
    result: SampleResult

    @cached_property
    def questions(self) -> Mapping[str, Sequence[str]]:
        """The candidates of the sample by case, the cases in reading order."""
        found: dict[str, list[str]] = {}
        for case, candidate in self.result.sample:
            found.setdefault(case, []).append(candidate)
        return found

    @cached_property
    def listed(self) -> Sequence[str]:
        """The cases of the sample."""
        return list(self.questions)

    @cached_property
    def told(self) -> frozenset[tuple[str, str]]:
        """The questions that the person has judged: case and candidate."""
        own = (pl.col("check") == EXPERT_CHECK) & (pl.col("by") == self.person.id)
        rows = self.review_set.validations.filter(own).select("case", "candidate")
        return frozenset((case, candidate) for case, candidate in rows.iter_rows())

    def is_done(self, case: str) -> bool:
        """Return whether the person has judged each sampled question of a case."""
        return all((case, one) in self.told for one in self.questions[case])

    def position(self, case: str) -> Position:
        """Return the position of a case."""
        total = len(self.listed)
        if case not in self.questions:
            return Position(None, total, None, None)
        place = self.listed.index(case)
        before = self.listed[place - 1] if place else None
        after = self.listed[place + 1] if place + 1 < total else None
        return Position(place + 1, total, before, after)

    def page(self, start: int, size: int) -> Sequence[str]:
        """Return at most ``size`` cases from index ``start``."""
        return self.listed[start : start + size]

    def case_of(self, wanted: str | None) -> str | None:
        """Return the wanted case, else the first unfinished one, else the first."""
        if wanted in self.questions:
            return wanted
        still_open = (case for case in self.listed if not self.is_done(case))
        return next(still_open, self.listed[0] if self.listed else None)

    def rows(self, case: str) -> list[dict[str, Any]]:
        """Return the sampled questions of a case as rows of ``candidates``, in their order."""
        of_case = self.review_set.candidates.filter(pl.col("case") == case)
        by_id = {row["candidate"]: row for row in of_case.iter_rows(named=True)}
        return [by_id[one] for one in self.questions.get(case, ())]

    def checks(self, case: str, candidate: str) -> list[dict[str, Any]]:
        """Return the checks of a question by rules and models, and the person's own."""
        of_question = (pl.col("case") == case) & (pl.col("candidate") == candidate)
        others = (pl.col("check") == EXPERT_CHECK) & (pl.col("by") != self.person.id)
        return self.review_set.validations.filter(of_question & ~others).to_dicts()


def sample_round(review_set: ReviewSet, person: Person) -> SampleRound:
    """Return the current sample.

    Raises
    ------
    StoreError
        The written entries cannot be read.
    """
    written = review_sets.with_current_reviews(review_set)
    state = review_sets.reviews(review_set).current_state()
    return SampleRound(written, person, state, _result(written))


@lru_cache(maxsize=4)
def _result(review_set: ReviewSet) -> SampleResult:
    return count_expert_verdicts(review_set)


# Data of the sampled questions of one study, and of the experts' findings so far.

_SAYS: Final = {True: tr("passed"), False: tr("failed"), None: tr("undecided")}


def item_json(now: SampleRound, case_id: str) -> dict[str, Any]:
    """Return one study with its sampled questions, for the person's pad."""
    case, position = now.review_set.case(case_id), now.position(case_id)
    told = answers_html.request_html(case) if case else ""
    report = told + answers_html.report_sections_html(case.report) if case else ""
    return {
        "case": case_id,
        "place": position.number or "–",
        "previous": position.before,
        "next": position.after,
        "own": candidates_json(now.state, now.person, case_id),
        "report": {"state": "shown", "html": report, "always": True},
        "content": {"questions": [_question(now, row) for row in now.rows(case_id)]},
    }


def _question(now: SampleRound, row: Mapping[str, Any]) -> dict[str, Any]:
    rows = now.checks(row["case"], row["candidate"])
    own = next((one for one in rows if one["check"] == EXPERT_CHECK), None)
    checks = [one for one in rows if one["check"] != EXPERT_CHECK]
    given = {name: own[name] for name in ("passed", "defect", "comment")} if own else None
    return {
        "id": row["candidate"],
        "question": row["question"],
        "options": list(row["options"] or ()),
        "correct": row["correct"],
        "explanation": row["explanation"] or "",
        "statement": row["statement"] or "",
        "facts": [
            fact
            for fact in (CATEGORY_NAMES.get(row["category"], row["category"]), row["difficulty"])
            if fact
        ],
        "by": row["by"],
        "given": {"validate": given},
        "checks": [_check(one) for one in checks if one["passed"] is not True],
        "passed": sum(one["passed"] is True for one in checks),
        "untold": [
            CHECKS[one] for one in combine_checks(row["case"], row["candidate"], checks).untold
        ],
    }


def _check(row: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "name": CHECKS.get(row["check"], row["check"]),
        "says": _SAYS[row["passed"]],
        "failed": row["passed"] is False,
        "reason": row["comment"] or "",
        "by": tr("rules") if row["source"] == "rule" else row["by"],
    }


def words_json() -> dict[str, Any]:
    """Return the texts of the defects, in the order of their keys."""
    return {"defects": dict(QUESTION_DEFECTS)}


def shares_json(result: SampleResult) -> dict[str, Any]:
    """Return the share of each defect with its interval, next to the paper's experts' share."""
    return {
        "sample": len(result.sample),
        "of": result.of,
        "read": len(result.read),
        "unsure": result.unsure,
        "paper": tr("ReXVQA, first {n}").format(n=EXPERT_QUESTION_COUNT),
        "rows": _rows(result.defects),
    }


def _rows(shares: Sequence[DefectShare]) -> list[dict[str, str]]:
    return [
        {
            "name": tr("Any defect") if one.defect is None else QUESTION_DEFECTS[one.defect],
            "found": tr("{found} of {read}").format(found=one.found, read=one.read),
            "share": _percent(one),
            "paper": published_expert_defects().get(one.defect or "", "–"),
        }
        for one in shares
    ]


def _percent(one: DefectShare) -> str:
    low, high = one.interval.low, one.interval.high
    if one.share is None or low is None or high is None:
        return "–"
    return tr("{share:.1%} ({low:.1%} to {high:.1%})").format(share=one.share, low=low, high=high)


_HEIGHT: Final = "clamp(560px, calc(100dvh - 190px), 1200px)"
_TAKEN_KEYS: Final = "0123456789jkyeugnp?"
_MANNER: Final = ViewerSettings(taken_keys=_TAKEN_KEYS, height=_HEIGHT)
_ASSETS: Final = "curate/sample/assets"
_STYLES: Final = (*STYLES, f"{_ASSETS}/sample.css")


def show_sample(review_set: ReviewSet, person: Person) -> None:
    """Show the sampled questions of one study; if there are none, how to make some."""
    if not review_sets.is_newest(review_set):
        st.rerun()  # a running run has added questions
    try:
        now = sample_round(review_set, person)
    except StoreError as error:
        st.error(lines_as_markdown(error), icon=":material/cloud_off:")
        st.stop()
    case = now.case_of(link_keys.link_case())
    if case is None:
        _show_begin(now)
        return
    link_keys.go_to_case(case)
    files = review_sets.files_state(now.review_set)
    turning = turning_json(now.review_set, PAGE_CURATE, {"part": SAMPLE}, state=files)
    left, right = st.columns([10, 11], gap="small")
    with right:
        _show_pad(now, case, turning)
    page = study_page(now.review_set, case)
    if page is not None:
        with left:
            show_viewer(now.review_set, page, now.position, _MANNER, turning=turning)


def _show_begin(now: SampleRound) -> None:
    if now.review_set.candidates.filter(question_type="choice").is_empty():
        show_nothing_yet(
            tr("No multiple choice questions were made yet. Have a model make them from reports."),
            (PAGE_RUN_MODELS, tr("Have a model make questions")),
        )
        words = "--choice --model MODEL --validator MODEL"
        show_model_help(f'python -m rexview curate "{now.review_set.folder}" {words}')
    else:
        st.info(tr("Every multiple choice question fails a check: there are none to read."))


def _show_pad(now: SampleRound, case: str, turning: Any) -> None:
    data = {
        "height": _HEIGHT,
        "turning": turning,
        "outbox": outbox_json(now.review_set, CURATE_PAGE, now.person),
        "case": item_json(now, case),
        "worklist": {
            "total": len(now.listed),
            "done": sum(map(now.is_done, now.listed)),
            "skipped": 0,
        },
        "report": "always",
        "words": words_json(),
        "shares": shares_json(now.result),
    }
    pad = component(
        "rexview_sample", f"{_ASSETS}/sample.js", style=_STYLES, title=tr("The questions")
    )
    draw_pad(pad, data, key="curate_sample")


class NeighbouringSampleStudies(TurnableItems[SampleRound]):
    """The studies of the sample that a browser may turn to."""

    def case_json(self, case_id: str) -> dict[str, Any] | None:
        """Return the page's data of a study in the sample; None for another one."""
        if case_id not in self.now.questions:
            return None
        page = study_page(self.now.review_set, case_id)
        return self.turned_json(page, item_json(self.now, case_id), _MANNER) if page else None
