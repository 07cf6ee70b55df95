"""Words that are typed into a field, whose tab crashes before the field is left."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

from playwright.sync_api import BrowserContext, Error, Locator, Page, expect

WAITS = "Typed, not saved yet: kept on this computer."


def type_and_crash(
    context: BrowserContext,
    address: str,
    find: Callable[[Page], Locator],
    words: str,
    note: Callable[[Page], Locator],
) -> None:
    """Type into a field of a new tab; once the note says that the words wait, crash the tab."""
    page = context.new_page()
    page.goto(address)
    field = find(page)
    expect(field).to_be_editable(timeout=60_000)
    field.fill("")
    field.press_sequentially(words)
    expect(note(page)).to_be_visible(timeout=1000)
    assert field.evaluate("one => one.getRootNode().activeElement === one"), "it was not left"
    with suppress(Error):
        page.goto("chrome://crash")
