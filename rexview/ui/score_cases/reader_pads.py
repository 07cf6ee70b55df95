"""The pads of the Score page: the data of each, and the reader's tasks besides scoring.

Everything is made from the blinded case (:mod:`rexview.analysis.case.blinding`). Only the report
and the models' names are added, and only where the reader may see them. Texts are shown as plain
text, except those under ``html`` and ``question``, which are made and escaped here.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from typing import Any, Final

import polars as pl
import streamlit as st

from rexview.analysis.case.blinding import blind_case, build_blinded_page, cover_names, cover_parts
from rexview.analysis.case.case_page import READER_FAILURES, CasePage, list_reader_failures
from rexview.analysis.colours import assign_slot_colours
from rexview.analysis.query.engine import Position
from rexview.analysis.query.study_tasks import (
    TASKS,
    Task,
    build_own_result,
    find_reader_models,
    find_reports,
    format_slot,
    needs_scores,
    read_study_rubric,
)
from rexview.analysis.reader_exposure import REPORT_EXPOSURE
from rexview.metrics.report_lines import report_lines
from rexview.schema import Answer, Case, ReviewSet
from rexview.ui.answers import answer_card as answers_html
from rexview.ui.answers.flags import link_spans
from rexview.ui.safe_text import inline_html, markdown_html
from rexview.ui.tables.data_table import show_wide_table
from rexview.ui.turning.item_pad import draw_pad
from rexview.ui.turning.ticket import turning_json
from rexview.ui.viewer.case_payload import ViewerSettings, page_viewer_data, show_viewer
from rexview.ui.web.app.shell import show_nothing_yet
from rexview.ui.web.components import component
from rexview.ui.web.link import keys as link_keys
from rexview.ui.web.link.link_choices import bind_option_to_link
from rexview.ui.web.link.pages import PAGE_SCORE, PAGE_STUDY
from rexview.ui.web.saving.entries import SCORE_PAGE, TASK_PAGES
from rexview.ui.web.saving.outbox import outbox_json
from rexview.ui.web.saving.reader_study import ReaderStudy, case_record_json, items_to_score
from rexview.ui.web.saving.reader_tasks import (
    TASK_LISTS,
    ComparisonTasks,
    CorrectionTasks,
    QuestionTasks,
    TaskList,
)
from rexview.ui.web.server import review_sets
from rexview.vocab import (
    EDIT_KINDS,
    EDIT_SEVERITIES,
    FAILURES,
    SIGNIFICANCES,
    option_with_letter,
    starts_with_letter,
)
from rexview.words import tr, trc

_AROUND: Final = 200
"""Cases before and after the shown one in the list of cases."""
_ENDINGS: Final = {
    "length": tr("Cut off at the token limit: needs no score"),
    "content_filter": tr("Blocked by a content filter: needs no score"),
}


def reader_page(study: ReaderStudy, case_id: str) -> CasePage | None:
    """Return a case as the reader may see it; None if it is not on their worklist."""
    if not study.has(case_id):
        return None
    return _shown(study, case_id)[0]


def _shown(study: ReaderStudy, case_id: str) -> _Shown:
    return _blinded(study.review_set, case_id, tuple(study.slots(case_id).items()))


def pad_data(study: ReaderStudy, case_id: str) -> dict[str, Any]:
    """Return the pad's data for a case of the worklist, as JSON.

    Places count from 1; the list of cases contains those around the shown one.
    """
    place = study.worklist.position(case_id).number or 1
    first = max(place - _AROUND, 1)
    around = study.worklist.page(first - 1, place + _AROUND + 1 - first)
    progress, rules = study.progress, study.review_set.info.protocol
    return {
        "outbox": outbox_json(study.review_set, SCORE_PAGE, study.person),
        "case": pad_case(study, case_id),
        "worklist": {
            "total": progress.total,
            "done": progress.done,
            "skipped": progress.skipped,
            "first": first,
            "entries": tuple((case, study.state(case)) for case in around),
        },
        "rubric": [
            {
                "id": one.id,
                "name": one.name,
                "question": one.question,
                "anchors": {str(level): text for level, text in one.anchors.items()},
            }
            for one in read_study_rubric(study.review_set).values()
        ],
        "failures": {
            name: {"name": FAILURES[name].name, "meaning": FAILURES[name].meaning}
            for name in READER_FAILURES
        },
        "protocol": {"report": rules.report, "reveal": rules.reveal},
    }


def pad_case(study: ReaderStudy, case_id: str) -> dict[str, Any]:
    """Return one case of the worklist for the pad.

    An answer has its letter (``slot``), its opaque id for the server (``shown``), whether it has to
    be scored (``needed``), otherwise the reason (``note``), and the failures that a reader can
    confirm. ``names`` of models are included only once they were revealed.
    """
    page, texts = _shown(study, case_id)
    if page is None:
        raise KeyError(case_id)
    position = study.worklist.position(case_id)
    slots, shown = study.slots(case_id), study.shown(case_id)
    colours = assign_slot_colours(slots)
    items = items_to_score(study.review_set, case_id)
    names = None
    if study.given.was_shown(case_id, "models"):
        every = study.review_set.model_names
        names = {slot: every[model] for slot, model in slots.items()}
    return {
        "case": case_id,
        "place": position.number,
        "previous": position.before,
        "next": position.after,
        "question": _question_html(page.case),
        "report": report_json(study, case_id),
        "answers": [
            {
                "slot": answer.model,
                "name": tr("Answer {model}").format(model=answer.model),
                "shown": shown[answer.model],
                "colour": colours[answer.model],
                "html": texts[answer.model],
                "items": [asdict(item) for item in items[slots[answer.model]]],
                "needed": needs_scores(answer),
                "note": _note(answer),
                "failures": list_reader_failures(page.case, answer),
            }
            for answer in page.answers
        ],
        "pictures": bool(page.case.images) or any(answer.images for answer in page.answers),
        "own": case_record_json(study, case_id),
        "names": names,
    }


def _question_html(case: Case) -> str:
    options = "".join(f"<li>{html.escape(option)}</li>" for option in case.options)
    own_letters = all(starts_with_letter(one, number) for number, one in enumerate(case.options))
    letters = ' style="list-style:none"' if own_letters else ' type="A"'
    listed = f"<ol{letters}>{options}</ol>" if options else ""
    return f"<p>{inline_html(case.question)}</p>{listed}{answers_html.request_html(case)}"


@lru_cache(maxsize=256)
def _blinded(review_set: ReviewSet, case_id: str, slots: tuple[tuple[str, str], ...]) -> _Shown:
    page = build_blinded_page(review_set, case_id, dict(slots))
    if page is None:
        return None, {}
    return page, {answer.model: _answer_html(page, answer) for answer in page.answers}


_Shown = tuple[CasePage | None, dict[str, str]]  # the page, and the answers' texts by slot


def _answer_html(page: CasePage, answer: Answer) -> str:
    text = answer.text or ""
    blocks = []
    if answer.choice is not None and 0 <= answer.choice < len(page.case.options):
        option = html.escape(option_with_letter(page.case.options[answer.choice], answer.choice))
        read = f" <small>{tr('(read from the text)')}</small>" if answer.choice_read else ""
        blocks.append(f'<p class="choice">{option}{read}</p>')
    if text.strip():
        blocks.append(markdown_html(text, link_spans(text, page)))
    if (answer.explanation or "").strip():
        blocks.append(markdown_html(answer.explanation or ""))
    return "".join(blocks) or f"<p><i>{tr('The model returned no text.')}</i></p>"


def _note(answer: Answer) -> str | None:
    if needs_scores(answer):
        return None
    if answer.error or answer.finish_reason == "error":
        return tr("The model's service reported an error: needs no score")
    return _ENDINGS.get(answer.finish_reason, tr("No answer returned: needs no score"))


def report_json(study: ReaderStudy, case_id: str) -> dict[str, Any]:
    """Return the report if the reader may see it; ``html`` is included only when it is shown."""
    rule, state, shown = study.review_set.info.protocol.report, "shown", None
    if rule == "never":
        state = "never"
    elif rule == "on_request" and not study.given.was_shown(case_id, REPORT_EXPOSURE):
        state = "hidden"
    else:
        case = study.review_set.case(case_id)
        shown = answers_html.report_sections_html(case.report) if case else ""
        shown = shown or f"<p>{tr('This case has no report.')}</p>"
    return {"state": state, "html": shown, "always": rule == "always"}


# The pads' data of one item of a task, made for one blinded reader.
#
# A question has no report, tags and answers, and no right option until the rules of the study
# allow it. Reports come without their models, and names in them are covered.

_OWN_LETTER: Final = re.compile(r"\(?([A-Z])[.):]\s+(?=\S)")
"""A letter that a data set has written before an option."""


def item_json(tasks: TaskList, item: str) -> dict[str, Any] | None:
    """Return one item for its pad; None if the reader's list has no such item."""
    case = tasks.study.review_set.case(tasks.case_of(item)) if tasks.has(item) else None
    if case is None:
        return None
    position = tasks.worklist.position(item)
    return {
        "case": item,
        "place": position.number,
        "previous": position.before,
        "next": position.after,
        "own": tasks.own(item),
        "report": None if isinstance(tasks, QuestionTasks) else report_json(tasks.study, case.id),
        "content": _CONTENT[tasks.task](tasks, item, case),
    }


def options_json(options: tuple[str, ...]) -> list[dict[str, str]]:
    """Return letter and text of each option; a letter already in the text is not repeated."""
    found = []
    for place, option in enumerate(options):
        letter = format_slot(place)
        written = _OWN_LETTER.match(option)
        text = option[written.end() :] if written and written[1] == letter else option
        found.append({"letter": letter, "text": text})
    return found


def _question(tasks: Any, item: str, case: Case) -> dict[str, Any]:
    blinded = blind_case(case)
    solved = tasks.is_solved(item)
    explanation = (case.explanation or "").strip() if solved else ""
    return {
        "question": _asked_html(blinded),
        "options": options_json(case.options),
        "correct": case.correct if solved else None,
        "solution": _solution_html(case, explanation) if solved else None,
    }


def _asked_html(case: Case) -> str:
    return f"<p>{inline_html(case.question)}</p>{answers_html.request_html(case)}"


def _solution_html(case: Case, explanation: str) -> str:
    right = case.correct
    if right is None or not 0 <= right < len(case.options):
        said = tr("The set does not mark which option is right.")
    else:
        option = options_json(case.options)[right]
        said = tr("Right: {letter}. {option}").format(
            letter=option["letter"], option=option["text"]
        )
    return f"<p><b>{html.escape(said)}</b></p>{markdown_html(explanation) if explanation else ''}"


def _pair(tasks: Any, item: str, case: Case) -> dict[str, Any]:
    reports, review_set = find_reports(tasks.study.review_set, case.id), tasks.study.review_set
    texts = [cover_names(review_set, reports[model].text or "") for model in tasks.pair(item)]
    return {"question": _asked_html(blind_case(case)), "reports": list(map(markdown_html, texts))}


def _report(tasks: Any, item: str, case: Case) -> dict[str, Any]:
    review_set = tasks.study.review_set
    text = find_reports(review_set, case.id)[tasks.model(item)].text or ""
    lines = report_lines(text)
    shown = cover_parts(review_set, text, [(line.start, line.end) for line in lines])
    return {
        "question": _asked_html(blind_case(case)),
        "lines": [
            {"number": line.number, "text": words, "section": line.section}
            for line, words in zip(lines, shown, strict=True)
        ],
    }


_CONTENT: Final[Mapping[Task, Callable[[Any, str, Case], dict[str, Any]]]] = {
    QuestionTasks.task: _question,
    ComparisonTasks.task: _pair,
    CorrectionTasks.task: _report,
}


# The widgets of the tasks besides scoring: choice of task, pad and viewer, results.

HEIGHT: Final = "clamp(560px, calc(100dvh - 190px), 1200px)"
"""The window's free height below the navigation, the notice and the choice of the task."""
TAKEN_KEYS: Final = "0123456789abcdefgijknpsty?"
MANNER: Final = ViewerSettings(blinded=True, taken_keys=TAKEN_KEYS, height=HEIGHT, one_group=True)
_SCRIPTS: Final[dict[Task, tuple[str, str]]] = {
    "answer": ("questions", tr("The questions")),
    "correct": ("corrections", tr("The correction")),
    "compare": ("comparisons", tr("The comparison")),
}
_ASSETS: Final = "score_cases/tasks/assets"
_STYLES: Final = ("pad/assets/pad.css", "pad/assets/task_pad.css", f"{_ASSETS}/tasks.css")
_PAGES: Final = {task: page for page, task in TASK_PAGES.items()}


def choose_task(review_set: ReviewSet) -> Task:
    """Show a choice of the tasks for which the set has cases; return the chosen one."""
    tasks = review_sets.study_engine(review_set).tasks
    if len(tasks) < 2:
        return next(iter(tasks), "score")
    kept = bind_option_to_link("score_task", link_keys.QUERY_TASK, tasks, tasks[0])

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


def show_task(study: ReaderStudy, task: Task) -> None:
    """Show one item of a task: the pad next to the viewer."""
    tasks = TASK_LISTS[task](study)
    if not tasks.worklist:
        show_nothing_yet(
            tr("You have no such tasks in this review set."),
            (PAGE_STUDY, tr("Case assignments")),
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
    if isinstance(tasks, QuestionTasks):
        _show_result(tasks)


def _show_result(tasks: QuestionTasks) -> None:
    """Show the answers of the reader and of the models, once the right options were shown."""
    table = result_table(tasks)
    if table.is_empty():
        return
    title = tr("Your answers and the models'")
    st.markdown(f"## {title}")
    st.caption(
        tr(
            "Only questions that you answered and whose right option was shown to you. A "
            "model without a usable choice is wrong. Kappa: whether someone chose the same "
            "option as you, beyond chance; – where it is undefined."
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


def result_table(tasks: QuestionTasks) -> pl.DataFrame:
    """Return the visible part of :func:`rexview.analysis.query.study_tasks.build_own_result`.

    Without ``reveal_peers`` in the rules, other readers' answers that came with the set are left
    out.
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
    peers = frozenset() if shows_peers else find_reader_models(review_set)
    names = {model: name for model, name in review_set.model_names.items() if model not in peers}
    return build_own_result(own, right, chosen, names)


def _item_to_show(tasks: TaskList) -> str:
    """Return the item of the link if it is on the list, else the one to continue with."""
    wanted = link_keys.link_case()
    if wanted is None or not tasks.has(wanted):
        wanted = tasks.resume() or tasks.worklist.page(0, 1)[0]
    link_keys.go_to_case(wanted)
    return wanted


def _page(tasks: TaskList, item: str) -> CasePage | None:
    """Return the case without its answers, under the name of the item."""
    page = build_blinded_page(tasks.study.review_set, tasks.case_of(item), {})
    return page and replace(page, case=replace(page.case, id=item))


def _turning(tasks: TaskList) -> dict[str, Any]:
    study = tasks.study
    revealed = len(study.given.of("reveal"))
    state = f"{study.review_set.fingerprint} {revealed} {hash(study.assigned)}"
    return turning_json(study.review_set, PAGE_SCORE, {"task": tasks.task}, state=state)


@dataclass(frozen=True)
class NeighbouringItems:
    """The items of a task that a browser may turn to."""

    tasks: TaskList

    def position(self, item: str) -> Position:
        """Return the position of an item."""
        return self.tasks.worklist.position(item)

    def page(self, start: int, size: int) -> Sequence[str]:
        """Return at most ``size`` items from index ``start``."""
        return self.tasks.worklist.page(start, size)

    def case_json(self, item: str) -> dict[str, Any] | None:
        """Return exactly the page's data of an item; None if there is no such item."""
        pad = item_json(self.tasks, item)
        page = _page(self.tasks, item) if pad else None
        if pad is None or page is None:
            return None
        viewer = page_viewer_data(self.tasks.study.review_set, page, self.position, MANNER)
        return {"case": item, "viewer": viewer.to_json(MANNER.height), "pad": pad}


def _show_pad(tasks: TaskList, item: str) -> None:
    script, title = _SCRIPTS[tasks.task]
    pad = component(f"rexview_{script}", f"{_ASSETS}/{script}.js", style=_STYLES, title=title)
    data = {"height": HEIGHT, "turning": _turning(tasks), **task_data(tasks, item)}
    draw_pad(pad, data, key=f"task_pad_{tasks.task}")


def task_data(tasks: TaskList, item: str) -> dict[str, Any]:
    """Return the data of a task's pad for an item of the list, as JSON."""
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
    """Return whether a role may keep a corrected report as a reference."""
    return role != "reader" or review_set.info.protocol.reader_references
