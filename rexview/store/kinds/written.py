"""What people write of failures in their own words."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from rexview.store import value_fields
from rexview.store.kinds.kind import WHO_WRITES_FAILURES, Kind

_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}")
"""A failure's name in links."""

KINDS: Final[Mapping[str, Kind]] = {
    "written_failure": Kind(
        "a failure in one's own words: `name`, what `counts`, what `does_not_count`, `examples` "
        "and `counterexamples`; null: taken away",
        about="all",
        fields={
            "name": value_fields.text("name", required=True),
            "counts": value_fields.text("text of what counts", required=True),
            "does_not_count": value_fields.text("text of what does not count"),
            "examples": value_fields.texts("examples"),
            "counterexamples": value_fields.texts("examples that do not count"),
        },
        roles=WHO_WRITES_FAILURES,
        subject="name in links",
        removable=True,
        shared=True,
    ),
    "written_validation": Kind(
        "whether an answer has a failure in words, of a sample and blind: `said`, of which "
        "`failure`, in which `version` of its words, of the sample of which `judge`; null: taken "
        "back",
        about="answer",
        fields={
            "said": value_fields.word("word", "yes", "no", "unsure"),
            "failure": value_fields.id_of("failure"),
            "version": value_fields.id_of("version of the words"),
            "judge": value_fields.id_of("judge"),
        },
        roles=WHO_WRITES_FAILURES,
        subject="version and judge, as a digest",
        removable=True,
        judging=True,
    ),
    "written_mark": Kind(
        "an answer has a failure in words, as a person saw it: in which `version` of its words, "
        "`comment`; null: taken back",
        about="answer",
        fields={
            "version": value_fields.id_of("version of the words"),
            "comment": value_fields.text("comment"),
        },
        roles=WHO_WRITES_FAILURES,
        subject=("name of the failure in links", _NAME),
        removable=True,
        judging=True,
    ),
}
