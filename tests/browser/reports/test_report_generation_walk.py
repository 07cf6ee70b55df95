"""The page Report generation in a real browser: a head ranks, a number opens its answers."""

from __future__ import annotations

import re

import pytest
from support.browser.waiting import calm
from support.made_rows.reports import MODELS, TABLES
from support.review_folder import named, write_review_set

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def address(start_app, tmp_path_factory):
    names = {model: f"Model {model.upper()}" for model in MODELS}
    info = {"name": "Reports", "models": named(**names), "readers": named(ra="Reader A")}
    return start_app(write_review_set(tmp_path_factory.mktemp("boards"), info=info, **TABLES))


def models_in_order(page):
    return page.locator(".st-key-reports_board tbody th").all_inner_texts()


def test_a_head_ranks_and_a_number_opens_the_worst_first(address, new_page):
    page = new_page()
    page.goto(f"{address}reports")
    page.locator(".st-key-reports_board td a").first.wait_for()
    calm(page)
    assert models_in_order(page) == ["Model A", "Model B", "Model C"]
    page.get_by_role("link", name="1/RadCliQ-v1").click()
    page.wait_for_url(re.compile("ranked_by=radcliq_v1"))
    page.wait_for_function(
        "() => document.querySelectorAll('.st-key-reports_board tbody th')[1]"
        "?.innerText === 'Model C'"
    )
    assert models_in_order(page) == ["Model A", "Model C", "Model B"]
    calm(page)
    page.locator(".st-key-reports_board td a").first.click()
    page.wait_for_url(re.compile(r"/browse\?.*model=a"))
    assert "sort=worst" in page.url


def test_nothing_runs_off_a_phone(address, new_page):
    page = new_page(width=390, height=844)
    page.goto(f"{address}reports?published=1")
    page.locator(".rx-published").first.wait_for()
    calm(page)
    wide = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert page.evaluate(wide) <= 0
    assert page.locator(".rx-published tr.rx-own").count() == 3
