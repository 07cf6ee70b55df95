"""The Multiple choice page: tables whose numbers link to their questions, and charts."""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Final

import streamlit as st

from rexview.analysis import (
    REFERENCE_COLOUR,
    CaseFilter,
    CaseProperty,
    Engine,
    LinkedCount,
    assign_model_colours,
    multiple_choice,
)
from rexview.analysis.charts.linked_chart import LinkedChart
from rexview.analysis.charts.multiple_choice import ALL, accuracy_chart, kappa_chart
from rexview.analysis.download_files import TableFile
from rexview.analysis.download_frames import (
    CHOICE_SHARES,
    accuracy_frame,
    choice_group_frame,
    rater_kappa_frame,
    rater_pairs_frame,
    read_questions_frame,
)
from rexview.analysis.multiple_choice import (
    CATEGORY_TAGS,
    ChoiceCell,
    ChoiceGroupRow,
    ChoiceGroups,
    ChoiceTables,
    RaterPairTest,
    fold_category,
    list_choice_groupings,
)
from rexview.analysis.published import rexvqa
from rexview.analysis.published.rexvqa import PublishedTable
from rexview.analysis.query.filter.conditions import CASE_OUTCOMES
from rexview.analysis.query.filter.filter_text import name_value
from rexview.analysis.ranking import DisplayRanking, rank_for_display
from rexview.stats.bootstrap import Interval
from rexview.stats.failure_rates import Rate
from rexview.stats.multiple_choice import Rater
from rexview.ui.charts import show_chart
from rexview.ui.tables.data_table import show_downloads, show_table
from rexview.ui.tables.number_table import (
    MOST_PAIRS,
    NOTHING,
    HeadCell,
    MissingReasons,
    format_points,
    label_cells,
    linked_number,
    mcnemar_html,
    model_head,
    pairs_title,
    part_row,
    ranked_head,
    short_name,
    table_html,
)
from rexview.ui.tables.ranked import ranked_item, ranked_tools
from rexview.ui.web.link import keys as link_keys
from rexview.ui.web.link.in_app import linked_html
from rexview.ui.web.link.link_choices import bind_option_to_link, choose_published
from rexview.ui.web.server import query_cache
from rexview.ui.web.server.shared_work import cache_on_first_argument
from rexview.words import counted, join_words, mid_sentence, tr, trn

# The tables of the Multiple choice page as HTML: every number is a link to its questions.


def headline_html(tables: ChoiceTables) -> str:
    """Return a sentence on how many questions were answered by whom, and the accuracy."""
    counts = tables.counts
    who = [counted(len(tables.models), "model")] if tables.models else []
    who += [counted(len(tables.readers), "reader")] if tables.readers else []
    sentence = trn(
        "{n} question answered by {who}", "{n} questions answered by {who}", counts.questions
    ).format(n=f"<b>{counts.questions:,}</b>", who=join_words(who))
    if tables.clustered:
        sentence = tr("{answered}, of {patients:,} patients or studies").format(
            answered=sentence, patients=counts.patients
        )
    noted = [
        f"{CASE_OUTCOMES[word]}: {linked_number(count, f'<b>{count.value:,}</b>')}"
        for word, count in tables.noted.items()
        if count.value
    ]
    more = f' <span class="rx-noted">{" · ".join(noted)}</span>' if noted else ""
    return f'<p class="rx-line">{sentence}.{more}</p>'


def accuracy_html(tables: ChoiceTables, colours: Mapping[int, str], title: str) -> str:
    """Return every rater's accuracy, in total and by task; many models are ranked."""
    heads = [tr("Rater"), "n", tr("Accuracy"), tr("95% CI"), tr("Failed"), tr("Without failed")]
    heads += [row.name for row in tables.tasks]
    reasons = MissingReasons()
    body: list[str] = []
    of_tasks = [{cell.place: cell for cell in row.cells} for row in tables.tasks]
    ranking = tables.ranking
    of_readers = [cell for cell in tables.total if tables.raters[cell.place].is_reader]
    for cell in (*ranking.order, *of_readers):
        rater = tables.raters[cell.place]
        if of_readers and cell is of_readers[0]:
            body.append(part_row(tr("Readers"), len(heads)))
        row = model_head(rater.name, colours[cell.place]) + _total_cells(cell, rater.name, reasons)
        for task, cells in zip(tables.tasks, of_tasks, strict=True):
            row += _cell_html(cells[cell.place], f"{rater.name}, {task.name}", reasons)
        row = f"<tr>{row}</tr>"
        body.append(row if rater.is_reader else ranked_item(row, rater.name, cell, ranking))
    tools = ranked_tools(ranking, tr("accuracy"))
    caption = multiple_choice.accuracy_caption(tables)
    return table_html(title, heads, body, caption, tools) + reasons.html()


def _total_cells(cell: ChoiceCell, where: str, reasons: MissingReasons) -> str:
    found = cell.accuracy
    wrong = linked_number(
        cell.wrong, f"{cell.wrong.value:,}", title=tr("Questions with a wrong choice")
    )
    failed = NOTHING
    if found.failed:
        label = f"{found.failed:,}<small>{found.failed / found.rate.n:.1%}</small>"
        failed = linked_number(cell.failed, label)
    cells = (
        linked_number(cell.asked, f"{found.rate.n:,}"),
        (
            f"{linked_number(cell.right, _share(found.rate))}<small>"
            f"{tr('{wrong} wrong').format(wrong=wrong)}</small>"
        ),
        _limits(found.rate.interval, where, reasons),
        failed,
        (
            f"{_share(found.without_failed)}"
            f"<small>{tr('of {n:,}').format(n=found.without_failed.n)}</small>"
        ),
    )
    few = ' class="rx-few"' if cell.is_small else ""
    return "".join(f"<td{few}>{one}</td>" for one in cells)


def _share(rate: Rate) -> str:
    return NOTHING if rate.share is None else f"<b>{rate.share:.1%}</b>"


def _limits(limits: Interval, where: str, reasons: MissingReasons) -> str:
    if limits.low is None or limits.high is None:
        return reasons.add(limits.why or tr("Undefined."), where)
    return tr("{low:.1%} to {high:.1%}").format(low=limits.low, high=limits.high)


def _cell_html(cell: ChoiceCell, where: str, reasons: MissingReasons) -> str:
    """Return a rater's share on some questions, with n, interval and the failed ones."""
    rate = cell.accuracy.rate
    if not rate.n:
        return f"<td>{NOTHING}</td>"
    share = linked_number(cell.right, _share(rate))
    n = linked_number(cell.asked, tr("{flagged:,} of {n:,}").format(flagged=rate.flagged, n=rate.n))
    failed = ""
    if cell.accuracy.failed:
        failed = " · " + linked_number(
            cell.failed, tr("{failed:,} failed").format(failed=cell.accuracy.failed)
        )
    few = ' class="rx-few"' if cell.is_small else ""
    return (
        f'<td{few}>{share}<small>{n}{failed}</small><small class="rx-ci">'
        f"{_limits(rate.interval, where, reasons)}</small></td>"
    )


def property_name(by: CaseProperty) -> str:
    """Return the name of a property for readers, without the note that it is a tag."""
    return by.name.removesuffix(" (tag)")


def groups_html(groups: ChoiceGroups, raters: Mapping[int, Rater], title: str) -> str:
    """Return accuracies by a property of the questions; raters are columns."""
    met = [place for place in raters if any(_cell_of(row, place) for row in groups.rows)]
    ranking = rank_for_display(
        (place for place in met if not raters[place].is_reader), partial(_share_in, groups)
    )
    of_readers = [place for place in met if raters[place].is_reader]
    heads: list[str | HeadCell] = [property_name(groups.by), tr("Questions")]
    heads += [ranked_head(raters[place].label, place, ranking) for place in ranking.order]
    heads += [raters[place].label for place in of_readers]
    reasons = MissingReasons()
    body = list(_group_rows(groups.rows, ranking, of_readers, raters, reasons))
    tools = ranked_tools(ranking, tr("accuracy"))
    caption = multiple_choice.groups_caption(groups)
    return table_html(title, heads, body, caption, tools) + reasons.html()


def _share_in(groups: ChoiceGroups, place: int) -> float | None:
    """Return a rater's share of right answers over the questions of all groups."""
    found = [cell.accuracy.rate for row in groups.rows for cell in row.cells if cell.place == place]
    asked = sum(rate.n for rate in found)
    return sum(rate.flagged for rate in found) / asked if asked else None


def _cell_of(row: ChoiceGroupRow, place: int) -> ChoiceCell | None:
    found = next((cell for cell in row.cells if cell.place == place), None)
    return found if found and found.accuracy.rate.n else None


def _group_rows(
    rows: Sequence[ChoiceGroupRow],
    ranking: DisplayRanking[int],
    of_readers: Sequence[int],
    raters: Mapping[int, Rater],
    reasons: MissingReasons,
) -> Iterator[str]:
    group = ""
    for row in rows:
        if row.group != group:
            group = row.group
            yield part_row(html.escape(group), 2 + len(ranking.order) + len(of_readers))
        cells = f'<th scope="row">{short_name(row.name)}</th>'
        cells += f"<td>{linked_number(row.questions, f'{row.questions.value:,}')}</td>"
        for place in (*ranking.order, *of_readers):
            cell = _cell_of(row, place)
            where = f"{row.name}, {raters[place].name}"
            drawn = _cell_html(cell, where, reasons) if cell else f"<td>{NOTHING}</td>"
            if place not in of_readers:
                drawn = ranked_item(drawn, raters[place].label, place, ranking)
            cells += drawn
        yield f"<tr>{cells}</tr>"


def reader_questions_html(
    cells: Sequence[ChoiceCell],
    raters: Sequence[Rater],
    colours: Mapping[int, str],
    title: str,
    questions: int,
) -> str:
    """Return models and readers on the questions that readers answered, best first."""
    reasons, body = MissingReasons(), []
    ordered = sorted(cells, key=lambda cell: -(cell.accuracy.rate.share or 0))
    ranking = rank_for_display(ordered, lambda cell: cell.accuracy.rate.share)
    for cell in ranking.order:
        rater = raters[cell.place]
        head = model_head(rater.name, colours[cell.place])
        kind = f"<td>{'reader' if rater.is_reader else 'model'}</td>"
        row = f"<tr>{head}{kind}{_total_cells(cell, rater.name, reasons)}</tr>"
        body.append(ranked_item(row, rater.name, cell, ranking))
    heads = [
        tr("Rater"),
        tr("Kind"),
        "n",
        tr("Accuracy"),
        tr("95% CI"),
        tr("Failed"),
        tr("Without failed"),
    ]
    caption = f"{multiple_choice.read_caption(questions)} {multiple_choice.small_caption()}"
    tools = ranked_tools(ranking, tr("accuracy"))
    return table_html(title, heads, body, caption, tools) + reasons.html()


def pairs_html(
    tests: Sequence[RaterPairTest],
    raters: Sequence[Rater],
    title: str,
    *,
    readers: bool = False,
) -> str:
    """Return comparisons of raters, the smallest adjusted p first."""
    ordered = sorted(tests, key=lambda pair: (pair.test.p_adj is None, pair.test.p_adj or 0.0))
    reasons, body = MissingReasons(), []
    for pair in ordered[:MOST_PAIRS]:
        test = pair.test
        names = [raters[place].name for place in (test.rater_a, test.rater_b)]
        where = join_words(names)
        cells = (
            *map(short_name, names),
            f"{test.n_pairs:,}",
            _difference(test.difference, test.interval, where, reasons),
            _only(pair.only_a),
            _only(pair.only_b),
            f"{test.both:,}",
            mcnemar_html(test, reasons, where),
        )
        body.append(f"<tr>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>")
    title = pairs_title(title, len(tests))
    heads = [
        "A",
        "B",
        tr("Both answered"),
        tr("A minus B"),
        tr("Only A right"),
        tr("Only B right"),
        tr("Both right"),
    ]
    met = {place for pair in tests for place in (pair.test.rater_a, pair.test.rater_b)}
    caption = multiple_choice.comparison_caption(len(met), readers=readers)
    return table_html(title, [*heads, tr("p adjusted")], body, caption) + reasons.html()


def _only(count: LinkedCount) -> str:
    return linked_number(count, f"{count.value:,}")


def _difference(value: float | None, limits: Interval, where: str, reasons: MissingReasons) -> str:
    if value is None:
        return reasons.add(limits.why or tr("Undefined."), where)
    between = ""
    if limits.low is not None and limits.high is not None:
        low, high = (format_points(limit, decimals=1) for limit in (limits.low, limits.high))
        between = f'<small class="rx-ci">{tr("{low} to {high}").format(low=low, high=high)}</small>'
    elif limits.why:
        between = reasons.add(limits.why, tr("{where}, difference").format(where=where))
    return f"<b>{format_points(value, decimals=1)}</b>{between}"


# The tables of the ReXVQA paper next to the open set's own raters, clearly separated.

_HERE = tr("This review set")


def published_html(
    tables: ChoiceTables | None,
    categories: ChoiceGroups | None,
    read: Sequence[ChoiceCell] = (),
) -> str:
    """Return the four published tables; the set's own raters have separate rows or columns."""
    raters = tables.raters if tables else {}
    parts = (
        _by_task(rexvqa.published_accuracy_by_task(), tables),
        _by_category(rexvqa.published_accuracy_by_category(), raters, categories),
        _reader_study(rexvqa.published_reader_study(), raters, read),
        _table(rexvqa.published_task_counts(), _printed_rows(rexvqa.published_task_counts())),
    )
    return (
        '<section class="rx-published"><h2>'
        f"{tr('Published: other questions and models, not computed here')}</h2>"
        f"{''.join(parts)}</section>"
    )


def _by_task(printed: PublishedTable, tables: ChoiceTables | None) -> str:
    body = _printed_rows(printed)
    if tables:
        body.append(_heading(_HERE, len(printed.heads)))
        rows = {row.value: row for row in tables.tasks}
        for cell in tables.total:
            own = {value: _published_cell_of(row, cell.place) for value, row in rows.items()}
            own[rexvqa.OVERALL] = cell
            found = [own.get(key) if key else None for key in printed.keys[1:-1]]
            failed = 100 * cell.accuracy.failed / cell.accuracy.rate.n
            cells = "".join(f"<td>{_own(one)}</td>" for one in found)
            name = short_name(tables.raters[cell.place].label)
            body.append(f'<tr><th scope="row">{name}</th>{cells}<td>{failed:.2f}</td></tr>')
    return _table(printed, body)


def _by_category(
    printed: PublishedTable, raters: Mapping[int, Rater], categories: ChoiceGroups | None
) -> str:
    """Put a column for each of the set's own raters before the published ones."""
    own = {fold_category(row.name): row for row in categories.rows} if categories else {}
    shown = list(raters) if own else []
    body, group = [], ""
    for in_group, (name, *figures) in zip(printed.groups, printed.rows, strict=True):
        if in_group != group:
            group = in_group
            body.append(_heading(group, 1 + len(shown) + len(figures)))
        row = own.get(fold_category(name))
        cells = "".join(
            f"<td>{_own(_published_cell_of(row, place) if row else None)}</td>" for place in shown
        )
        cells += "".join(_outside(figure) for figure in figures)
        body.append(f'<tr><th scope="row">{html.escape(name)}</th>{cells}</tr>')
    return _table(printed, body, [raters[place].label for place in shown])


def _reader_study(
    printed: PublishedTable, raters: Mapping[int, Rater], read: Sequence[ChoiceCell]
) -> str:
    body = _printed_rows(printed)
    if read:
        body.append(
            _heading(
                tr("{here}: the questions that readers answered").format(here=_HERE),
                len(printed.heads),
            )
        )
    for cell in read:
        rater = raters[cell.place]
        cells = "".join(
            f"<td>{one}</td>"
            for one in (
                "reader" if rater.is_reader else "model",
                _own(cell),
                f"{cell.accuracy.rate.n:,}",
            )
        )
        body.append(f'<tr><th scope="row">{short_name(rater.name)}</th>{cells}</tr>')
    return _table(printed, body)


def _printed_rows(printed: PublishedTable) -> list[str]:
    return [
        f'<tr><th scope="row" class="rx-outside">{html.escape(name)}</th>'
        f"{''.join(map(_outside, figures))}</tr>"
        for name, *figures in printed.rows
    ]


def _outside(text: str) -> str:
    return f'<td class="rx-outside">{html.escape(text) or NOTHING}</td>'


def _heading(text: str, columns: int) -> str:
    return (
        f'<tr class="rx-part rx-first"><th scope="rowgroup" colspan="{columns}">'
        f"{html.escape(text)}</th></tr>"
    )


def _published_cell_of(row: ChoiceGroupRow, place: int) -> ChoiceCell | None:
    return next((cell for cell in row.cells if cell.place == place), None)


def _own(cell: ChoiceCell | None) -> str:
    """Format an accuracy of the set as in the paper: percent, two decimals; with its n."""
    if cell is None or cell.accuracy.rate.share is None:
        return NOTHING
    label = f"<b>{100 * cell.accuracy.rate.share:.2f}</b><small>n {cell.accuracy.rate.n:,}</small>"
    return linked_number(cell.right, label)


def _table(printed: PublishedTable, body: Sequence[str], ours: Sequence[str] = ()) -> str:
    """Wrap rows into a table; ``ours`` are the set's own columns before the published ones."""
    first, *rest = printed.heads
    heads = f'<th scope="col">{html.escape(first)}</th>'
    heads += "".join(f'<th scope="col">{short_name(name)}</th>' for name in ours)
    heads += "".join(
        f'<th scope="col" class="rx-outside">{html.escape(name)}</th>' for name in rest
    )
    groups = ""
    if ours:
        groups = (
            "<tr><th></th>"
            f'<th scope="colgroup" colspan="{len(ours)}">{_HERE}</th>'
            f'<th scope="colgroup" colspan="{len(rest)}" class="rx-outside">{tr("Published")}</th>'
            "</tr>"
        )
    notes = " ".join((f"Printed in {printed.source}.", *printed.notes))
    drawn = label_cells(
        '<div class="rx-scroll"><table class="rx-scores rx-means rx-table">'
        f"<caption>{html.escape(printed.title)}</caption><thead>{groups}<tr>{heads}</tr></thead>"
        f"<tbody>{''.join(body)}</tbody></table></div>"
    )
    return f'{drawn}<p class="rx-quiet rx-note">{html.escape(notes)}</p>'


_SHOWN_AT_ONCE: Final = 3
"""Comparisons of at most this many models are shown without a click."""


@cache_on_first_argument(4)
def _colours(engine: Engine) -> dict[int, str]:
    """Return a colour for each rater; people have no colour of their own."""
    of_models = assign_model_colours(engine.facts.models)
    return {
        place: of_models[rater.id] if rater.has_answers else REFERENCE_COLOUR
        for place, rater in enumerate(engine.raters)
    }


@cache_on_first_argument(4)
def _accuracy_chart(tables: ChoiceTables, colours: tuple[str, ...]) -> LinkedChart | None:
    caption = multiple_choice.accuracy_caption(tables)
    return accuracy_chart(tables, dict(enumerate(colours)), caption=caption)


def show_accuracy(engine: Engine, tables: ChoiceTables) -> None:
    """Show every rater's accuracy, over all questions and by task."""
    colours = _colours(engine)
    title = tr("Accuracy by rater and task")
    drawn = accuracy_html(tables, colours, title)
    caption = multiple_choice.accuracy_caption(tables)
    file = TableFile(title, partial(accuracy_frame, tables), caption, CHOICE_SHARES)
    show_table(drawn, file, key="choices_accuracy")
    if (chart := _accuracy_chart(tables, tuple(colours.values()))) is not None:
        show_chart(chart, key="choices_accuracy_chart")


def show_groups(engine: Engine, case_filter: CaseFilter, tables: ChoiceTables) -> None:
    """Show accuracies by category, class, difficulty, site or another property of the cases."""
    choices = {choice.key: choice for choice in list_choice_groupings(engine)}
    if not choices:
        return
    usual = next(iter(choices))
    kept = bind_option_to_link("choices_by", link_keys.QUERY_SPLIT, choices, usual)
    names = {key: property_name(choice) for key, choice in choices.items()}
    key = st.selectbox(tr("By"), list(choices), format_func=names.__getitem__, width=320, **kept)
    with st.spinner(tr("Computing each part…")):
        groups = query_cache.choice_groups(engine, case_filter, choices[key])
    if not groups.rows:
        st.info(tr("No question here has a value for it."))
        return
    title = tr("Accuracy by {names}").format(names=mid_sentence(names[key]))
    drawn = groups_html(groups, tables.raters, title)
    frame = partial(choice_group_frame, groups, tables.raters)
    file = TableFile(title, frame, multiple_choice.groups_caption(groups), CHOICE_SHARES)
    show_table(drawn, file, key="choices_groups")


def show_comparisons(engine: Engine, case_filter: CaseFilter, tables: ChoiceTables) -> None:
    """Show the tests between models; those of many models are computed on request."""
    if len(tables.models) < 2:
        return
    title = tr("Models compared, question by question")
    if len(tables.models) > _SHOWN_AT_ONCE:
        label = tr("Comparisons between the {models:,} models").format(models=len(tables.models))
        box = st.expander(label, key="choices_pairs_box", on_change="rerun")
        if box.open:
            with box:
                _pairs(engine, case_filter, title)
        return
    _pairs(engine, case_filter, title)


def _pairs(engine: Engine, case_filter: CaseFilter, title: str, *, readers: bool = False) -> None:
    with st.spinner(tr("Comparing pair by pair…")):
        compared = query_cache.choice_comparisons(engine, case_filter)
        tests = compared.with_readers if readers else compared.of_models
    if not tests:
        return
    key = "choices_with_readers" if readers else "choices_pairs"
    drawn = pairs_html(tests, engine.raters, title, readers=readers)
    met = {place for one in tests for place in (one.test.rater_a, one.test.rater_b)}
    caption = multiple_choice.comparison_caption(len(met), readers=readers)
    frame = partial(rater_pairs_frame, tests, engine.raters)
    show_table(drawn, TableFile(title, frame, caption, CHOICE_SHARES), key=key)


def show_readers(engine: Engine, case_filter: CaseFilter, tables: ChoiceTables) -> None:
    """Show models and readers on the questions that readers answered."""
    if not tables.readers:
        return
    cells = query_cache.choice_read(engine, case_filter)
    title, n = tr("Models and readers on the same questions"), tables.counts.read_by_people
    drawn = reader_questions_html(cells, engine.raters, _colours(engine), title, n)
    linked_html(drawn, key="choices_read")
    frame = partial(read_questions_frame, cells, engine.raters)
    file = TableFile(title, frame, multiple_choice.read_caption(n), CHOICE_SHARES)
    show_downloads(file, key="choices_read_file")
    if tables.models:
        _pairs(engine, case_filter, tr("Each model with each reader"), readers=True)


def show_agreement(engine: Engine, case_filter: CaseFilter, tables: ChoiceTables) -> None:
    """Show who chose the same option as whom, over all questions or one task."""
    if len(tables.raters) < 2:
        return
    by_task = query_cache.choice_kappa(engine, case_filter)
    names = {
        task or "": name_value(engine.facts, "categories", task) if task else ALL
        for task in by_task
    }
    if not names:
        return
    kept = bind_option_to_link("choices_kappa", link_keys.QUERY_AGREEMENT, names, "")
    task = st.selectbox(
        tr("Agreement on"), list(names), format_func=names.__getitem__, width=320, **kept
    )
    chart = kappa_chart(by_task[task or None], tables, names[task])
    if chart is not None:
        show_chart(chart, key="choices_kappa_chart")
    frame = partial(rater_kappa_frame, by_task, engine.raters)
    file = TableFile(
        tr("Agreement of all raters by task"), frame, multiple_choice.KAPPA_NOTE, CHOICE_SHARES
    )
    show_downloads(file, key="choices_kappa_file")


def show_published(
    engine: Engine, case_filter: CaseFilter, tables: ChoiceTables | None = None
) -> None:
    """Show the paper's tables: at once if the set has no choices, otherwise on request."""
    if tables is None:
        linked_html(published_html(None, None), key="choices_published_tables")
        return
    if choose_published(tr("Published tables of the ReXVQA paper beside these"), "choices"):
        read = query_cache.choice_read(engine, case_filter) if tables.readers else ()
        drawn = published_html(tables, _categories(engine, case_filter), read)
        linked_html(drawn, key="choices_published_tables")


def _categories(engine: Engine, case_filter: CaseFilter) -> ChoiceGroups | None:
    known = {choice.key: choice for choice in list_choice_groupings(engine)}
    by = next((known[key] for key in CATEGORY_TAGS if key in known), None)
    return query_cache.choice_groups(engine, case_filter, by) if by else None
