"""The tables of the Multiple choice page as HTML: every number is a link to its questions."""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from rexview.analysis import CaseProperty, Count, multiple_choice
from rexview.analysis.filter.conditions import OF_CASES
from rexview.analysis.multiple_choice import (
    ChoiceCell,
    ChoiceGroups,
    ChoiceTables,
    GroupRow,
    PairTest,
)
from rexview.analysis.ranking import Ranking, ranked
from rexview.stats.bootstrap import Interval
from rexview.stats.failure_rates import Rate
from rexview.stats.multiple_choice import Rater
from rexview.ui.tables.number_table import (
    NOTHING,
    Head,
    Reasons,
    linked_number,
    model_head,
    part_row,
    ranked_head,
    short_name,
    signed_points,
    table_html,
)
from rexview.ui.tables.pair_table import MOST_PAIRS, mcnemar_html, pairs_title
from rexview.ui.tables.ranked import ranked_item, ranked_tools
from rexview.words import counted, listed, tr, trn


def headline_html(tables: ChoiceTables) -> str:
    """Say in a sentence how many questions were answered by whom, and what they come to."""
    counts = tables.counts
    who = [counted(len(tables.models), "model")] if tables.models else []
    who += [counted(len(tables.readers), "reader")] if tables.readers else []
    sentence = trn(
        "{n} question answered by {who}", "{n} questions answered by {who}", counts.questions
    ).format(n=f"<b>{counts.questions:,}</b>", who=listed(who))
    if tables.clustered:
        sentence = tr("{answered}, of {patients:,} patients or studies").format(
            answered=sentence, patients=counts.patients
        )
    noted = [
        f"{OF_CASES[word]}: {linked_number(count, f'<b>{count.value:,}</b>')}"
        for word, count in tables.noted.items()
        if count.value
    ]
    more = f' <span class="rx-noted">{" · ".join(noted)}</span>' if noted else ""
    return f'<p class="rx-line">{sentence}.{more}</p>'


def accuracy_html(tables: ChoiceTables, colours: Mapping[int, str], title: str) -> str:
    """Lay out every rater's accuracy: over all questions, and by task; many models are ranked."""
    heads = [tr("Rater"), "n", tr("Accuracy"), tr("95% CI"), tr("Failed"), tr("Without failed")]
    heads += [row.name for row in tables.tasks]
    reasons = Reasons()
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


def _total_cells(cell: ChoiceCell, where: str, reasons: Reasons) -> str:
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


def _limits(limits: Interval, where: str, reasons: Reasons) -> str:
    if limits.low is None or limits.high is None:
        return reasons.add(limits.why or tr("Undefined."), where)
    return tr("{low:.1%} to {high:.1%}").format(low=limits.low, high=limits.high)


def _cell_html(cell: ChoiceCell, where: str, reasons: Reasons) -> str:
    """Write a rater's share on some questions, with n, interval and the failed ones."""
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
    """Return the name of a property for a reader, to whom it is no matter that it is a tag."""
    return by.name.removesuffix(" (tag)")


def groups_html(groups: ChoiceGroups, raters: Mapping[int, Rater], title: str) -> str:
    """Lay accuracies out by a property of the questions; raters as columns."""
    met = [place for place in raters if any(_cell_of(row, place) for row in groups.rows)]
    ranking = ranked(
        (place for place in met if not raters[place].is_reader), partial(_share_in, groups)
    )
    of_readers = [place for place in met if raters[place].is_reader]
    heads: list[str | Head] = [property_name(groups.by), tr("Questions")]
    heads += [ranked_head(raters[place].label, place, ranking) for place in ranking.order]
    heads += [raters[place].label for place in of_readers]
    reasons = Reasons()
    body = list(_group_rows(groups.rows, ranking, of_readers, raters, reasons))
    tools = ranked_tools(ranking, tr("accuracy"))
    caption = multiple_choice.groups_caption(groups)
    return table_html(title, heads, body, caption, tools) + reasons.html()


def _share_in(groups: ChoiceGroups, place: int) -> float | None:
    """Return a rater's share of right answers over the questions of all groups."""
    found = [cell.accuracy.rate for row in groups.rows for cell in row.cells if cell.place == place]
    asked = sum(rate.n for rate in found)
    return sum(rate.flagged for rate in found) / asked if asked else None


def _cell_of(row: GroupRow, place: int) -> ChoiceCell | None:
    found = next((cell for cell in row.cells if cell.place == place), None)
    return found if found and found.accuracy.rate.n else None


def _group_rows(
    rows: Sequence[GroupRow],
    ranking: Ranking[int],
    of_readers: Sequence[int],
    raters: Mapping[int, Rater],
    reasons: Reasons,
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


def read_html(
    cells: Sequence[ChoiceCell],
    raters: Sequence[Rater],
    colours: Mapping[int, str],
    title: str,
    questions: int,
) -> str:
    """Lay out models and readers on the questions that readers answered, best first."""
    reasons, body = Reasons(), []
    ordered = sorted(cells, key=lambda cell: -(cell.accuracy.rate.share or 0))
    ranking = ranked(ordered, lambda cell: cell.accuracy.rate.share)
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
    tests: Sequence[PairTest],
    raters: Sequence[Rater],
    title: str,
    *,
    readers: bool = False,
) -> str:
    """Lay out comparisons of raters, the smallest adjusted p first."""
    ordered = sorted(tests, key=lambda pair: (pair.test.p_adj is None, pair.test.p_adj or 0.0))
    reasons, body = Reasons(), []
    for pair in ordered[:MOST_PAIRS]:
        test = pair.test
        names = [raters[place].name for place in (test.rater_a, test.rater_b)]
        where = listed(names)
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


def _only(count: Count) -> str:
    return linked_number(count, f"{count.value:,}")


def _difference(value: float | None, limits: Interval, where: str, reasons: Reasons) -> str:
    if value is None:
        return reasons.add(limits.why or tr("Undefined."), where)
    between = ""
    if limits.low is not None and limits.high is not None:
        low, high = (signed_points(limit, decimals=1) for limit in (limits.low, limits.high))
        between = f'<small class="rx-ci">{tr("{low} to {high}").format(low=low, high=high)}</small>'
    elif limits.why:
        between = reasons.add(limits.why, tr("{where}, difference").format(where=where))
    return f"<b>{signed_points(value, decimals=1)}</b>{between}"
