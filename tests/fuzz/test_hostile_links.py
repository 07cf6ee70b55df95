"""Hostile links: every page is opened with query strings of all sorts, and shows a page."""

import pytest
from support.hostile_input import any_text, generator, keys_of_links, rounds
from support.opened_app import run_page

from rexview.ui.web.server import review_sets

PAGES = (
    *("overview", "browse", "case", "scores", "readers", "multiple_choice", "report_generation"),
    *("score", "study", "adjudicate", "curate", "data"),
)
KEYS = list(keys_of_links())


@pytest.mark.parametrize("page", PAGES)
def test_every_page_with_any_query(review_set, page):
    chance = generator(page)
    known = review_sets.set_id(review_set.folder)
    app = run_page(page)
    for number in rounds(page, 3):
        app.query_params.clear()
        app.query_params["set"] = known
        wanted = {}
        for _ in range(chance.choice((1, 2, 4, 8))):
            texts = [any_text(chance) for _ in range(chance.choice((1, 1, 3)))]
            texts = [text.encode("utf-8", "replace").decode() for text in texts]
            wanted[chance.choice(KEYS)] = texts if len(texts) > 1 else texts[0]
        for key, value in wanted.items():
            app.query_params[key] = value
        app.run()
        assert not app.exception, (number, wanted, app.exception)
