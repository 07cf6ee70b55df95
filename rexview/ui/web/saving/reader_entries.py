"""Entries for what a reader gives on the Score page: scores and other tasks.

Letters and dimensions must be those of the case, and the rules of the study must allow the entry. A
score and its comment are sent separately, so that two windows that each change one do not undo each
other.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from rexview.analysis.query.study_tasks import ScoreItem, Task
from rexview.analysis.reader_exposure import REPORT_EXPOSURE, UNBLINDED_EXPOSURE
from rexview.answer_digest import digests_of
from rexview.metrics.report_lines import ReportLine, report_lines
from rexview.reviewset.report_text import has_report_headings
from rexview.store import Entry, StoredEntry
from rexview.store.current_state import parse_line_place
from rexview.store.entry import LONGEST_TEXT
from rexview.store.kinds import LINE_PLACE
from rexview.ui.web.saving.entries import (
    CHANGED,
    EntryConflict,
    EntryRefused,
    SentEntry,
    checked_text,
    reveal_entries,
    whole_number,
)
from rexview.ui.web.saving.reader_study import ReaderStudy, items_to_score
from rexview.ui.web.saving.reader_tasks import (
    LEFT_OUT,
    SOLUTION,
    TASK_LISTS,
    ComparisonTasks,
    CorrectionTasks,
    QuestionTasks,
    TaskList,
)
from rexview.vocab import (
    EDIT_ACTIONS,
    EDIT_KINDS,
    EDIT_SEVERITIES,
    FAILURES,
    SCORE_MAX,
    SCORE_MIN,
    SIGNIFICANCES,
)
from rexview.words import tr

LONGEST_COMMENT: Final = 4000
LONGEST_REASON: Final = 400
_FIELDS: Final[Mapping[str, tuple[str | None, ...]]] = {
    "score": ("score", "comment"),
    "verdict": ("verdict",),
    "skip": ("reason",),
    "reveal": (None,),
}
_Score = tuple[int | None, str, str | None]  # score, comment, digest of the answer


class ScoreEntries:
    """Makes entries that are written together, each based on those before it."""

    def __init__(self, study: ReaderStudy) -> None:
        self.study = study
        self._scores: dict[tuple[str, str, str, int | None], _Score] = {}
        self._changed: set[tuple[str, ...]] = set()

    def make(self, sent: SentEntry) -> list[Entry]:
        """Make the entries of one action; of several cases if all are shown at once.

        Raises
        ------
        Refused, Overtaken
        """
        if not self.study.has(sent.case):
            raise EntryRefused(tr("This case is not on your list."))
        if sent.field not in _FIELDS.get(sent.kind, ()):
            raise EntryRefused(tr("This request does not come from the score pad."))
        if sent.kind == "reveal":
            return self._reveal(sent)
        if self.study.given.was_shown(sent.case, "models"):
            raise EntryRefused(
                tr("The models of this case have been named; it can no longer be changed.")
            )
        return [
            {"score": self._score, "verdict": self._verdict, "skip": self._skip}[sent.kind](sent)
        ]

    def _model(self, sent: SentEntry) -> str:
        """Return the model of the letter, if the reader saw its current answer."""
        model = self.study.slots(sent.case).get(sent.slot or "")
        if model is None or sent.shown != self.study.shown(sent.case)[sent.slot or ""]:
            raise EntryRefused(CHANGED)
        return model

    def _check_unseen(
        self, sent: SentEntry, row: StoredEntry | None, value: Any, stands: Mapping[str, Any]
    ) -> None:
        """As :meth:`SentEntry.check_unseen`, for what no earlier entry of this batch changes."""
        thing = (sent.kind, sent.case, sent.slot or "", sent.subject or "", str(sent.picture))
        if thing not in self._changed:
            sent.check_unseen(row, value, stands)
        self._changed.add(thing)

    def _score(self, sent: SentEntry) -> Entry:
        model, item = self._model(sent), ScoreItem(sent.subject or "", sent.picture)
        if item not in items_to_score(self.study.review_set, sent.case).get(model, ()):
            raise EntryRefused(tr("This is not scored for this answer."))
        about = sent.case, model, item.dimension, item.picture
        row = self.study.given.of("score").get(about)
        stored = (row.value if row else None) or {}
        score, comment = stored.get("score"), stored.get("comment") or ""
        digest = row.answer_digest if row else None
        shown = None if row and self.study.is_stale(row) else score
        stands = {"score": shown, "comment": comment}
        self._check_unseen(sent, row, stands[sent.field or ""], stands)
        score, comment, digest = self._scores.get(about) or (score, comment, digest)
        if sent.field == "score":
            given = whole_number(sent.value)
            if sent.value is not None and (given is None or not SCORE_MIN <= given <= SCORE_MAX):
                raise EntryRefused(tr("A score is a whole number from 1 to 5."))
            score, digest = given, None
        else:
            comment = checked_text(sent.value, LONGEST_COMMENT)
        if digest is None or score is None:  # a comment confirms no earlier score
            digest = self.study.digests(sent.case)[model]
        self._scores[about] = score, comment, digest
        value = {"score": score, "comment": comment or None}
        return Entry("score", *about, value, sent.token, sent.page, answer_digest=digest)

    def _verdict(self, sent: SentEntry) -> Entry:
        if sent.subject not in FAILURES or not isinstance(sent.value, bool):
            raise EntryRefused(tr("There is no such failure."))
        model = self._model(sent)
        row = self.study.given.of("verdict").get((sent.case, model, sent.subject, None))
        stored = (row.value if row and not self.study.is_stale(row) else None) or {}
        self._check_unseen(sent, row, stored.get("verdict") == "confirmed", stored)
        return Entry(
            "verdict",
            sent.case,
            model,
            sent.subject,
            value={"verdict": "confirmed" if sent.value else None},
            token=sent.token,
            via=sent.page,
            answer_digest=self.study.digests(sent.case)[model],
        )

    def _skip(self, sent: SentEntry) -> Entry:
        row = self.study.given.of("skip").get((sent.case, None, None, None))
        value = None if sent.value is None else {"reason": checked_text(sent.value, LONGEST_REASON)}
        reason = self.study.given.skips.get(sent.case)
        self._check_unseen(sent, row, reason, {"reason": reason})
        return Entry("skip", sent.case, value=value, token=sent.token, via=sent.page)

    def _reveal(self, sent: SentEntry) -> list[Entry]:
        value: dict[str, Any] = {"what": sent.subject}
        cases: tuple[str, ...] = (sent.case,)
        given = self.study.given
        if sent.subject == REPORT_EXPOSURE:
            if self.study.review_set.info.protocol.report == "never":
                raise EntryRefused(tr("In this study the report is not shown."))
        elif sent.subject == UNBLINDED_EXPOSURE:
            if not given.was_shown(sent.case, UNBLINDED_EXPOSURE):
                raise EntryRefused(tr("There is nothing to confirm."))
            value["accepted"] = True
        elif sent.subject in ("models", "all models"):
            every = sent.subject == "all models"
            if not self.study.may_name_models(None if every else sent.case):
                raise EntryRefused(tr("The models are named when the cases are scored or skipped."))
            value["what"] = "models"
            cases = tuple(
                case
                for case in (self.study.in_order(self.study.states) if every else cases)
                if not given.was_shown(case, "models")
            )
        else:
            raise EntryRefused(tr("There is nothing of that kind to show."))
        return reveal_entries(sent, cases, value)


# Entries for a reader's tasks besides scoring.
#
# What the reader saw must be current, and the rules of the study must allow the entry. Models,
# lines and the words of options are looked up here: a browser sends only their places.

LONGEST_LINE: Final = 4000
_LONGEST_SECONDS: Final = 1_000_000
_SIDES: Final = ("left", "right", "tie", LEFT_OUT)


def task_entries(study: ReaderStudy, task: Task, sent: SentEntry) -> list[Entry]:
    """Make the entries of one action at a task.

    Raises
    ------
    Refused, Overtaken
    """
    tasks = TASK_LISTS[task](study)
    if not tasks.has(sent.case):
        raise EntryRefused(tr("This is not on your list."))
    if sent.kind == "reveal":
        return _reveal(tasks, sent)
    if sent.shown != tasks.shown(sent.case):
        raise EntryRefused(CHANGED)
    if isinstance(tasks, QuestionTasks):
        return [_choose(tasks, sent)]
    if isinstance(tasks, ComparisonTasks):
        return [_prefer(tasks, sent)]
    if isinstance(tasks, CorrectionTasks):
        return [_correct(tasks, sent)]
    raise EntryRefused(tr("This request does not come from this page."))


def _choose(tasks: QuestionTasks, sent: SentEntry) -> Entry:
    """Make a choice: an option's index from 0, or left out."""
    if tasks.is_solved(sent.case):
        raise EntryRefused(tr("The right option was shown; the answer can no longer be changed."))
    if tasks.is_settled(sent.case):
        raise EntryRefused(tr("You have since answered another question: this answer is final."))
    case = tasks.study.review_set.case(sent.case)
    options = case.options if case else ()
    given, seconds = _given(sent.value)
    choice = None if given == LEFT_OUT else whole_number(given)
    if given != LEFT_OUT and (choice is None or not 0 <= choice < len(options)):
        raise EntryRefused(tr("There is no such option."))
    _check_unseen(sent, tasks.row(sent.case), tasks.chosen(sent.case))
    option = None if choice is None else options[choice]
    value = {"choice": choice, "option": option, "seconds": seconds}
    return Entry("choose", sent.case, value=value, token=sent.token, via=sent.page)


def _prefer(tasks: ComparisonTasks, sent: SentEntry) -> Entry:
    """Make a preference: left, right, tie or left out, with a comment."""
    given, seconds = _given(sent.value)
    if given not in _SIDES:
        raise EntryRefused(tr("This is neither of the reports."))
    comment = checked_text(sent.value.get("comment") or "", LONGEST_COMMENT)
    row, was = tasks.given(sent.case), sent.was if isinstance(sent.was, Mapping) else {}
    stored = (row.value if row else None) or {}
    before, now, stands = (
        {"value": side, "comment": words or ""}
        for side, words in (
            (was.get("value"), was.get("comment")),
            (given, comment),
            (tasks.preferred(sent.case), stored.get("comment")),
        )
    )
    replace(sent, was=before, value=now).check_unseen(row, stands, {})
    case, (left, right) = tasks.case_of(sent.case), tasks.pair(sent.case)
    digests = digests_of(tasks.study.review_set)
    sides = {"left": "first", "right": "second", "tie": "tie", LEFT_OUT: None}
    value = {
        "first": left,
        "second": right,
        "preferred": sides[str(given)],
        "seconds": seconds,
        "comment": comment or None,
        "first_digest": digests.of(case, left),
        "second_digest": digests.of(case, right),
    }
    return Entry("prefer", case, value=value, token=sent.token, via=sent.page)


def _correct(tasks: CorrectionTasks, sent: SentEntry) -> Entry:
    """Make an edit of a line, mark all as corrected, or keep the result as a reference."""
    case, model = tasks.case_of(sent.case), tasks.model(sent.case)
    digest = digests_of(tasks.study.review_set).of(case, model)
    about: dict[str, Any] = {"token": sent.token, "via": sent.page}
    text = _text(tasks, sent.case)
    if sent.kind == "reference":
        if not tasks.is_done(sent.case):
            raise EntryRefused(tr("The report is not finished."))
        value = corrected_report(tasks, sent.case, text)
        if any(len(said or "") > LONGEST_TEXT for said in value.values()):
            raise EntryRefused(tr("The corrected report is too long to be kept as a reference."))
        kept = tasks.reference(sent.case)
        if kept and kept.id > sent.seen and kept.person != tasks.study.person.id:
            raise EntryConflict({})
        return Entry("reference", case, value=value, **about)
    if sent.kind == "corrected":
        is_done = tasks.is_done(sent.case)
        _check_unseen(sent, tasks.row(sent.case), is_done)
        done = {"done": sent.value is True}
        return Entry("corrected", case, model, value=done, answer_digest=digest, **about)
    if tasks.is_done(sent.case):
        raise EntryRefused(tr("The report is finished. Open it again to change it."))
    place = sent.subject or ""
    row = tasks.row(sent.case, place)
    stands = tasks.edits(sent.case).get(place)
    _check_unseen(sent, row, _without_line(stands))
    edit = None if sent.value is None else _edit(sent.value, place, report_lines(text))
    return Entry("edit", case, model, place, value=edit, answer_digest=digest, **about)


def _without_line(row: StoredEntry | None) -> dict[str, Any] | None:
    if row is None or row.value is None:
        return None
    return {name: value for name, value in row.value.items() if name != "original"}


def _edit(sent: Any, place: str, lines: tuple[ReportLine, ...]) -> dict[str, Any]:
    """Return the value of an edit; its line is looked up."""
    if not isinstance(sent, Mapping) or not LINE_PLACE.fullmatch(place):
        raise EntryRefused(tr("This is not a correction of a line."))
    number, is_inserted = parse_line_place(place)[0], "+" in place
    if not (0 if is_inserted else 1) <= number <= len(lines):
        raise EntryRefused(tr("The report has no such line."))
    allowed = {
        "action": EDIT_ACTIONS,
        "severity": (*EDIT_SEVERITIES, None),
        "kind": (*EDIT_KINDS, None),
        "significance": (*SIGNIFICANCES, None),
    }
    for name, words in allowed.items():
        if not isinstance(sent.get(name), str | int | None) or sent.get(name) not in words:
            raise EntryRefused(tr("This is not a correction of a line."))
    return {
        **{name: sent.get(name) for name in allowed},
        "original": None if is_inserted else lines[number - 1].text[:LONGEST_TEXT],
        "edited": checked_text(sent.get("edited") or "", LONGEST_LINE).strip() or None,
        "comment": checked_text(sent.get("comment") or "", LONGEST_COMMENT) or None,
    }


def corrected_report(tasks: CorrectionTasks, item: str, text: str) -> dict[str, Any]:
    """Put a corrected report together: findings, and the text under "Impression".

    If it has these headings, lines under others (indication, comparison) are left out, as in
    references (:func:`~rexview.reviewset.report_text.split_report`).
    """
    others = {"indication", "comparison", "other"} if has_report_headings(text) else set()
    edits = tasks.edits(item)
    parts: dict[str, list[str | None]] = {"findings": [], "impression": []}
    lines = report_lines(text)
    places = [(0, "", None), *((line.number, line.text, line.section) for line in lines)]
    for number, given, section in places:
        of_line = parts["impression" if section == "impression" else "findings"]
        edit = (edits[str(number)].value if str(number) in edits else None) or {"action": "keep"}
        said = {"keep": given, "substitute": edit.get("edited"), "delete": ""}[edit["action"]]
        said = None if section in others else said
        added = sorted(
            (place for place in edits if place.startswith(f"{number}+")), key=parse_line_place
        )
        of_line += [said, *((edits[place].value or {}).get("edited") for place in added)]
    report = {name: "\n".join(filter(None, said)) or None for name, said in parts.items()}
    return {**report, "comment": None}


def _text(tasks: CorrectionTasks, item: str) -> str:
    case, model = tasks.case_of(item), tasks.model(item)
    answers = tasks.study.review_set.answers_of(case)
    return next((answer.text or "" for answer in answers if answer.model == model), "")


def _reveal(tasks: TaskList, sent: SentEntry) -> list[Entry]:
    """Show the radiologist's report, or the right options, where the rules allow it."""
    given, cases = tasks.study.given, [tasks.case_of(sent.case)]
    if sent.subject == REPORT_EXPOSURE and not isinstance(tasks, QuestionTasks):
        if tasks.study.review_set.info.protocol.report == "never":
            raise EntryRefused(tr("In this study the report is not shown."))
        what = REPORT_EXPOSURE
    elif isinstance(tasks, QuestionTasks) and sent.subject in (
        SOLUTION,
        f"all {SOLUTION}",
    ):
        is_all = sent.subject != SOLUTION
        if not tasks.may_solve(None if is_all else sent.case):
            raise EntryRefused(tr("The right options are shown when the questions are answered."))
        what = SOLUTION
        cases = [*tasks.states] if is_all else cases
    else:
        raise EntryRefused(tr("There is nothing of that kind to show."))
    return reveal_entries(
        sent, (one for one in cases if not given.was_shown(one, what)), {"what": what}
    )


def _given(value: Any) -> tuple[Any, float | None]:
    """Return the choice, and the seconds that it took."""
    if not isinstance(value, Mapping):
        raise EntryRefused(tr("This is not an answer."))
    time = value.get("seconds")
    if isinstance(time, bool) or not isinstance(time, int | float):
        time = -1
    chosen = value.get("value")
    if not isinstance(chosen, str | int):
        raise EntryRefused(tr("This is not an answer."))
    return chosen, round(float(time), 1) if 0 <= time <= _LONGEST_SECONDS else None


def _check_unseen(sent: SentEntry, row: StoredEntry | None, stands: Any) -> None:
    """As :meth:`SentEntry.check_unseen`, for a choice without the time that it took."""
    value = sent.value.get("value", sent.value) if isinstance(sent.value, Mapping) else sent.value
    replace(sent, value=value).check_unseen(row, stands, {})
