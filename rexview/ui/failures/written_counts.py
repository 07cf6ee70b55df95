"""Written failures as HTML: the definition, a judge's findings, and clinicians' judgments.

Everything written by people and models is escaped here, including their names.
"""

from __future__ import annotations

import html
from collections.abc import Collection, Mapping, Sequence
from typing import Final

import streamlit as st

from rexview.analysis.query.filter.case_filter import CaseFilter
from rexview.analysis.query.filter.linked_count import LinkedCount
from rexview.analysis.ranking import rank_for_display, rank_in_each_group
from rexview.analysis.written_failures import (
    FailureWording,
    MarkCounts,
    count_marks,
    current_failures,
    list_counted_marks,
)
from rexview.analysis.written_results import (
    RESULT_ORDER,
    JudgeResultRow,
    JudgeResults,
    ValidationResult,
    WrittenFailureRow,
    WrittenFailureTable,
    count_judge_results,
    count_verdicts,
    join_marks_and_results,
    list_judged_wordings,
    load_judge_results,
    result_condition,
)
from rexview.analysis.written_results import VALIDATION_KIND as READ
from rexview.errors import StoreError
from rexview.judge.written import find_written_name
from rexview.judge.written.validation import GroupShare
from rexview.models.backend import Prompt
from rexview.schema import FailureMark, ReviewSet
from rexview.stats.failure_rates import wilson_interval
from rexview.store import StoredEntry
from rexview.ui.answers.flags import definition_html, version_note
from rexview.ui.safe_text import lines_as_markdown
from rexview.ui.tables.number_table import (
    NOTHING,
    MissingReasons,
    cells_html,
    group_rows,
    linked_number,
    model_head,
    short_name,
    table_html,
)
from rexview.ui.tables.ranked import ranked_item, ranked_tools
from rexview.ui.web.link.in_app import linked_html
from rexview.ui.web.server import review_sets
from rexview.ui.web.server.server_state import uses_clickhouse
from rexview.words import tr, trn

_HEADS: Final = (
    tr("Model"),
    tr("Found"),
    tr("Not found"),
    tr("Unsure"),
    tr("Not readable"),
    tr("Answers judged"),
)
_BY_MODEL_HEADS: Final = (
    "",
    tr("Model"),
    tr("Found"),
    tr("Share"),
    tr("95% CI"),
    tr("Answers judged"),
    tr("Marked by people"),
)
_SEVERAL: Final = tr("Opens the cases; answers of several models may have it in one case")
_FOUND: Final = tr(
    "Found by a language model, over all cases it was asked about, regardless of the "
    "filter; not counted with failures from rules or readers."
)
_NOT_READABLE: Final = tr("Not readable: the reply is not in the requested form.")
_MARKED: Final = tr(
    "Answers that people marked with it on the Case page, over all cases, regardless of "
    "the filter. Not every answer was checked for it, so this is not a share."
)
_MARKED_BY_MODEL: Final = tr(
    "Marked by people: answers marked with it on the Case page, with any words of the "
    "failure; not part of any share."
)
_PRECISION: Final = tr("Precision: of those found and read by a clinician, the share that has it.")
_INTERVALS: Final = tr("Wilson intervals, patients not grouped.")
READ_CAPTION: Final = tr(
    "A random sample, read without knowing what the model said. Precision: of the answers "
    "found and read, the share that has the failure. Missed: of those not found and read, "
    "the share that has it. 95% Wilson intervals; unsure answers count in neither."
)


def words_html(words: FailureWording, *, stale: bool) -> str:
    """Return a definition as it was written; ``stale`` is True if there is newer text."""
    note = tr("earlier words: their results and readings stay here")
    about = html.escape(f"{version_note(words)} · {note}" if stale else version_note(words))
    return (
        f'<section class="rx-written" aria-label="{tr("Definition")}">'
        f'{definition_html(words.prompt)}<p class="rx-quiet">{about}</p></section>'
    )


def judge_findings_html(
    found: JudgeResults,
    rows: Sequence[JudgeResultRow],
    names: Mapping[str, str],
    colours: Mapping[str, str],
    read: Sequence[ValidationResult] = (),
) -> str:
    """Return a judge's findings, a row a model; every number opens its cases.

    The total has its precision next to it if a sample was read (``read``).
    """
    body = []
    ranking = rank_for_display(
        rows, lambda row: row.counts["yes"].value / row.judged if row.judged else None
    )
    for row in ranking.order:
        numbers = [_linked(row.counts[said]) for said in RESULT_ORDER]
        tds = "".join(f"<td>{one}</td>" for one in (*numbers, f"{row.judged:,}"))
        line = f"<tr>{model_head(names[row.model], colours.get(row.model, ''))}{tds}</tr>"
        body.append(ranked_item(line, names[row.model], row, ranking))
    if rows:
        numbers = [_total(found, rows, said) for said in RESULT_ORDER]
        numbers[0] += f" {_precision(read[0].found if read else None)}"
        judged = f"{sum(row.judged for row in rows):,}"
        body.append(cells_html(tr("All models"), *numbers, judged))
    title = tr("Found by {judge}").format(judge=found.judge)
    tools = ranked_tools(ranking, tr("share found, highest first"))
    return table_html(title, _HEADS, body, f"{_FOUND} {_NOT_READABLE}", tools)


def _total(found: JudgeResults, rows: Sequence[JudgeResultRow], said: str) -> str:
    number = sum(row.counts[said].value for row in rows)
    opens = LinkedCount(number, CaseFilter(written=(result_condition(found, said),)))
    return _linked(opens, _SEVERAL)


def marked_html(one: MarkCounts, names: Mapping[str, str], colours: Mapping[str, str]) -> str:
    """Return the answers marked by people, a row a model and one for all; numbers open them."""
    body = []
    of_models = [(row.model, row) for row in one.rows if row.model is not None]
    ranking = rank_for_display(of_models, lambda pair: float(pair[1].answers.value))
    for pair in ranking.order:
        model, row = pair
        line = (
            f"<tr>{model_head(names[model], colours.get(model, ''))}"
            f"<td>{_linked(row.answers)}</td><td>{row.people:,}</td></tr>"
        )
        body.append(ranked_item(line, names[model], pair, ranking))
    if len(body) > 1:
        total = _linked(one.all.answers, _SEVERAL)
        body.append(cells_html(tr("All models"), total, f"{one.all.people:,}"))
    heads = (tr("Model"), tr("Answers marked"), tr("People"))
    caption = f"{_MARKED} {other_versions_note(one)}".strip()
    tools = ranked_tools(ranking, tr("answers marked, most first"))
    return table_html(tr("Marked by people"), heads, body, caption, tools)


def other_versions_note(one: MarkCounts) -> str:
    """Return how many answers were marked only with other versions' text; empty for none."""
    if not one.elsewhere:
        return ""
    return trn(
        "{n:,} more answer is marked with other words of this failure.",
        "{n:,} more answers are marked with other words of this failure.",
        one.elsewhere,
    ).format(n=one.elsewhere)


def by_model_html(
    every: Sequence[WrittenFailureTable], names: Mapping[str, str], colours: Mapping[str, str]
) -> str:
    """Return each failure with a row for each model; the numbers open their cases."""
    body: list[str] = []
    most = rank_in_each_group(range(max((len(one.rows) for one in every), default=0)))
    heads = _BY_MODEL_HEADS[1:] if most.is_cut else _BY_MODEL_HEADS

    def line(row: WrittenFailureRow) -> tuple[str, str]:
        tds = model_head(names[row.model], colours.get(row.model, "")) + _found_cells(row.found)
        return names[row.model], tds + f"<td>{_linked(row.marked) if row.marked else '0'}</td>"

    for one in every:
        judge = tr("by {judge}").format(judge=one.judge) if one.judge else tr("not searched for")
        precision = _precision(one.precision) if one.judge else ""
        about = f"{html.escape(one.title)}<small>{html.escape(judge)}</small>{precision}"
        ranking = rank_for_display(one.rows, _share_found)
        body += group_rows(about, ranking, line, len(_BY_MODEL_HEADS) - 1, apart=most.is_cut)
    title = tr("Failures in your own words by model")
    explained = [
        (_FOUND, any(one.judge for one in every)),
        (_PRECISION, any(one.precision and one.precision.share is not None for one in every)),
        (_INTERVALS, any(row.found and row.found.judged for one in every for row in one.rows)),
        (_MARKED_BY_MODEL, any(row.marked for one in every for row in one.rows)),
    ]
    caption = " ".join(text for text, is_there in explained if is_there)
    tools = ranked_tools(most, tr("share found, highest first"))
    return table_html(title, heads, body, caption, tools)


def _share_found(row: WrittenFailureRow) -> float | None:
    if row.found is None or not row.found.judged:
        return None
    return row.found.counts["yes"].value / row.found.judged


def _linked(count: LinkedCount, title: str = "") -> str:
    return linked_number(count, f"<b>{count.value:,}</b>", title=title) if count.value else "0"


def _found_cells(row: JudgeResultRow | None) -> str:
    if row is None:
        return f"<td>{NOTHING}</td>" * 4
    count = row.counts["yes"]
    found = _linked(count)
    if not row.judged:
        return f"<td>{found}</td><td>{NOTHING}</td><td>{NOTHING}</td><td>0</td>"
    interval = wilson_interval(count.value, row.judged)
    limits = tr("{low:.0%} to {high:.0%}").format(low=interval.low, high=interval.high)
    share = f"{count.value / row.judged:.0%}"
    return f"<td>{found}</td><td>{share}</td><td>{limits}</td><td>{row.judged:,}</td>"


def _precision(one: GroupShare | None) -> str:
    interval = one.interval if one else None
    if (
        one is None
        or one.share is None
        or interval is None
        or interval.low is None
        or interval.high is None
    ):
        return f"<small>{tr('not validated')}</small>"
    words = tr("precision {share:.0%}, {low:.0%} to {high:.0%}").format(
        share=one.share, low=interval.low, high=interval.high
    )
    return f"<small>{words}</small>"


def validated_html(rows: Sequence[ValidationResult]) -> str:
    """Return precision and missed answers, a row a clinician."""
    reasons, body = MissingReasons(), []
    for row in rows:
        who = tr("All together") if row.who is None else row.who
        body.append(
            cells_html(
                f"{short_name(who)}<small>{html.escape(_rest(row))}</small>",
                _share(row.found, tr("{who}, precision").format(who=who), reasons),
                _share(row.not_found, tr("{who}, missed").format(who=who), reasons),
            )
        )
    heads = (tr("Read by"), tr("Precision of those found"), tr("Missed among those not found"))
    return table_html(tr("Validated by clinicians"), heads, body, READ_CAPTION) + reasons.html()


def _rest(row: ValidationResult) -> str:
    unsure = row.found.unsure + row.not_found.unsure
    unread = row.found.unread + row.not_found.unread
    if not row.differ:
        return tr("{unsure:,} unsure; {unread:,} of the sample not read").format(
            unsure=unsure, unread=unread
        )
    return trn(
        "{unsure:,} unsure; {unread:,} of the sample not read; {n:,} answer on which they differ",
        "{unsure:,} unsure; {unread:,} of the sample not read; {n:,} answers on which they differ",
        row.differ,
    ).format(unsure=unsure, unread=unread, n=row.differ)


def _share(one: GroupShare, where: str, reasons: MissingReasons) -> str:
    told, interval = one.yes + one.no, one.interval
    if one.share is None or interval is None or interval.low is None or interval.high is None:
        return reasons.add(tr("None of them has been read yet."), where) if one.of else NOTHING
    limits = tr("{low:.0%} to {high:.0%}").format(low=interval.low, high=interval.high)
    read = tr("{n:,} of {read:,} read, of {total:,}").format(n=one.yes, read=told, total=one.of)
    return f"<b>{one.share:.0%}</b> {limits}<small>{read}</small>"


# Written failures next to the others: findings and marks of each, by model.


def show_own_words_by_model(review_set: ReviewSet) -> None:
    """Show, on request, the judges' findings and people's marks of written failures.

    They are loaded only when opened, because that can take seconds.
    """
    if uses_clickhouse():
        return
    written = review_sets.with_current_reviews(review_set)
    judged, marks = list_judged_wordings(review_set), list_counted_marks(written)
    if not judged and not marks:
        return
    box = st.expander(tr("Failures in your own words"), key="failures_in_words", on_change="rerun")
    if not box.open:
        return
    with box, st.spinner(tr("Reading the results…")):
        try:
            read = review_sets.reviews(review_set).current(READ)
        except StoreError as error:
            st.error(lines_as_markdown(error), icon=":material/cloud_off:")
            return
        titles = {name: words.prompt.name for name, words in current_failures(written).items()}
        newest = _newest(judged, titles)
        every = [_found(written, prompt, judge, marks, read) for prompt, judge in newest]
        asked = {find_written_name(prompt) for prompt, _ in newest}
        by_people = ((name, count_marks(marks, written.model_names, name).rows) for name in titles)
        every += [
            WrittenFailureTable(
                titles[name], None, join_marks_and_results((), rows, written.model_names)
            )
            for name, rows in by_people
            if rows and name not in asked
        ]
        if not every:
            st.caption(tr("None of the failures searched for remains: their words were removed."))
            return
        colours = review_sets.colours(review_set)
        drawn = by_model_html(every, review_set.model_names, colours)
        linked_html(drawn, key="failures_in_words_table")


def _newest(
    judged: Sequence[tuple[Prompt, str]], standing: Collection[str]
) -> list[tuple[Prompt, str]]:
    """Return each judge's latest text of the current failures, by title."""
    newest: dict[tuple[str, str], Prompt] = {}
    for prompt, judge in judged:
        if find_written_name(prompt) in standing:
            newest.setdefault((prompt.id, judge), prompt)
    in_order = sorted(newest.items(), key=lambda one: (one[1].name, one[0]))
    return [(prompt, judge) for (_, judge), prompt in in_order]


def _found(
    written: ReviewSet,
    prompt: Prompt,
    judge: str,
    marks: Sequence[FailureMark],
    read: Sequence[StoredEntry],
) -> WrittenFailureTable:
    found, models = load_judge_results(written, prompt, judge), written.model_names
    told = count_verdicts(found, read)
    by_people = count_marks(marks, models, find_written_name(prompt)).rows
    rows = join_marks_and_results(count_judge_results(found, models), by_people, models)
    return WrittenFailureTable(prompt.name, judge, rows, told[0].found if told else None)
