"""A simulated reader who scores, judges and comments over the browsers' HTTP route.

A thread does what ``outbox.js`` does in a browser, so that many readers can run at once. Entries
are kept until the server confirms them. They are sent again under the same token, in their order,
with a wait that doubles after each failure.
"""

from __future__ import annotations

import http.client
import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from http.client import INTERNAL_SERVER_ERROR
from random import Random
from threading import Condition, Thread
from typing import Any, Final
from uuid import UUID, uuid5

from bench.reliability.audit import Cell, SentEntry
from bench.reliability.server import ScoreServer
from rexview.analysis.query.memory.study_engine import MemoryStudyEngine
from rexview.analysis.query.study_tasks import assign_slots
from rexview.answer_digest import digests_of
from rexview.people import Person
from rexview.store import Entry, open_reviews
from rexview.ui.web.saving.entries import ADJUDICATE_PAGE, CASE_PAGE, MEETING_PAGE, SCORE_PAGE
from rexview.ui.web.saving.outbox import ADDRESS
from rexview.ui.web.saving.reader_study import adjudicator_slots, items_to_score, shown_answer_ids

MOST_AT_ONCE: Final = 50
FIRST_WAIT_S: Final = 0.4
LONGEST_WAIT_S: Final = 10.0
PATIENCE_S: Final = 20.0


KINDS: Final = ("score", "verdict", "comment", "adjudicate")
OF_ONE_PERSON: Final = KINDS[:3]
"""Kinds of one person; there is one consensus for all, and an unseen change of it is reported."""
FROM_PAGES: Final = ("comment", "verdict", "decide")
"""Entries of the Case page and of meetings, without scores; see :func:`hold_meeting`."""
_FAILURE: Final = "omission"


@dataclass(frozen=True)
class Slot:
    """An entry that can be given: its name in the browser, and its target.

    ``key`` is the answer's name on the page, ``shown`` identifies that answer.
    """

    page: str
    key: str | None
    shown: str | None
    cell: Cell


def hold_meeting(server: ScoreServer, person: Person) -> None:
    """Put all cases on the agenda of one person's meeting, so that the person can decide."""
    review_set = server.review_set
    about: dict[str, Any] = {
        "held": None,
        "minutes": None,
        "steps": [],
        "decisions": [],
        "closed": None,
    }
    name = _meeting_of(person)
    entries = [Entry("meeting", None, None, name, value={"name": name, **about})]
    worklist = MemoryStudyEngine(review_set).worklist(person.id, None)
    for place, case in enumerate(worklist.page(0, len(worklist))):
        value = {"place": float(place), "section": None, "minutes": None, "found_by": None}
        entries.append(Entry("agenda", case, None, name, value=value))
    open_reviews(review_set, server.settings).record(entries, person)


def _meeting_of(person: Person) -> str:
    return f"meeting-{person.id}"


def slots_to_give(server: ScoreServer, person: Person) -> dict[str, list[Slot]]:
    """Return all entries that a person can give, by kind; letters are derived as on the server."""
    review_set = server.review_set
    key = open_reviews(review_set, server.settings).letter_key()
    found: dict[str, list[Slot]] = {kind: [] for kind in (*KINDS, "decide")}
    worklist = MemoryStudyEngine(review_set).worklist(person.id, None)
    for case in worklist.page(0, len(worklist)):
        models = [answer.model for answer in review_set.answers_of(case)]
        items = items_to_score(review_set, case)
        reader_letters = assign_slots(case, models, reader=person.id, key=key)
        adjudicator, adjudicator_letters = adjudicator_slots(review_set, case, person, key)
        for page, kind, reader, letters in (
            (SCORE_PAGE, "score", person.id, reader_letters),
            (ADJUDICATE_PAGE, "adjudicate", adjudicator, adjudicator_letters),
        ):
            shown = shown_answer_ids(review_set, case, letters, reader=reader, key=key)
            for letter, model in letters.items():
                for item in items[model]:
                    cell = Cell(case, model, item.dimension, item.picture, kind)
                    found[kind].append(Slot(page, letter, shown[letter], cell))
        for model in models:
            digest = digests_of(review_set).of(case, model)
            for kind, subject in (("verdict", _FAILURE), ("comment", "")):
                cell = Cell(case, model, subject, None, kind)
                found[kind].append(Slot(CASE_PAGE, model, digest, cell))
        cell = Cell(case, "", _meeting_of(person), None, "decide")
        found["decide"].append(Slot(MEETING_PAGE, None, None, cell))
    return found


class Reader:
    """Gives entries, and keeps unconfirmed ones; use it in a ``with`` statement.

    ``kinds`` are the kinds of entries, equally frequent.

    Attributes
    ----------
    given : list of SentEntry
    confirmed : set of str
        Tokens that the pad would show as saved.
    told : list of str
        The pad's messages about trouble.
    seconds : list of float
        Duration of each successful request.
    patience_s : float
        Seconds after which a request is given up.
    refused : dict of str to str
        Tokens that the server refused, with reasons; also entries replaced by newer ones.
    crashes : int
        Requests answered with status 500: an unexpected error.
    """

    def __init__(
        self,
        server: ScoreServer,
        person: Person,
        random: Random,
        *,
        longest_wait_s: float = LONGEST_WAIT_S,
        kinds: Sequence[str] = KINDS,
    ) -> None:
        self.person, self._server, self._random = person, server, random
        self.patience_s, self._longest_wait_s = PATIENCE_S, longest_wait_s
        self._slots, self._kinds = slots_to_give(server, person), kinds
        self._ticket = server.ticket(person)
        self._values: dict[Cell, Mapping[str, Any]] = {}
        self._unsent: dict[str, dict[str, Any]] = {}
        self._changed = Condition()
        self._ends = False
        self._in_flight = False
        self._revision = 0
        self.given: list[SentEntry] = []
        self.confirmed: set[str] = set()
        self.messages: list[str] = []
        self.refused: dict[str, str] = {}
        self.seconds: list[float] = []
        self.crashes = 0
        self._thread = Thread(target=self._send_on, daemon=True)

    def __enter__(self) -> Reader:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        with self._changed:
            self._ends = True
            self._changed.notify_all()
        self._thread.join()

    @property
    def unsent(self) -> int:
        """Number of unconfirmed entries."""
        with self._changed:
            return len(self._unsent)

    @property
    def in_flight(self) -> bool:
        """Whether a request is under way."""
        return self._in_flight

    def give(self) -> None:
        """Give a random entry, with a new value."""
        number = len(self.given)
        kind = self._kinds[number % len(self._kinds)]
        slot = self._random.choice(self._slots[kind])
        cell, token = slot.cell, str(UUID(int=self._random.getrandbits(128), version=4))
        if kind == "comment":
            cell = replace(cell, subject=str(uuid5(UUID(token), kind)))
        before = self._values.get(cell, {})
        value = self._another(kind, number, before)
        score = {"field": "score", "value": value.get("score"), "was": before.get("score")}
        with self._changed:
            self._values[cell] = value
            self.given.append(SentEntry(token, self.person.id, cell, value))
            self._unsent[token] = {
                "token": token,
                "page": slot.page,
                "case": cell.case,
                "kind": kind,
                "slot": slot.key,
                "shown": slot.shown,
                "subject": cell.subject,
                "picture": cell.picture,
                "value": value,
                "was": before,
                "seen": self._revision,
                **(score if kind == "score" else {}),
            }
            self._changed.notify_all()

    def _another(self, kind: str, number: int, before: Mapping[str, Any]) -> dict[str, Any]:
        if kind == "comment":
            return {"text": f"Comment {number}"}
        if kind == "verdict":
            verdict = "rejected" if before.get("verdict") == "confirmed" else "confirmed"
            return {"verdict": verdict, "comment": f"Reason {number}"}
        if kind == "decide":
            return {"decision": "Ask the vendor", "comment": f"Minute {number}"}
        scores = [one for one in range(1, 6) if one != before.get("score")]
        return {"score": self._random.choice(scores)}

    def wait(self, until: Callable[[int], bool], limit_s: float) -> bool:
        """Wait until a condition on the number of unsent entries holds; return whether it does."""
        ends = time.monotonic() + limit_s
        with self._changed:
            while not until(len(self._unsent)):
                remaining_s = ends - time.monotonic()
                if remaining_s <= 0:
                    return False
                self._changed.wait(min(remaining_s, 0.5))
            return True

    def wait_saved(self, limit_s: float) -> bool:
        """Wait until everything is confirmed; return whether it is."""
        return self.wait(lambda unsent: unsent == 0, limit_s)

    def wait_confirmed(self, count: int, limit_s: float) -> bool:
        """Wait until ``count`` entries are confirmed; return whether they are."""
        return self.wait(lambda _: len(self.confirmed) >= count, limit_s)

    def _send_on(self) -> None:
        failures = 0
        while True:
            with self._changed:
                while not self._unsent and not self._ends:
                    self._changed.wait()
                if self._ends:
                    return
                batch = list(self._unsent.values())[:MOST_AT_ONCE]
            fault = self._post(batch)
            with self._changed:
                self._changed.notify_all()
                if fault is None:
                    failures = 0
                    continue
                self.messages.append(fault)
                failures += 1
                wait_s = min(FIRST_WAIT_S * 2 ** (failures - 1), self._longest_wait_s)
                self._changed.wait_for(lambda: self._ends, wait_s)

    def _post(self, batch: list[dict[str, Any]]) -> str | None:
        """Send entries; return a message for the reader, None if all are handled."""
        now = time.monotonic()
        body = json.dumps({"ticket": self._ticket, "case": batch[-1]["case"], "entries": batch})
        connection = http.client.HTTPConnection(
            "localhost", self._server.port, timeout=self.patience_s
        )
        self._in_flight = True
        try:
            headers = {"Content-Type": "application/json"}
            connection.request("POST", f"/{ADDRESS}", body=body, headers=headers)
            response = connection.getresponse()
            self.crashes += response.status == INTERNAL_SERVER_ERROR
            reply = json.loads(response.read())
        except (OSError, http.client.HTTPException, ValueError):
            return "The server cannot be reached."
        finally:
            self._in_flight = False
            connection.close()
        if response.status != 200 or not isinstance(reply.get("saved"), list):
            return str(reply.get("error", "The server cannot save at the moment."))
        turned_down = {**reply["refused"], **dict.fromkeys(reply["replaced"], "Replaced.")}
        handled = {*reply["saved"], *turned_down}
        if any(one["token"] not in handled for one in batch):
            return "The server did not confirm all entries."
        self.seconds.append(time.monotonic() - now)
        with self._changed:
            self._revision = reply["revision"]
            self.confirmed.update(reply["saved"])
            self.refused.update(turned_down)
            for token in handled:
                self._unsent.pop(token, None)
        return None


def readers(count: int) -> Iterator[Person]:
    """Yield people with all permissions."""
    for number in range(1, count + 1):
        yield Person(f"reader-{number}", f"Reader {number}", "lead")
