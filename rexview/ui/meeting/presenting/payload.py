"""All that a browser gets of a case at one step of a meeting, as JSON.

It is made of a :class:`~rexview.analysis.meeting_steps.ShownCase`, which holds nothing of later
steps: neither can this.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from rexview.analysis import meeting_steps
from rexview.analysis.case.blinding import cover_names
from rexview.analysis.case.record import CasePage
from rexview.analysis.colours import slot_colours
from rexview.analysis.engine import Position
from rexview.analysis.meeting_steps import ShownCase, shown_case
from rexview.analysis.meetings import Meeting
from rexview.schema import ReviewSet
from rexview.ui.link.keys import USUAL_ORDER
from rexview.ui.meeting.decisions.form import proposals_json
from rexview.ui.meeting.presenting.html import (
    Labels,
    answers_panel,
    boxes_panel,
    flags_panel,
    question_html,
    report_panel,
    scores_panel,
)
from rexview.ui.reviews.study_records import consensus_on
from rexview.ui.server import review_sets, server_state
from rexview.ui.server.review_sets import Seen
from rexview.ui.viewer.case_payload import viewer_data
from rexview.vocab import MEETING_STEPS
from rexview.words import tr

TAKEN_KEYS: Final = "jkgq? "
"""Keys of presenting (``keys.js``); the viewer takes them with Shift."""
_ALONE: Final = Position(None, 1, None, None)
"""Where the case stands is the meeting's to say: the viewer knows of no other."""


def case_json(
    review_set: ReviewSet, held: Meeting, case_id: str, step: int
) -> dict[str, Any] | None:
    """Make what a browser gets of a case at a step.

    Parameters
    ----------
    review_set : ReviewSet
        With what people wrote.
    held : Meeting
        Whose steps are gone through.
    case_id : str
    step : int
        The last one that may be shown, from 0.

    Returns
    -------
    dict or None
        ``case``, ``step``; ``steps`` as pairs of key and name; ``viewer`` as the viewer takes it;
        ``question`` and ``panels`` as HTML, these by step; ``letters``, of each answer that is
        shown its letter, name, colour, and ``model``, its id once models are named; ``notice`` of
        the set, which says that data are simulated; ``proposals`` for what may be decided, once
        failures are shown in words. None when the set has no such case.

    Raises
    ------
    StoreError
        The secret for letters cannot be read.
    """
    page = _whole(review_set, case_id)
    if page is None:
        return None
    key = review_sets.reviews(review_set).letter_key()
    shown = shown_case(review_set, page, held, step, key, consensus_on(review_set, case_id))
    labels = _labels(review_set, shown)
    info = review_set.info
    named = bool(shown.models)
    return {
        "case": page.case.id,
        "step": shown.step,
        "steps": [[one, MEETING_STEPS[one]] for one in shown.steps],
        "viewer": _viewer_json(review_set, shown, labels),
        "question": question_html(shown.page, labels, with_votes="answers" in shown.shown),
        "panels": _panels(review_set, shown, labels),
        "letters": [
            {
                "letter": answer.model,
                "name": labels.names[answer.model],
                "colour": labels.colours[answer.model],
                "model": shown.models.get(answer.model),
            }
            for answer in shown.page.answers
        ],
        "notice": info.notice if named else cover_names(review_set, info.notice),
        "proposals": _proposals(review_set, shown),
    }


def letters_of(review_set: ReviewSet, held: Meeting, case_id: str) -> dict[str, str]:
    """Return the model behind each letter of a case; it is for the server only.

    Raises
    ------
    StoreError
        The secret for letters cannot be read.
    """
    models = (answer.model for answer in review_set.answers_of(case_id))
    key = review_sets.reviews(review_set).letter_key()
    return meeting_steps.letters_of(held, case_id, models, key)


def _proposals(review_set: ReviewSet, shown: ShownCase) -> dict[str, dict[str, Any]]:
    if "flags" not in shown.shown or not shown.tells_flags:
        return {}
    return proposals_json(shown.page, review_sets.engine(review_set).facts.harm)


def _whole(review_set: ReviewSet, case_id: str) -> CasePage | None:
    """Return a case with everything, whoever asks and on whatever page."""
    number, _ = review_sets.failures_found(review_set).snapshot()
    return review_sets.case_page(review_set, case_id, Seen(USUAL_ORDER, number))


def _labels(review_set: ReviewSet, shown: ShownCase) -> Labels:
    letters = [answer.model for answer in shown.page.answers]
    if not shown.models:
        return Labels(
            {one: tr("Answer {slot}").format(slot=one) for one in letters}, slot_colours(letters)
        )
    names, colours = review_set.model_names, review_sets.colours(review_set)
    return Labels(
        {one: f"{one} · {names[shown.models[one]]}" for one in letters},
        {one: colours[shown.models[one]] for one in letters},
    )


def _viewer_json(review_set: ReviewSet, shown: ShownCase, labels: Labels) -> dict[str, Any]:
    data = viewer_data(review_set, shown.page, lambda case: _ALONE, labels.colours, labels.names)
    groups = tuple(replace(group, shown=True) for group in data.groups)
    return replace(data, groups=groups, taken_keys=TAKEN_KEYS).to_json("100%")


def _panels(review_set: ReviewSet, shown: ShownCase, labels: Labels) -> dict[str, str]:
    page, seen = shown.page, set(shown.shown)
    readers = review_set.reader_names
    panels = {}
    if "answers" in seen:
        gap = server_state.settings().gap_threshold
        panels["answers"] = answers_panel(page, labels, gap_threshold=gap)
    elif "boxes" in seen:
        panels["boxes"] = boxes_panel(page, labels)
    if "report" in seen:
        panels["report"] = report_panel(page)
    if "scores" in seen:
        panels["scores"] = scores_panel(page, labels, readers, shown.agreed)
    if "flags" in seen:
        panels["flags"] = flags_panel(
            page, labels, readers, in_words=shown.tells_flags, with_scores="scores" in seen
        )
    return panels
