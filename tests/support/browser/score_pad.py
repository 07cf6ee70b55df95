"""The score pad in a browser: what it kept and confirmed, seen from outside."""

import json
import re

from bench.reliability.audit import Cell, SentEntry
from rexview.analysis.query.study_tasks import assign_slots

SAVED = ".rx-pad .saved[data-state=saved]"
WAITING = ".rx-pad .saved[data-state=waiting]"
_CUT_OFF = """() => {
    const real = window.fetch;
    window.fetch = (to, ...rest) => String(to).includes("/rexview/reviews")
        ? Promise.reject(new TypeError("cut off"))
        : real(to, ...rest);
}"""
_WATCH = """
(() => {
  const ours = (key) => String(key).startsWith("rexview:unsent:");
  const { setItem, removeItem } = Storage.prototype;
  Storage.prototype.setItem = function (key, value) {
    setItem.call(this, key, value);
    if (ours(key)) window.toldGiven(String(value));
  };
  Storage.prototype.removeItem = function (key) {
    removeItem.call(this, key);
    if (ours(key)) window.toldConfirmed(String(key).slice(-36));
  };
})();
"""


class Watch:
    """Every entry that the pads of a browser context put into its storage, and took out again."""

    def __init__(self, context):
        self.entries, self.confirmed = [], []
        context.expose_function("toldGiven", lambda text: self.entries.append(json.loads(text)))
        context.expose_function("toldConfirmed", lambda token: self.confirmed.append(token))
        context.add_init_script(_WATCH)

    def given(self, review_set, person, key):
        """The scores that were given, by the models behind their letters, which ``key`` gives."""
        found = []
        for entry in self.entries:
            if entry["kind"] != "score" or entry["field"] != "score":
                continue
            models = [answer.model for answer in review_set.answers_of(entry["case"])]
            model = assign_slots(entry["case"], models, reader=person, key=key)[entry["slot"]]
            cell = Cell(entry["case"], model, entry["subject"], entry["picture"])
            found.append(SentEntry(entry["token"], person, cell, {"score": entry["value"]}))
        return found


def known_reader(folder, name):
    """Let a server that keeps its data in a folder know who works alone with it; return it.

    Browsers have the name, too, on servers of ``start_app``; for others see ``name_browsers_of``.
    """
    file = folder / "rexview" / "person.json"
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps({"name": name}), encoding="utf-8")
    return folder


def open_case(page, address, case):
    """Open a case on the Score page and wait until it can be scored."""
    page.goto(f"{address}/score?case={case}")
    wait_for_case(page, case)


def wait_for_case(page, case):
    page.wait_for_selector(f'[data-painted-case="{case}"]', timeout=60_000)
    page.wait_for_selector(f'.rx-pad .place[title="{case}"]')
    page.wait_for_selector(".rx-pad .row.current")


def trouble(page):
    """What the pad tells of trouble, when it does."""
    page.wait_for_selector(WAITING, timeout=60_000)
    words = page.locator(".rx-pad .alert").inner_text()
    assert re.match("Not saved yet: kept on this computer, will be sent.", words)
    return words


def wait_saved(page):
    page.wait_for_selector(SAVED, timeout=60_000)
    page.wait_for_selector(".rx-pad .alert", state="hidden")


def cut_off(page):
    """Let a page reach the server for nothing that it would save, to its last moment.

    A route does not do for a tab that is closed: its last request can outlive the route.
    """
    page.evaluate(_CUT_OFF)
