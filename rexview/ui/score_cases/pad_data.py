"""What the score pad shows of one case, made for one blinded reader.

Everything is made from the blinded case (:mod:`rexview.analysis.case.blinding`): only the report
and the models' names are added, and only where the reader may see them. Texts are shown as text but
for those under ``html`` and ``question``, which are made and escaped here.
"""

from __future__ import annotations

import html
from dataclasses import asdict
from functools import lru_cache
from typing import Any, Final

from rexview.analysis.case.blinding import blinded_page
from rexview.analysis.case.record import READER_FAILURES, CasePage, failures_of_reader
from rexview.analysis.colours import slot_colours
from rexview.analysis.reader_exposure import REPORT
from rexview.analysis.study import needs_scores, rubric_of
from rexview.schema import Answer, Case, ReviewSet
from rexview.ui.answers import html as answers_html
from rexview.ui.answers.flags import link_spans
from rexview.ui.html.safe_text import inline_html, markdown_html
from rexview.ui.saving.entries import SCORE_PAGE
from rexview.ui.saving.outbox import outbox_json
from rexview.ui.saving.reader_study import Study, given_json, items_to_score
from rexview.vocab import FAILURES, has_own_letter, lettered
from rexview.words import tr

_AROUND: Final = 200
"""Cases before and after the one shown that the list of cases holds."""
_ENDINGS: Final = {
    "length": tr("Cut off at the token limit: needs no score"),
    "content_filter": tr("Blocked by a content filter: needs no score"),
}


def reader_page(study: Study, case_id: str) -> CasePage | None:
    """Return a case as the reader may see it, None when it is not on their worklist."""
    if not study.has(case_id):
        return None
    return _shown(study, case_id)[0]


def _shown(study: Study, case_id: str) -> _Shown:
    return _blinded(study.review_set, case_id, tuple(study.slots(case_id).items()))


def pad_data(study: Study, case_id: str) -> dict[str, Any]:
    """Make the pad's data for a case of the worklist, as JSON has it.

    Places count from 1; the list of cases holds those around the one shown.
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
            for one in rubric_of(study.review_set).values()
        ],
        "failures": {
            name: {"name": FAILURES[name].name, "meaning": FAILURES[name].meaning}
            for name in READER_FAILURES
        },
        "protocol": {"report": rules.report, "reveal": rules.reveal},
    }


def pad_case(study: Study, case_id: str) -> dict[str, Any]:
    """Return one case of the worklist for the pad.

    An answer has its letter (``slot``), what names it for the server (``shown``), whether it has to
    be scored at all (``needed``), what became of it otherwise (``note``), and the failures that a
    reader can confirm of it. ``names`` of models are there only once they were revealed.
    """
    page, texts = _shown(study, case_id)
    if page is None:
        raise KeyError(case_id)
    position = study.worklist.position(case_id)
    slots, shown = study.slots(case_id), study.shown(case_id)
    colours = slot_colours(slots)
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
                "failures": failures_of_reader(page.case, answer),
            }
            for answer in page.answers
        ],
        "pictures": bool(page.case.images) or any(answer.images for answer in page.answers),
        "own": given_json(study, case_id),
        "names": names,
    }


def _question_html(case: Case) -> str:
    options = "".join(f"<li>{html.escape(option)}</li>" for option in case.options)
    own_letters = all(has_own_letter(one, number) for number, one in enumerate(case.options))
    letters = ' style="list-style:none"' if own_letters else ' type="A"'
    listed = f"<ol{letters}>{options}</ol>" if options else ""
    return f"<p>{inline_html(case.question)}</p>{listed}{answers_html.request_html(case)}"


@lru_cache(maxsize=256)
def _blinded(review_set: ReviewSet, case_id: str, slots: tuple[tuple[str, str], ...]) -> _Shown:
    page = blinded_page(review_set, case_id, dict(slots))
    if page is None:
        return None, {}
    return page, {answer.model: _answer_html(page, answer) for answer in page.answers}


_Shown = tuple[CasePage | None, dict[str, str]]  # the page, and the answers' texts by slot


def _answer_html(page: CasePage, answer: Answer) -> str:
    text = answer.text or ""
    blocks = []
    if answer.choice is not None and 0 <= answer.choice < len(page.case.options):
        option = html.escape(lettered(page.case.options[answer.choice], answer.choice))
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
    return _ENDINGS.get(answer.finish_reason, tr("No answer came: needs no score"))


def report_json(study: Study, case_id: str) -> dict[str, Any]:
    """Return the report if the reader may see it; its ``html`` is there only when it is shown."""
    rule, state, shown = study.review_set.info.protocol.report, "shown", None
    if rule == "never":
        state = "never"
    elif rule == "on_request" and not study.given.was_shown(case_id, REPORT):
        state = "hidden"
    else:
        case = study.review_set.case(case_id)
        shown = answers_html.report_sections_html(case.report) if case else ""
        shown = shown or f"<p>{tr('This case has no report.')}</p>"
    return {"state": state, "html": shown, "always": rule == "always"}
