"""Browse: which cases? Filters with counts, cards or a table, search, order, saved filters."""

from rexview.analysis import describe
from rexview.analysis.cards import case_cards
from rexview.ui import browse_parts, filtered, people, resources, state
from rexview.ui.case_table import case_table
from rexview.ui.content_order import show_other_order
from rexview.ui.filter_bar import filter_bar_html
from rexview.ui.filter_panel import filter_panel
from rexview.ui.gallery import gallery_html
from rexview.ui.linked import linked_html
from rexview.ui.shell import open_review_set, page_header

people.guard(state.PAGE_BROWSE)
review_set = open_review_set()
table = resources.answers(review_set)
case_filter = state.link_filter()
counts = filtered.counts(table, case_filter)
selection = filtered.selection(table, case_filter)

page_header(describe(table, case_filter))
filter_panel(case_filter, counts, set_name=resources.set_id(review_set.folder))
bar = filter_bar_html(table, case_filter, counts)
linked_html(bar, key="filter_bar")
show_other_order()
browse_parts.show_search(case_filter, counts)

if not len(selection):
    browse_parts.show_nothing_found(table, case_filter)
else:
    view, ids, first = browse_parts.list_head(selection, case_filter)
    cards = case_cards(review_set, selection, ids)
    if view == "table":
        case_table(review_set, cards, case_filter)
    else:
        drawn = gallery_html(
            review_set,
            cards,
            case_filter,
            colours=resources.colours(review_set),
            gap_threshold=table.gap_threshold,
        )
        linked_html(drawn, key="gallery")
    browse_parts.list_foot(selection, first, len(ids))
