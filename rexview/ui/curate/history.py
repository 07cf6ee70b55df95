"""What was done to the candidates of a study, in words: who, when, from what to what."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Any, Final

from rexview.store import Stored
from rexview.ui.curate.round import Round
from rexview.ui.saving.curation_entries import CURATION_KINDS
from rexview.vocab import CATEGORY_NAMES, CRITERIA, QUESTION_DEFECTS, QUESTION_TAGS, moment
from rexview.words import tr, trn

_MOST: Final = 40
"""Entries on one candidate that are told, the newest ones."""
_NAMES: Final[Mapping[str, str]] = {
    **CRITERIA,
    "decision": tr("Decision"),
    "question": tr("Question"),
    "boxes_question": tr("Question with boxes"),
    "category": tr("Category"),
    "comment": tr("Comment"),
    "risk": tr("Risk"),
    "after_model": tr("After the model's scores were seen"),
    "passed": tr("Passed"),
    "defect": tr("Defect"),
}


def history_json(now: Round, case: str, seen: frozenset[str]) -> dict[str, list[dict[str, str]]]:
    """Return what was done by candidate, newest first.

    Scores of others are left out where the person's own are to come first (not ``seen``).
    """
    found: dict[str, list[dict[str, str]]] = defaultdict(list)
    left: dict[str, int] = defaultdict(int)
    for row in now.reviews.history(case=case):
        candidate = row.subject or ""
        hidden = row.kind == "rate" and row.person != now.person.id
        if row.kind not in CURATION_KINDS or (hidden and now.score_first and candidate not in seen):
            continue
        if len(found[candidate]) == _MOST:
            left[candidate] += 1
            continue
        found[candidate].append(
            {"at": moment(row.at), "name": row.person_name, "words": words_of(row)}
        )
    for candidate, more in left.items():
        words = trn(
            "{n:,} earlier entry is not listed here",
            "{n:,} earlier entries are not listed here",
            more,
        ).format(n=more)
        found[candidate].append({"at": "", "name": "", "words": words})
    return found


def words_of(row: Stored) -> str:
    """Say what an entry changed."""
    if not row.intact:
        return tr("this entry was changed outside the app and says nothing")
    before, after = _plain(row.previous), _plain(row.value)
    if row.kind == "propose":
        return tr("took the question back") if row.value is None else tr("wrote the question")
    if row.kind == "rate" and row.value is not None and not after and not before:
        return tr("wanted to see the model's scores without scoring")
    changes = [
        f"{name} {_said(before.get(name))} → {_said(after.get(name))}"
        for name in dict.fromkeys([*before, *after])
        if before.get(name) != after.get(name)
    ]
    return "; ".join(changes) or tr("the same again")


def _plain(value: Mapping[str, Any] | None) -> dict[str, str]:
    """Return the fields of a value that say something, by their names on the page."""
    found: dict[str, str] = {}
    for field, said in (value or {}).items():
        if field == "tags":
            tags = {one["name"]: one["values"] for one in said or ()}
            found |= {
                QUESTION_TAGS[name]: ", ".join(tags[name]) for name in QUESTION_TAGS if name in tags
            }
        elif said is not None:
            found[_NAMES.get(field, field)] = _word(field, said)
    return found


def _word(field: str, said: Any) -> str:
    if isinstance(said, bool):
        return tr("yes") if said else tr("no")
    names = {"category": CATEGORY_NAMES, "defect": QUESTION_DEFECTS}.get(field, {})
    return names.get(said, str(said))


def _said(value: str | None) -> str:
    return "–" if value is None else f"“{value}”"
