"""Match ids of one source with the cases of the others: what joins, what does not, and how.

The same study is ``s50000001`` in a folder, ``50000001`` in a table, ``50000001.0`` if pandas met
an empty cell, and ``50000001`` with leading zeros in another program. Such ids are matched if one
id of the source means exactly one case, and the log reports it. ``5.00E+12`` has lost its digits.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from typing import Final

from rexview.importers.case_names import fold_case_name
from rexview.importers.receipt import SourceJoin
from rexview.importers.set_rows import SetRows
from rexview.reviewset.problems import quote_value

LOST_DIGITS: Final = re.compile(r"[+-]?\d[.,]\d+[eE]\+?\d+|[+-]?\d+[eE]\+\d+")
_LOST_DIGITS_PROBLEM: Final = (
    "The id has lost its digits: a spreadsheet wrote it as a power of ten.",
    "Make the column text in the spreadsheet, enter the ids again, and export it.",
)
"""Why such ids are refused (different ids may have become one), and what to do."""
_WHOLE_FLOAT: Final = re.compile(r"(-?\d+)\.0+")
_NUMBERED: Final = re.compile(r"([a-z][a-z _-]*?)?[ _-]?0*(\d+)")
_MOSTLY: Final = 0.5
_NEAREST: Final = 3
_COMPARED: Final = 2000
NO_ID: Final = "It names no case, and other sources say which cases there are."
"""Why a row of answers without an id is not used."""


@dataclass(frozen=True)
class IdMatch:
    """How the ids of a source match the known cases.

    ``names`` maps each id that is written differently to the one to use. ``unknown`` are ids that
    no case has, ``several`` those that several cases have.
    """

    names: Mapping[str, str] = field(default_factory=dict)
    unknown: frozenset[str] = frozenset()
    several: frozenset[str] = frozenset()


def whole_numbers(ids: Iterable[str]) -> dict[str, str]:
    """Return the whole number for each id that is a float, if no id has a fraction.

    >>> whole_numbers(["50000012.0", "50000013"]), whole_numbers(["1.0", "1.5"])
    ({'50000012.0': '50000012'}, {})
    """
    found = {}
    for one in ids:
        whole = _WHOLE_FLOAT.fullmatch(one)
        if whole:
            found[one] = whole[1]
        elif "." in one and re.fullmatch(r"-?\d+\.\d+", one):
            return {}
    return found


def match_ids(ids: Iterable[str], rows: SetRows) -> IdMatch:
    """Match the ids of a source with the cases and studies of other sources.

    An id that no case has is matched by its number, ignoring zeros and a prefix. The number must
    belong to one id of the source and one of the cases. Their prefixes must be equal, or one side
    has no prefix.
    """
    given = list(dict.fromkeys(ids))
    names = whole_numbers(given)
    known = rows.names_by_id()
    meant = {one: names.get(one, one) for one in given}
    open_ids = [one for one in given if fold_case_name(meant[one]) not in known]
    if open_ids and known:
        theirs = _by_number(rows.names_by_id(described=True))
        ours = _by_number(map(fold_case_name, meant.values()))
        pairs = []
        for one in open_ids:
            prefix, number = _number(fold_case_name(meant[one])) or ("", "")
            mine, found = ours.get(number, set()), theirs.get(number, set())
            if number and len(mine) == 1 and len(found) == 1:
                pairs += [(one, prefix, *next(iter(found)))]
        unlike = {(prefix, other) for _, prefix, other, _ in pairs if prefix != other}
        one_way = len(unlike) == 1 and "" in next(iter(unlike))
        for one, prefix, other, name in pairs:
            if prefix == other or one_way:
                names[one] = known[name][1]
    unknown = {one for one in given if fold_case_name(names.get(one, one)) not in known}
    several = {
        one for one in given if known.get(fold_case_name(names.get(one, one)), (0, ""))[0] > 1
    }
    return IdMatch(names, frozenset(unknown), frozenset(several))


def _number(name: str) -> tuple[str, str] | None:
    found = _NUMBERED.fullmatch(name)
    return ((found[1] or "").strip(" _-"), found[2]) if found else None


def _by_number(names: Iterable[str]) -> dict[str, set[tuple[str, str]]]:
    found: dict[str, set[tuple[str, str]]] = {}
    for name in names:
        if (split := _number(name)) is not None:
            found.setdefault(split[1], set()).add((split[0], name))
    return found


def join_ids(
    file: str,
    key: str,
    ids: Sequence[str | None],
    numbers: Sequence[int],
    rows: SetRows,
    *,
    images: bool = False,
    answers: bool = False,
    needed: bool = False,
    alone: bool = False,
) -> Mapping[str, str]:
    """Join the ids of a source with the cases of others, and record the join in the receipt.

    Returns the id of a case for each id that is written differently. Ids that lost their digits are
    refused. ``file`` and ``key`` name the source and its id column for the user. ``ids`` and
    ``numbers`` are the ids and numbers of its rows; an id is None if a row has none. ``images``
    means that the ids name images. With ``answers`` most ids have to be known, since others would
    become cases; with ``needed`` at least one. With ``alone`` no other source describes a case, and
    nothing is recorded.
    """
    if images:
        named = {one for one in ids if one}
        unknown = {one for one in named if not rows.find_case(image=one, case=one)}
        match = IdMatch(unknown=frozenset(unknown))
    else:
        lost = [
            n
            for one, n in zip(ids, numbers, strict=True)
            if LOST_DIGITS.fullmatch((one or "").strip())
        ]
        for number in lost:
            rows.log.error(file, *_LOST_DIGITS_PROBLEM, row=number, field=key)
        if lost:
            return {}
        ids = [one.strip() if one else None for one in ids]
        match = match_ids(filter(None, ids), rows)
        pictured = {one for one in match.unknown if rows.find_case(case=one)}
        match = replace(match, unknown=match.unknown - pictured)
    if rows.described and not alone:
        record_join(file, key, ids, numbers, match, rows, answers=answers, needed=needed)
    return match.names


def record_join(
    file: str,
    key: str,
    ids: Sequence[str | None],
    numbers: Sequence[int],
    match: IdMatch,
    rows: SetRows,
    *,
    answers: bool = False,
    needed: bool = False,
) -> None:
    """Record the joined rows of a source in the receipt; refuse a source that hardly joins."""
    unmatched = [number for one, number in zip(ids, numbers, strict=True) if one in match.unknown]
    without = sum(one is None for one in ids)
    otherwise = {one: name for one, name in match.names.items() if one not in match.unknown}
    joined = len(ids) - len(unmatched) - without
    rows.receipt.joins.append(
        SourceJoin(file, key, joined, len(unmatched) + without, len(match.several), len(otherwise))
    )
    if otherwise:
        one, name = next(iter(otherwise.items()))
        rows.log.note(
            f"{file}: {len(otherwise):,} ids in {key} are written otherwise than those of the "
            f"cases and were matched one to one, such as {quote_value(one)} with "
            f"{quote_value(name)}."
        )
    if match.several and answers:
        message = f"{len(match.several):,} ids in {key} are of several cases each; answers to them "
        message += "became cases of their own where nothing tells which is meant."
        rows.log.warning(file, message, "Give the id of the case.", field=key)
    different = len({one for one in ids if one is not None})
    most = _MOSTLY * different if answers else different - 1 if needed else different
    refused = len(match.unknown) > max(1, most)
    if not refused and not (answers and unmatched):
        return
    known = [name for _, name in rows.names_by_id().values()][:_COMPARED]
    shown = []
    for one in sorted(match.unknown)[:_NEAREST]:
        near = get_close_matches(one, known, 1, 0.5)
        shown.append(
            f"{quote_value(one)} (nearest: {quote_value(near[0])})" if near else quote_value(one)
        )
    if refused:
        message = f"{len(match.unknown):,} of its {different:,} ids are of no case that the other "
        message += f"sources have: {', '.join(shown)}."
        remedy = "Correct the ids, give the file with these cases, too, or leave this one out."
        rows.log.error(file, message, remedy, row=unmatched[0], field=key)
    else:
        message = f"{len(unmatched):,} answers name no case of the other sources: "
        remedy = "Correct the ids, or give the file with these cases, too."
        message += f"{', '.join(shown)}."
        rows.log.warning(file, message, remedy, row=unmatched[0], field=key)
