"""One server for the review sets of several tests: each test asks for its own by its link."""

import json

from rexview.ui.server.review_sets import set_id
from support.browser.score_pad import known_reader

_MOST = 20


class SetsOfTests:
    """The app for somebody who works alone, who has opened sets that tests still have to write.

    To begin a server and to load its page for the first time takes more than most tests do.
    """

    def __init__(self, start_app, home, name):
        data = known_reader(home / "data", name)
        folders = [home / f"set{number}" for number in range(_MOST)]
        recent = data / "rexview" / "recent-sets.json"
        recent.write_text(json.dumps([str(folder) for folder in folders]), encoding="utf-8")
        self._left = iter(folders)
        self._start = lambda first: start_app(first, data=data)
        self._address = None

    def next(self, write):
        """Write a set into a folder of its own; return the server's address, it, and its id."""
        folder = write(next(self._left))
        self._address = self._address or self._start(folder)
        return self._address, folder, set_id(folder)
