"""A random sample of what a judge found and did not find, and what clinicians say of it.

The order of both groups is that of a hash with the seed, so a longer sample begins with a shorter
one, and what somebody told of the beginning stays told. A word counts for the sample of the judge
and the words it was given for, of the answer as it was read.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from rexview.analysis.written.results import FoundIn
from rexview.judge.written.results import Candidate
from rexview.judge.written.validating import (
    GROUPS,
    Group,
    Share,
    in_reading_order,
    sample,
    share_of,
)
from rexview.store import Stored

KIND: Final = "written_validation"
SEED: Final = 0
"""As the command line draws without ``--seed``: the sheet has the same answers."""
SIZES: Final = (25, 50, 100, 200)
"""How many of each group may be read."""
USUAL: Final = 50


def subject_of(found: FoundIn) -> str:
    """Return what names the sample in the history: the words and the judge."""
    return hashlib.sha256(json.dumps([found.prompt.hash, found.judge]).encode()).hexdigest()[:32]


def drawn(found: FoundIn, each: int) -> dict[Group, list[tuple[str, Candidate]]]:
    """Draw so many of each group, or all there are; each behind the name of its item."""
    wanted = dict.fromkeys(GROUPS, each)
    return sample(found.results, found.prompt.hash, found.judge, wanted, SEED)


def to_read(found: FoundIn, each: int) -> list[tuple[str, Candidate]]:
    """Return the sample in the order in which it is read, both groups mixed."""
    return in_reading_order(drawn(found, each), SEED)


def told_by(found: FoundIn, rows: Iterable[Stored]) -> dict[str, dict[tuple[str, str], Stored]]:
    """Return what people told of the sample of a judge, of answers as they are now.

    By person, and then by case and model, the newest row.
    """
    wanted = subject_of(found)
    by_person: dict[str, dict[tuple[str, str], Stored]] = {}
    for row in rows:
        if row.subject != wanted or row.value is None or not row.case or not row.model:
            continue
        candidate = found.by_answer.get((row.case, row.model))
        if candidate is None or row.answer_digest not in (None, candidate.about.answer_digest):
            continue
        by_person.setdefault(row.person, {})[row.case, row.model] = row
    return by_person


@dataclass(frozen=True)
class Validated:
    """What one clinician, or all together, say of the sample: of those found, and not found.

    ``who`` is None for all together: an answer on which they differ counts as unsure, ``differ``
    of them.
    """

    who: str | None
    found: Share
    not_found: Share
    differ: int = 0

    @property
    def precision(self) -> float | None:
        """The share of those found that has the failure."""
        return self.found.share


def validated(found: FoundIn, rows: Iterable[Stored]) -> list[Validated]:
    """Return what each clinician says, and with several of them all together, who stand first."""
    by_person = told_by(found, rows)
    words = {
        who: {answer: str((row.value or {}).get("said") or "") for answer, row in told.items()}
        for who, told in by_person.items()
    }
    names = {who: next(iter(told.values())).person_name or who for who, told in by_person.items()}
    each = [
        Validated(names[who], *_shares(found, words[who]))
        for who in sorted(words, key=lambda one: names[one].lower())
    ]
    if len(each) < 2:
        return each
    together, differ = _together(list(words.values()))
    return [Validated(None, *_shares(found, together), differ), *each]


def _together(
    words: Sequence[Mapping[tuple[str, str], str]],
) -> tuple[dict[tuple[str, str], str], int]:
    """Return one word an answer: what all say who are sure; unsure where these differ."""
    agreed: dict[tuple[str, str], str] = {}
    differ = 0
    for answer in dict.fromkeys(one for each in words for one in each):
        said = {each[answer] for each in words if answer in each}
        sure = said - {"unsure"}
        differ += len(sure) > 1
        agreed[answer] = next(iter(sure)) if len(sure) == 1 else "unsure"
    return agreed, differ


def _shares(found: FoundIn, words: Mapping[tuple[str, str], str]) -> tuple[Share, Share]:
    longest = drawn(found, SIZES[-1])
    first, second = (_share(found, group, longest[group], words) for group in GROUPS)
    return first, second


def _share(
    found: FoundIn,
    group: Group,
    order: Sequence[tuple[str, Candidate]],
    words: Mapping[tuple[str, str], str],
) -> Share:
    """Count over the shortest sample offered that has as many answers as were told of.

    Answers that were judged since may stand among them: they are still to be read.
    """
    said = [words.get((one.about.case, one.about.model), "") for _, one in order]
    told = sum(map(bool, said))
    size = next((one for one in SIZES if one >= told), SIZES[-1])
    return share_of(group, said[:size], found.results)
