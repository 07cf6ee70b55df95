"""What the pads of the tasks show of one item, made for one blinded reader.

A question comes without report, tags and answers, and without its right option until the rules of
the study allow it; reports come without their models, names in them covered.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from rexview.analysis.case.blinding import blinded_case, cover_names, cover_parts
from rexview.analysis.study import Task, reports_of, slot_name
from rexview.metrics.report_lines import report_lines
from rexview.schema import Case
from rexview.ui.answers import html as answers_html
from rexview.ui.html.safe_text import inline_html, markdown_html
from rexview.ui.saving.reader_tasks import Comparisons, Corrections, Questions, TaskList
from rexview.ui.score_cases.pad_data import report_json
from rexview.words import tr

_OWN_LETTER: Final = re.compile(r"\(?([A-Z])[.):]\s+(?=\S)")
"""A letter that a data set has written before an option."""


def item_json(tasks: TaskList, item: str) -> dict[str, Any] | None:
    """Return one item for its pad, None where there is no such item on the reader's list."""
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
        "report": None if isinstance(tasks, Questions) else report_json(tasks.study, case.id),
        "content": _CONTENT[tasks.task](tasks, item, case),
    }


def options_json(options: tuple[str, ...]) -> list[dict[str, str]]:
    """Return letter and words of each option; a letter that is written there stands once."""
    found = []
    for place, option in enumerate(options):
        letter = slot_name(place)
        written = _OWN_LETTER.match(option)
        text = option[written.end() :] if written and written[1] == letter else option
        found.append({"letter": letter, "text": text})
    return found


def _question(tasks: Any, item: str, case: Case) -> dict[str, Any]:
    blinded = blinded_case(case)
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
        said = tr("The set does not say which option is right.")
    else:
        option = options_json(case.options)[right]
        said = tr("Right: {letter}. {option}").format(
            letter=option["letter"], option=option["text"]
        )
    return f"<p><b>{html.escape(said)}</b></p>{markdown_html(explanation) if explanation else ''}"


def _pair(tasks: Any, item: str, case: Case) -> dict[str, Any]:
    reports, review_set = reports_of(tasks.study.review_set, case.id), tasks.study.review_set
    texts = [cover_names(review_set, reports[model].text or "") for model in tasks.pair(item)]
    return {"question": _asked_html(blinded_case(case)), "reports": list(map(markdown_html, texts))}


def _report(tasks: Any, item: str, case: Case) -> dict[str, Any]:
    review_set = tasks.study.review_set
    text = reports_of(review_set, case.id)[tasks.model(item)].text or ""
    lines = report_lines(text)
    shown = cover_parts(review_set, text, [(line.start, line.end) for line in lines])
    return {
        "question": _asked_html(blinded_case(case)),
        "lines": [
            {"number": line.number, "text": words, "section": line.section}
            for line, words in zip(lines, shown, strict=True)
        ],
    }


_CONTENT: Final[Mapping[Task, Callable[[Any, str, Case], dict[str, Any]]]] = {
    Questions.task: _question,
    Comparisons.task: _pair,
    Corrections.task: _report,
}
