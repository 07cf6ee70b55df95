"""Data for the form in which a meeting decides: options, owners, and proposals."""

from __future__ import annotations

from typing import Any, Final

from rexview.analysis.case.case_page import CasePage
from rexview.analysis.case.headline import build_answer_headlines, build_case_headline
from rexview.analysis.meetings import list_decisions
from rexview.analysis.written_failures import WRITTEN_FAILURE_KIND as WRITTEN
from rexview.analysis.written_failures import list_written_failures
from rexview.answer_digest import digests_of
from rexview.columns.tables import NO_FAILURE
from rexview.harm import HarmTable
from rexview.schema import ReviewSet
from rexview.ui.meeting.meetings import all_meetings, may_lead
from rexview.ui.web.access import permissions
from rexview.ui.web.components import component
from rexview.ui.web.saving.entries import CASE_PAGE
from rexview.ui.web.saving.meeting_entries import decisions_json
from rexview.ui.web.saving.outbox import outbox_json
from rexview.ui.web.server import review_sets
from rexview.vocab import FAILURES, MEETING_DECISIONS
from rexview.words import tr

STYLE: Final = "meeting/decisions/assets/decisions.css"
"""The form's style sheet; a page with the form passes it to its component."""


def form_json(
    review_set: ReviewSet, own_words: tuple[str, ...] = (), *, with_people: bool = True
) -> dict[str, Any]:
    """Return what :file:`decision_form.js` takes in ``update``.

    ``own_words`` are the decisions of the meeting's own list. Without ``with_people`` the readers,
    who may be owners, are not named: for windows that follow.
    """
    levels = review_sets.engine(review_set).facts.harm.levels
    return {
        "may": may_lead(),
        "choices": {
            "failures": [
                [NO_FAILURE, tr("No failure")],
                *([one.id, one.name] for one in FAILURES.values()),
                *([name, name] for name in _in_own_words(review_set)),
            ],
            "harm": [[level, levels[level]] for level in sorted(levels)],
            "decisions": [
                *([word, name] for word, name in MEETING_DECISIONS.items()),
                *([word, word] for word in own_words),
            ],
            "people": sorted(
                set(review_sets.with_current_reviews(review_set).reader_names.values())
            )
            if with_people
            else [],
        },
    }


def _in_own_words(review_set: ReviewSet) -> list[str]:
    """Return the names of written failures; a decision keeps the name."""
    if not may_lead():
        return []
    rows = review_sets.reviews(review_set).current(WRITTEN)
    every, _ = list_written_failures(review_set.folder, rows)
    names = dict.fromkeys(one.value["name"] for one in every if one.value is not None)
    return [name for name in names if name != NO_FAILURE and name not in FAILURES]


def proposals_json(page: CasePage, table: HarmTable) -> dict[str, dict[str, Any]]:
    """Return the worst failure of a case (key ``""``) and of each answer, as proposed decisions.

    Nothing is stored before somebody confirms it.
    """
    worst = build_case_headline(page, table)
    found = build_answer_headlines(page, table) | ({"": worst} if worst else {})
    return {
        key: {"failure": one.failure, "severity": one.harm, "suggested": one.suggested}
        for key, one in found.items()
    }


def show_case_decisions(review_set: ReviewSet, page: CasePage) -> None:
    """Show decisions on the Case page, and the decision form if a meeting has the case.

    Show nothing for a case that belongs to no meeting.

    Raises
    ------
    StoreError
    """
    case = page.case.id
    held = [
        one
        for one in all_meetings(review_set)
        if may_lead() and not one.closed and case in one.cases
    ]
    written = review_sets.with_current_reviews(review_set)
    every = list_decisions(written, case=case)
    if not every and not held:
        return
    reviews = review_sets.reviews(review_set)
    told = decisions_json(written, reviews, every, case)
    open_ids = {one.id for one in held}
    digests = digests_of(review_set).of_all((case, one.model) for one in page.answers)
    names = review_set.model_names
    data = {
        **form_json(review_set),
        "outbox": outbox_json(review_set, CASE_PAGE, permissions.current_person()),
        "case": case,
        "revision": reviews.revision(),
        "meetings": [
            {"id": one.id, "name": one.name, "decisions": [[word, word] for word in one.decisions]}
            for one in held
        ],
        "subjects": [
            {"key": "", "name": tr("The case"), "shown": None},
            *(
                {"key": one.model, "name": names[one.model], "shown": digests[case, one.model]}
                for one in page.answers
            ),
        ],
        "rows": {
            one: {row["model"] or "": row for row in told if row["meeting"] == one}
            for one in open_ids
        },
        "proposals": proposals_json(page, review_sets.engine(review_set).facts.harm)
        if held
        else {},
        "past": [row for row in told if row["meeting"] not in open_ids],
    }
    show = component(
        "rexview_case_decisions",
        "meeting/decisions/assets/case_decisions.js",
        style=STYLE,
        title=tr("What meetings decided"),
    )
    show(key="rx_case_decisions", data=data, on_refresh_change=lambda: None)
