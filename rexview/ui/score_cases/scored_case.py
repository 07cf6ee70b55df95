"""The widgets of the Score page: the shown case, pad and viewer, the reveal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import polars as pl
import streamlit as st

from rexview.analysis.query.engine import Position
from rexview.analysis.query.study_tasks import Task
from rexview.errors import StoreError
from rexview.people import Person
from rexview.schema import ReviewSet
from rexview.store import may_write_kind
from rexview.ui.safe_text import lines_as_markdown
from rexview.ui.score_cases import reader_pads as tasks_widgets
from rexview.ui.score_cases.reader_pads import pad_case, pad_data, reader_page
from rexview.ui.tables.data_table import show_wide_table
from rexview.ui.turning.item_pad import draw_pad
from rexview.ui.turning.ticket import turning_json
from rexview.ui.viewer.case_payload import ViewerSettings, page_viewer_data, show_viewer
from rexview.ui.web.access import permissions
from rexview.ui.web.app.shell import show_nothing_yet
from rexview.ui.web.components import component
from rexview.ui.web.link import keys as link_keys
from rexview.ui.web.link.pages import PAGE_BROWSE, PAGE_SCORE, PAGE_STUDY
from rexview.ui.web.saving.reader_study import ReaderStudy, load_reader_study
from rexview.ui.web.saving.reader_tasks import TASK_LISTS
from rexview.ui.web.server import review_sets
from rexview.vocab import DIMENSION_NAMES, DIMENSIONS
from rexview.words import tr

HEIGHT: Final = "clamp(560px, calc(100dvh - 140px), 1200px)"
"""The window's free height for viewer and pad below the navigation and the notice."""
_PURPOSES: Final[dict[Task, str]] = {
    "score": tr(
        "Score each answer from 1 to 5 on every dimension. The model's name, and other "
        "readers' scores, stay hidden while you score."
    ),
    "answer": tr(
        "Answer each question with one of its options. Your time is recorded. "
        "The report, the right option and everyone else's answers stay hidden."
    ),
    "correct": tr(
        "Correct each report line by line, and grade every error from 0 to 4. The model's "
        "name stays hidden."
    ),
    "compare": tr(
        "Choose the better of two reports, or that there is no difference. The models' "
        "names stay hidden."
    ),
}
"""The explanation of a task to a reader before a name is requested."""
_MOST_ROWS: Final = 2000
_PAD: Final = "score_cases/pad/assets/pad"
_STYLE: Final = "pad/assets/pad.css"
TAKEN_KEYS: Final = "123456789?npsgujkea"
"""Keys of the pad (its ``keys.js``), and the digits that would be next to them."""
SCORE_VIEWER_SETTINGS: Final = ViewerSettings(
    blinded=True, taken_keys=TAKEN_KEYS, height=HEIGHT, one_group=True
)
"""The viewer's settings on the Score page."""
_BELOW_TASKS: Final = replace(SCORE_VIEWER_SETTINGS, height=tasks_widgets.HEIGHT)


def viewer_settings(study: ReaderStudy) -> ViewerSettings:
    """Return the viewer's settings: a lower viewer if the choice of tasks is above it."""
    return _BELOW_TASKS if len(study.engine.tasks) > 1 else SCORE_VIEWER_SETTINGS


def require_reader(task: Task) -> Person:
    """Return the reader; ask for a missing name, and stop people who may not score."""
    person = permissions.require_name(f"# {tr('Score cases')}\n\n{_PURPOSES[task]}")
    if not may_write_kind(person, "score"):
        st.info(tr("Your role does not score."))
        st.stop()
    return person


def load_study(review_set: ReviewSet, person: Person) -> ReaderStudy:
    """Return the current study; explain and stop if it cannot be read.

    Its set contains the cases that have entries by now. If the files have changed since, the page
    is run again: its fragment would continue to show the earlier answers, and no score of these
    would be accepted.
    """
    if not review_sets.is_newest(review_set):
        st.rerun()
    try:
        given = review_sets.load(review_set.folder, review_sets.files_state(review_set))
        study = load_reader_study(given, person)
    except StoreError as error:
        st.error(lines_as_markdown(error), icon=":material/error:")
        st.stop()
    return study


def check_worklist(study: ReaderStudy) -> None:
    """Explain and stop if there is nothing to score."""
    if not study.worklist:
        if study.reviews.assignments():
            show_nothing_yet(
                tr(
                    "Cases have been assigned to readers, and none of them to you. The "
                    "review lead assigns them."
                ),
                (PAGE_STUDY, tr("Case assignments")),
            )
        else:
            show_nothing_yet(
                tr("There is nothing for you to score in this review set."),
                (PAGE_STUDY, tr("Case assignments")),
                (PAGE_BROWSE, tr("Browse cases")),
            )
        st.stop()


def case_to_show(study: ReaderStudy) -> str:
    """Return the case of the link if it is on the worklist, else the one to continue with."""
    wanted = link_keys.link_case()
    if wanted is None or not study.has(wanted):
        wanted = study.resume() or study.worklist.page(0, 1)[0]
    link_keys.go_to_case(wanted)
    return wanted


def show_picture(study: ReaderStudy, case_id: str) -> None:
    """Show the radiographs, and on request the boxes of the answer being scored."""
    page = reader_page(study, case_id)
    if page is None:
        return
    turning = scored_case_turning(study)
    show_viewer(
        study.review_set, page, study.worklist.position, viewer_settings(study), turning=turning
    )


def scored_case_turning(study: ReaderStudy) -> dict[str, Any]:
    """Return the data with which the browser fetches other cases.

    Its state includes what was revealed to the reader, which changes the visible data, and the
    reader's assigned cases.
    """
    revealed = len(study.given.of("reveal"))
    state = f"{study.review_set.fingerprint} {revealed} {hash(study.assigned)}"
    return turning_json(study.review_set, PAGE_SCORE, {}, state=state)


@dataclass(frozen=True)
class NeighbouringScoredCases:
    """The cases of a reader's worklist that a browser may turn to."""

    study: ReaderStudy

    def position(self, case_id: str) -> Position:
        """Return the position of a case."""
        return self.study.worklist.position(case_id)

    def page(self, start: int, size: int) -> Sequence[str]:
        """Return at most ``size`` ids from index ``start``."""
        return self.study.worklist.page(start, size)

    def case_json(self, case_id: str) -> dict[str, Any] | None:
        """Return exactly the page's data of a case; None if there is no such case."""
        page = reader_page(self.study, case_id)
        if page is None:
            return None
        manner = viewer_settings(self.study)
        viewer = page_viewer_data(self.study.review_set, page, self.position, manner)
        pad = pad_case(self.study, case_id)
        return {"case": case_id, "viewer": viewer.to_json(manner.height), "pad": pad}


def neighbouring_scored_cases(
    review_set: ReviewSet, detail: Mapping[str, Any]
) -> NeighbouringScoredCases | tasks_widgets.NeighbouringItems | None:
    """Return the requesting reader's cases or task items; None for people who do not score.

    Raises
    ------
    StoreError
        The reader's entries cannot be read.
    """
    person = permissions.current_person()
    if person is None or not may_write_kind(person, "score"):
        return None
    study = load_reader_study(review_set, person)
    tasks = next((made for task, made in TASK_LISTS.items() if task == detail.get("task")), None)
    return (
        tasks_widgets.NeighbouringItems(tasks(study)) if tasks else NeighbouringScoredCases(study)
    )


def show_pad(study: ReaderStudy, case_id: str) -> None:
    """Show the score pad, our own component.

    The entries go to :mod:`rexview.ui.web.saving.route`, not through the page's script. The page
    only gets the requested case, an empty id for the next unscored one. The key is the same for
    every case, so that the pad keeps entries that are being sent.
    """
    pad = component("rexview_score_pad", f"{_PAD}.js", style=_STYLE, title=tr("The score pad"))
    shown = {"height": viewer_settings(study).height, "turning": scored_case_turning(study)}
    data = {**shown, **pad_data(study, case_id)}
    draw_pad(pad, data, key="score_pad")


def show_reveal(study: ReaderStudy) -> None:
    """Show the cases whose models were revealed to the reader; nothing if there are none."""
    table = revealed_table(study)
    if table.is_empty():
        return
    st.markdown(f"## {tr('The models and your scores')}")
    if study.review_set.info.protocol.reveal_peers:
        st.caption(tr("With the scores of the other readers, as the study's rules now allow."))
    titles = {
        "Case": tr("Case"),
        "Answer": tr("Answer"),
        "Model": tr("Model"),
        "Reader": tr("Reader"),
    }
    shown = table.head(_MOST_ROWS)
    show_wide_table(shown, key="score_revealed", titles=titles, height="auto")


def revealed_table(study: ReaderStudy) -> pl.DataFrame:
    """Return the scores on revealed cases, in the order of the worklist.

    One row for each answer and reader: ``Case``, ``Answer``, ``Model``, ``Reader``, then a column
    for each scored dimension with the mean over images.
    """
    cases = study.revealed()
    answers = [
        {
            "case": case,
            "model": model,
            "Case": case,
            "Answer": slot,
            "Model": study.review_set.model_names[model],
        }
        for case in cases
        for slot, model in study.slots(case).items()
    ]
    if not answers:
        return pl.DataFrame()
    rows = pl.DataFrame(answers).with_row_index("_place")
    scores = _scores(study).filter(pl.col("score").is_not_null())
    wide = (
        scores.group_by("case", "model", "reader", "dimension")
        .agg(pl.col("score").cast(pl.Float64).mean())
        .pivot("dimension", index=["case", "model", "reader"], values="score")
    )
    names = {**study.review_set.reader_names, **_writers(study), study.person.id: tr("You")}
    found = rows.join(wide, on=["case", "model"], how="left").sort("_place", "reader")
    shown = [name for name in DIMENSIONS if name in found.columns]
    reader = pl.col("reader").replace_strict(names, default=pl.col("reader")).alias("Reader")
    return found.select(
        "Case",
        "Answer",
        "Model",
        reader,
        *(pl.col(name).alias(DIMENSION_NAMES[name]) for name in shown),
    )


def _scores(study: ReaderStudy) -> pl.DataFrame:
    if not study.review_set.info.protocol.reveal_peers:
        return study.scores
    given = study.review_set.scores.filter(pl.col("reader") != study.person.id)
    return pl.concat([given, study.reviews.scores()])


def _writers(study: ReaderStudy) -> dict[str, str]:
    if not study.review_set.info.protocol.reveal_peers:
        return {}
    return {key: person.name for key, person in study.reviews.people().items()}
