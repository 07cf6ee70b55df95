"""From page to page of the app as its links go: without loading it again, which takes 1 s each."""

from __future__ import annotations

from playwright.sync_api import Page

_FOLLOW = """(address) => {
  window.history.pushState({}, "", new URL(address || ".", document.baseURI));
  window.dispatchEvent(new PopStateEvent("popstate", { state: {} }));
}"""


def follow(page: Page, address: str) -> None:
    """Go to an address of the app, relative to it, in the app that stands in the page."""
    page.evaluate(_FOLLOW, address)


def load_or_follow(page: Page, app: str, address: str) -> None:
    """Go to an address of the app: load it where the page is elsewhere, else go on in it."""
    if page.url.startswith(app):
        follow(page, address)
    else:
        page.goto(f"{app}{address}")


def walk_to(page: Page, app: str, address: str) -> None:
    """Open another page of the app: the first and the account are loaded, others follow in it.

    Waits until the list of pages, which is at the foot of a phone and hidden elsewhere, names it.
    """
    if not page.url.startswith(app) or address == "account":  # that is not in the list
        page.goto(app + address)
        return
    follow(page, address)
    current = page.locator(f'.rx-phone-pages [aria-current=page][href="{address}"]')
    current.wait_for(state="attached")
