"""Browse: which cases? Filters with counts, cards or a table, search, order, saved filters."""

from rexview.ui.answers.browse_cards import gallery_html
from rexview.ui.browse import case_list as browse_widgets
from rexview.ui.browse.case_list import filter_bar_html
from rexview.ui.filter_panel import (
    open_filtered_set,
    show_content_order_note,
    show_nothing_found,
    show_panel,
    show_title,
)
from rexview.ui.meeting.meetings import may_lead
from rexview.ui.scan_progress.progress_strip import show_metrics_progress
from rexview.ui.web.access import permissions
from rexview.ui.web.link.in_app import linked_html
from rexview.ui.web.link.pages import PAGE_BROWSE
from rexview.ui.web.server import review_sets

permissions.guard(PAGE_BROWSE)
filtered = open_filtered_set(counts_failures=True)
review_set, engine, case_filter, counts, *_ = filtered

show_title(filtered)
show_panel(filtered)
bar = filter_bar_html(engine.facts, case_filter, counts, so_far=filtered.so_far)
linked_html(bar, key="filter_bar")
show_content_order_note()
browse_widgets.show_search(case_filter, counts)

if not counts.total:
    show_nothing_found(engine, counts, case_filter)
else:
    view, ids, first = browse_widgets.show_list_head(
        review_set, engine, counts.total, case_filter, so_far=filtered.so_far
    )
    if case_filter.metric_order:
        show_metrics_progress(review_set)
        browse_widgets.show_order(engine, case_filter)
    review_sets.scan_first(review_set, engine, case_filter, ids)
    cards = engine.cards(case_filter, ids)
    if view == "table":
        browse_widgets.show_table(review_set, cards, case_filter, so_far=filtered.so_far)
    else:
        drawn = gallery_html(
            review_set,
            cards,
            case_filter,
            colours=review_sets.colours(review_set),
            gap_threshold=engine.facts.gap_threshold,
            with_pins=may_lead(),
        )
        linked_html(drawn, key="gallery")
    browse_widgets.show_list_foot(
        counts.total, first, len(ids), case_filter, so_far=filtered.so_far
    )
