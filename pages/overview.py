"""Overview: what went wrong, how often, for which model? Every number opens its cases."""

from rexview.ui.answers.browse_cards import gallery_html
from rexview.ui.filter_panel import (
    content_order_label,
    open_filtered_set,
    show_content_order_note,
    show_head,
)
from rexview.ui.overview import summary as overview_html
from rexview.ui.overview.summary import show_charts, show_self_contradiction
from rexview.ui.web.access import permissions
from rexview.ui.web.app.shell import show_nothing_yet
from rexview.ui.web.link.in_app import browse_link, linked_html
from rexview.ui.web.link.pages import PAGE_OVERVIEW, PAGE_SCORE
from rexview.ui.web.server import query_cache, review_sets
from rexview.words import tr

MOST_SEVERE = 4
LOOK_FIRST = 6

permissions.guard(PAGE_OVERVIEW)
filtered = open_filtered_set(counts_failures=True)
review_set, engine, case_filter, counts, *_ = filtered
colours = review_sets.colours(review_set)
numbers = query_cache.numbers(engine, case_filter)
show_head(filtered, review_set.info.name)

first = engine.page(case_filter, 0, LOOK_FIRST)
review_sets.scan_first(review_set, engine, case_filter, first)
worst = engine.cards(case_filter, first)
names = review_set.model_names
if look_first := overview_html.worst_cases_html(worst, case_filter, names, colours):
    title = tr("Look here first, so far") if filtered.so_far else tr("Look here first")
    head = f'<header class="rx-section"><h2>{title}</h2></header>'
    linked_html(head + look_first, key="overview_first")

headline = overview_html.headline_html(numbers) + overview_html.failures_html(numbers)
linked_html(headline, key="overview_head")
show_content_order_note()
if others := overview_html.other_failures_html(numbers):
    linked_html(others, key="overview_others")

drawn = gallery_html(
    review_set,
    worst[:MOST_SEVERE],
    case_filter,
    colours=colours,
    gap_threshold=engine.facts.gap_threshold,
)
more = browse_link(case_filter, tr("All {total:,} cases").format(total=counts.total))
title = tr("Most severe first, so far") if filtered.so_far else tr("Most severe first")
head = f'<header class="rx-section"><h2>{title}</h2>{more}</header>'
linked_html(head + drawn, key="overview_worst")

if show_charts(engine, case_filter):
    scores = overview_html.scores_html(numbers, content_order_label())
    linked_html(scores, key="overview_scores")
else:
    show_nothing_yet(
        tr("No answer has been scored yet, so there are no scores to draw."),
        (PAGE_SCORE, tr("Score cases")),
    )
show_self_contradiction(review_set, engine, case_filter)
