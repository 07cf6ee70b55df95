"""The widgets of the Multiple choice page: tables, charts, and what is worked out on demand."""

from __future__ import annotations

from functools import partial
from typing import Final

import streamlit as st

from rexview.analysis import REFERENCE_COLOUR, CaseFilter, Engine, model_colours, multiple_choice
from rexview.analysis.charts.linked import LinkedChart
from rexview.analysis.charts.multiple_choice import ALL, accuracy_chart, kappa_chart
from rexview.analysis.download_files import TableFile
from rexview.analysis.download_frames import (
    CHOICE_SHARES,
    accuracy_frame,
    choice_group_frame,
    kappa_frame,
    pair_frame,
    read_frame,
)
from rexview.analysis.filter.wording import value_name
from rexview.analysis.multiple_choice import (
    CATEGORY_TAGS,
    ChoiceGroups,
    ChoiceTables,
    group_choices,
)
from rexview.ui.charts.panel import show_chart
from rexview.ui.link import keys as link_keys
from rexview.ui.link.choices import option_kept_in_link, published_shown
from rexview.ui.link.in_app import linked_html
from rexview.ui.multiple_choice import html as choice_html
from rexview.ui.multiple_choice.published import published_html
from rexview.ui.server import query_cache
from rexview.ui.server.kept_with import kept_with_first
from rexview.ui.tables.table_download import show_downloads, show_table
from rexview.words import inside, tr

_SHOWN_AT_ONCE: Final = 3
"""The comparisons of so few models need no click."""


@kept_with_first(4)
def _colours(engine: Engine) -> dict[int, str]:
    """Return a colour for each rater; people, who are no models, have none of theirs."""
    of_models = model_colours(engine.facts.models)
    return {
        place: of_models[rater.id] if rater.has_answers else REFERENCE_COLOUR
        for place, rater in enumerate(engine.raters)
    }


@kept_with_first(4)
def _accuracy_chart(tables: ChoiceTables, colours: tuple[str, ...]) -> LinkedChart | None:
    caption = multiple_choice.accuracy_caption(tables)
    return accuracy_chart(tables, dict(enumerate(colours)), caption=caption)


def show_accuracy(engine: Engine, tables: ChoiceTables) -> None:
    """Show every rater's accuracy, over all questions and by task."""
    colours = _colours(engine)
    title = tr("Accuracy by rater and task")
    drawn = choice_html.accuracy_html(tables, colours, title)
    caption = multiple_choice.accuracy_caption(tables)
    file = TableFile(title, partial(accuracy_frame, tables), caption, CHOICE_SHARES)
    show_table(drawn, file, key="choices_accuracy")
    if (chart := _accuracy_chart(tables, tuple(colours.values()))) is not None:
        show_chart(chart, key="choices_accuracy_chart")


def show_groups(engine: Engine, case_filter: CaseFilter, tables: ChoiceTables) -> None:
    """Show accuracies by category, class, difficulty, site or another property of the cases."""
    choices = {choice.key: choice for choice in group_choices(engine)}
    if not choices:
        return
    usual = next(iter(choices))
    kept = option_kept_in_link("choices_by", link_keys.QUERY_SPLIT, choices, usual)
    names = {key: choice_html.property_name(choice) for key, choice in choices.items()}
    key = st.selectbox(tr("By"), list(choices), format_func=names.__getitem__, width=320, **kept)
    with st.spinner(tr("Working out each part…")):
        groups = query_cache.choice_groups(engine, case_filter, choices[key])
    if not groups.rows:
        st.info(tr("No question here has a value of it."))
        return
    title = tr("Accuracy by {names}").format(names=inside(names[key]))
    drawn = choice_html.groups_html(groups, tables.raters, title)
    frame = partial(choice_group_frame, groups, tables.raters)
    file = TableFile(title, frame, multiple_choice.groups_caption(groups), CHOICE_SHARES)
    show_table(drawn, file, key="choices_groups")


def show_comparisons(engine: Engine, case_filter: CaseFilter, tables: ChoiceTables) -> None:
    """Show the tests between models; those of many models are worked out on demand."""
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
    drawn = choice_html.pairs_html(tests, engine.raters, title, readers=readers)
    met = {place for one in tests for place in (one.test.rater_a, one.test.rater_b)}
    caption = multiple_choice.comparison_caption(len(met), readers=readers)
    frame = partial(pair_frame, tests, engine.raters)
    show_table(drawn, TableFile(title, frame, caption, CHOICE_SHARES), key=key)


def show_readers(engine: Engine, case_filter: CaseFilter, tables: ChoiceTables) -> None:
    """Show models and readers on the questions that readers answered."""
    if not tables.readers:
        return
    cells = query_cache.choice_read(engine, case_filter)
    title, n = tr("Models and readers on the same questions"), tables.counts.read_by_people
    drawn = choice_html.read_html(cells, engine.raters, _colours(engine), title, n)
    linked_html(drawn, key="choices_read")
    frame = partial(read_frame, cells, engine.raters)
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
        task or "": value_name(engine.facts, "categories", task) if task else ALL
        for task in by_task
    }
    if not names:
        return
    kept = option_kept_in_link("choices_kappa", link_keys.QUERY_AGREEMENT, names, "")
    task = st.selectbox(
        tr("Agreement on"), list(names), format_func=names.__getitem__, width=320, **kept
    )
    chart = kappa_chart(by_task[task or None], tables, names[task])
    if chart is not None:
        show_chart(chart, key="choices_kappa_chart")
    frame = partial(kappa_frame, by_task, engine.raters)
    file = TableFile(
        tr("Agreement of all raters by task"), frame, multiple_choice.KAPPA, CHOICE_SHARES
    )
    show_downloads(file, key="choices_kappa_file")


def show_published(
    engine: Engine, case_filter: CaseFilter, tables: ChoiceTables | None = None
) -> None:
    """Show the paper's tables: at once without own choices, beside them on demand."""
    if tables is None:
        linked_html(published_html(None, None), key="choices_published_tables")
        return
    if published_shown(tr("Published tables of the ReXVQA paper beside these"), "choices"):
        read = query_cache.choice_read(engine, case_filter) if tables.readers else ()
        drawn = published_html(tables, _categories(engine, case_filter), read)
        linked_html(drawn, key="choices_published_tables")


def _categories(engine: Engine, case_filter: CaseFilter) -> ChoiceGroups | None:
    known = {choice.key: choice for choice in group_choices(engine)}
    by = next((known[key] for key in CATEGORY_TAGS if key in known), None)
    return query_cache.choice_groups(engine, case_filter, by) if by else None
