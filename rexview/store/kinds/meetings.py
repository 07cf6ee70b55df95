"""What people write of meetings."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Final

from rexview.store import value_fields
from rexview.store.kinds.kind import CHAIRS, Kind
from rexview.vocab import MEETING_STEPS

_of_meeting = partial(Kind, roles=CHAIRS, subject="id of the meeting", removable=True)

KINDS: Final[Mapping[str, Kind]] = {
    "meeting": _of_meeting(
        "a meeting: `name`, `held` (its day), `minutes` planned, `steps` in which a case is shown, "
        "`decisions` of its own list, `closed`; null: removed",
        about="all",
        fields={
            "name": value_fields.text("name", required=True),
            "held": value_fields.day("day of the meeting"),
            "minutes": value_fields.whole("number of minutes", 0, 10_000),
            "steps": value_fields.words_of("steps", MEETING_STEPS),
            "decisions": value_fields.words_of("decisions"),
            "closed": value_fields.word("value of closed", True, False, None),
        },
        shared=True,
    ),
    "agenda": _of_meeting(
        "a case on a meeting's agenda: `place` in its order, `section`, `minutes` expected, "
        "`found_by`: the filter it was found by; null: taken off",
        about="case",
        fields={
            "place": value_fields.number("place on the agenda"),
            "section": value_fields.text("section"),
            "minutes": value_fields.number("number of minutes", 0, 1_000),
            "found_by": value_fields.text("filter"),
        },
        shared=True,
    ),
    "presenter_note": _of_meeting(
        "one's own notes on a case of a meeting, for nobody else: `text`; null: taken back",
        about="case",
        fields={"text": value_fields.text("note")},
    ),
    "discussed": _of_meeting(
        "a case was shown in a meeting: `seconds` in all; null: it does not count",
        about="case",
        fields={"seconds": value_fields.seconds},
        shared=True,
    ),
    "vote": _of_meeting(
        "what people thought before the models were named, without names: `count` of people, "
        "`right`: how many held which model right (also `none`, `unsure`), `harm`: how many gave "
        "0 to 4; null: taken back",
        about="case",
        fields={
            "count": value_fields.whole("number of votes", 0, 100_000),
            "right": value_fields.counts("votes"),
            "harm": value_fields.counts("grades of harm", tuple("01234")),
        },
        shared=True,
    ),
    "decide": _of_meeting(
        "what a meeting decided about a case or an answer: `failure` agreed on (or `none`), "
        "`severity` (0 to 4), `decision` (of the list or of the meeting's own), `owner`, `due` (a "
        "day), `done`, `comment`; null: taken back",
        about="case or answer",
        fields={
            "failure": value_fields.text("failure"),
            "severity": value_fields.severity,
            "decision": value_fields.text("decision"),
            "owner": value_fields.text("owner"),
            "due": value_fields.day("day until which it is to be done"),
            "done": value_fields.word("value of done", True, False, None),
            "comment": value_fields.text("comment"),
        },
        shared=True,
        judging=True,
        outlives=True,
    ),
}
