"""The widgets of the tasks besides scoring: which task, the pad and the picture, the results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import polars as pl
import streamlit as st

from rexview.analysis.case.blinding import blinded_page
from rexview.analysis.case.record import CasePage
from rexview.analysis.engine import Position
from rexview.analysis.study import TASKS, Task, models_of_people, own_result
from rexview.schema import ReviewSet
from rexview.ui.app.nothing_yet import show_nothing_yet
from rexview.ui.components import component
from rexview.ui.link import keys as link_keys
from rexview.ui.link.choices import option_kept_in_link
from rexview.ui.link.pages import PAGE_SCORE, PAGE_STUDY
from rexview.ui.pad.shown import draw_pad
from rexview.ui.saving.entries import TASK_PAGES
from rexview.ui.saving.outbox import outbox_json
from rexview.ui.saving.reader_study import Study
from rexview.ui.saving.reader_tasks import TASK_LISTS, Questions, TaskList
from rexview.ui.score_cases.tasks.content import item_json
from rexview.ui.server import review_sets
from rexview.ui.tables.wide_table import show_wide_table
from rexview.ui.turning.ticket import turning_json
from rexview.ui.viewer.case_payload import ViewerManner, show_viewer, shown_data
from rexview.vocab import EDIT_KINDS, EDIT_SEVERITIES, SIGNIFICANCES
from rexview.words import tr, trc

HEIGHT: Final = "clamp(560px, calc(100dvh - 190px), 1200px)"
"""What the window leaves below the navigation, the notice and the choice of the task."""
TAKEN_KEYS: Final = "0123456789abcdefgijknpsty?"
MANNER: Final = ViewerManner(blinded=True, taken_keys=TAKEN_KEYS, height=HEIGHT, one_group=True)
_SCRIPTS: Final[dict[Task, tuple[str, str]]] = {
    "answer": ("questions", tr("The questions")),
    "correct": ("corrections", tr("The correction")),
    "compare": ("comparisons", tr("The comparison")),
}
_ASSETS: Final = "score_cases/tasks/assets"
_STYLES: Final = ("pad/assets/pad.css", "pad/assets/task_pad.css", f"{_ASSETS}/tasks.css")
_PAGES: Final = {task: page for page, task in TASK_PAGES.items()}


def choose_task(review_set: ReviewSet) -> Task:
    """Offer the tasks that the set has cases for; return the chosen one."""
    tasks = review_sets.study_engine(review_set).tasks
    if len(tasks) < 2:
        return next(iter(tasks), "score")
    kept = option_kept_in_link("score_task", link_keys.QUERY_TASK, tasks, tasks[0])

    def changed() -> None:
        link_keys.go_to_case(None)
        kept["on_change"]()

    chosen = st.segmented_control(
        tr("Task"),
        tasks,
        format_func=lambda task: TASKS[task],
        required=True,
        label_visibility="collapsed",
        **{**kept, "on_change": changed},
    )
    return next(task for task in tasks if task == chosen)


def show_task(study: Study, task: Task) -> None:
    """Show one item of a task: what is to be done beside the picture."""
    tasks = TASK_LISTS[task](study)
    if not tasks.worklist:
        show_nothing_yet(
            tr("There is nothing of this for you to do in this review set."),
            (PAGE_STUDY, tr("Who reads what")),
        )
        return
    item = _item_to_show(tasks)
    study = study.holding([tasks.case_of(item)])
    tasks = TASK_LISTS[task](study)
    left, right = st.columns([10, 11], gap="small")
    with right:
        _show_pad(tasks, item)
    with left:
        page = _page(tasks, item)
        if page is not None:
            turning = _turning(tasks)
            review_set = study.review_set
            show_viewer(review_set, page, tasks.worklist.position, MANNER, turning=turning)
    if isinstance(tasks, Questions):
        _show_result(tasks)


def _show_result(tasks: Questions) -> None:
    """Show how the reader and the models answered, once the right options were shown."""
    table = result_table(tasks)
    if table.is_empty():
        return
    title = tr("Your answers and the models'")
    st.markdown(f"## {title}")
    st.caption(
        tr(
            "Of the questions that you answered and were shown the right option of. "
            "A model without a usable choice is wrong. Kappa: whether somebody chose "
            "the same option as you, beyond chance; – where it is undefined."
        )
    )
    as_text: dict[str, Callable[[Any], str]] = {
        "Accuracy": lambda share: f"{share:.0%}",
        "Same as you": str,
        "Kappa": lambda kappa: f"{kappa:.2f}",
    }
    shown = [
        pl.col(name).map_elements(words_of, return_dtype=pl.String).fill_null("–")
        for name, words_of in as_text.items()
    ]
    titles = {
        "Who": tr("Who"),
        "Right": tr("Right"),
        "Of": trc("how many", "Of"),
        "Accuracy": tr("Accuracy"),
        "Same as you": tr("Same as you"),
        "Kappa": tr("Kappa"),
    }
    table = table.with_columns(shown)
    show_wide_table(table, key="task_results", titles=titles, height="auto")


def result_table(tasks: Questions) -> pl.DataFrame:
    """Return :func:`rexview.analysis.study.own_result` of what may be shown.

    Without ``reveal_peers`` in the rules, answers of other readers that came with the set are none.
    """
    solved = [item for item in tasks.states if tasks.is_solved(item)]
    own = {item: given for item in solved if isinstance(given := tasks.chosen(item), int)}
    if not own:
        return pl.DataFrame()
    cases = ((item, tasks.study.review_set.case(item)) for item in own)
    right = {
        item: case.correct for item, case in cases if case is not None and case.correct is not None
    }
    chosen = tasks.study.engine.chosen(list(own))
    review_set = tasks.study.review_set
    shows_peers = review_set.info.protocol.reveal_peers
    peers = frozenset() if shows_peers else models_of_people(review_set)
    names = {model: name for model, name in review_set.model_names.items() if model not in peers}
    return own_result(own, right, chosen, names)


def _item_to_show(tasks: TaskList) -> str:
    """Return the item of the link if it is on the list, else the one to go on with."""
    wanted = link_keys.case_wanted()
    if wanted is None or not tasks.has(wanted):
        wanted = tasks.resume() or tasks.worklist.page(0, 1)[0]
    link_keys.go_to_case(wanted)
    return wanted


def _page(tasks: TaskList, item: str) -> CasePage | None:
    """Return the case without its answers, under the name of the item."""
    page = blinded_page(tasks.study.review_set, tasks.case_of(item), {})
    return page and replace(page, case=replace(page.case, id=item))


def _turning(tasks: TaskList) -> dict[str, Any]:
    study = tasks.study
    revealed = len(study.given.of("reveal"))
    state = f"{study.review_set.fingerprint} {revealed} {hash(study.assigned)}"
    return turning_json(study.review_set, PAGE_SCORE, {"task": tasks.task}, state=state)


@dataclass(frozen=True)
class ItemsAround:
    """The items of a task that a browser may turn to."""

    tasks: TaskList

    def position(self, item: str) -> Position:
        """Return where an item stands."""
        return self.tasks.worklist.position(item)

    def page(self, start: int, size: int) -> Sequence[str]:
        """Return the items from a place on, from 0."""
        return self.tasks.worklist.page(start, size)

    def case_json(self, item: str) -> dict[str, Any] | None:
        """Return what the page shows of an item, and nothing else; None where there is none."""
        pad = item_json(self.tasks, item)
        page = _page(self.tasks, item) if pad else None
        if pad is None or page is None:
            return None
        viewer = shown_data(self.tasks.study.review_set, page, self.position, MANNER)
        return {"case": item, "viewer": viewer.to_json(MANNER.height), "pad": pad}


def _show_pad(tasks: TaskList, item: str) -> None:
    script, title = _SCRIPTS[tasks.task]
    pad = component(f"rexview_{script}", f"{_ASSETS}/{script}.js", style=_STYLES, title=title)
    data = {"height": HEIGHT, "turning": _turning(tasks), **task_data(tasks, item)}
    draw_pad(pad, data, key=f"task_pad_{tasks.task}")


def task_data(tasks: TaskList, item: str) -> dict[str, Any]:
    """Make the data of a task's pad for an item of the list, as JSON has it."""
    study, progress = tasks.study, tasks.progress
    rules = study.review_set.info.protocol
    return {
        "outbox": outbox_json(study.review_set, _PAGES[tasks.task], study.person),
        "case": item_json(tasks, item),
        "worklist": {
            "total": progress.total,
            "done": progress.done,
            "skipped": progress.skipped,
        },
        "report": rules.report,
        "reveal": rules.reveal,
        "reference": may_keep_reference(study.review_set, study.person.role),
        "words": {
            "severities": EDIT_SEVERITIES,
            "kinds": EDIT_KINDS,
            "significances": SIGNIFICANCES,
        },
    }


def may_keep_reference(review_set: ReviewSet, role: str) -> bool:
    """Whether somebody may keep a report that they corrected as a reference."""
    return role != "reader" or review_set.info.protocol.reader_references
