"""One server for the review sets of several tests: each test asks for its own by its link."""

import json

from rexview import reviewset
from rexview.settings import Settings
from rexview.store import open_reviews
from rexview.store.database.connection import close_databases
from rexview.ui.web.server.review_sets import set_id
from support.browser.score_pad import known_reader

_MOST = 20


class SetOfTest:
    """A set that a test has for itself, on a server that it may share with others."""

    def __init__(self, address, folder):
        self.address, self.folder, self.set_id = address, folder, set_id(folder)
        self.review_set = reviewset.load_review_set(folder)
        self.settings = Settings(review_set=folder)

    def link(self, page, **query):
        """Return the address of a page of the app on this set."""
        more = "".join(f"&{name}={value}" for name, value in query.items())
        return f"{self.address}{page}?set={self.set_id}{more}"

    def history(self, kind):
        """Return the entries of a kind, oldest first."""
        found = open_reviews(self.review_set, self.settings).history(kind=kind)[::-1]
        close_databases()
        return found

    def record(self, entries, person):
        """Write entries as another process would."""
        open_reviews(self.review_set, self.settings).record(entries, person)
        close_databases()


class SetsOfTests:
    """The app for somebody who works alone and has opened sets that tests still have to write.

    It begins with the first test. Who it is has a name, or has given none.
    """

    def __init__(self, start_app, home, name=None, **environment):
        data = known_reader(home / "data", name) if name else home / "data"
        folders = [home / f"set{number}" for number in range(_MOST)]
        recent = data / "rexview" / "recent-sets.json"
        recent.parent.mkdir(parents=True, exist_ok=True)
        recent.write_text(json.dumps([str(folder) for folder in folders]), encoding="utf-8")
        self._left = iter(folders)
        self._start = lambda first: start_app(first, data=data, **environment)
        self._address = None

    def next(self, write):
        """Write a set into a folder of its own; return the server's address, it, and its id."""
        folder = write(next(self._left))
        self._address = self._address or self._start(folder)
        return self._address, folder, set_id(folder)

    def for_test(self, write):
        """Write a set into a folder of its own and return it."""
        address, folder, _ = self.next(write)
        return SetOfTest(address, folder)
