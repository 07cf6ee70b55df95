"""Validate a judge's verdicts on a written failure with a sample that a clinician reads.

A seed draws two samples. One is from the answers found, whose share with the failure is the
precision. The other is from those judged and not found, and shows how many are missed. They are
rows of a sheet.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from rexview.errors import FileRefused, RunRefused
from rexview.judge.subjects import JudgeSubject
from rexview.judge.written import JudgedAnswer, WrittenResults
from rexview.stats.bootstrap import Interval
from rexview.stats.failure_rates import wilson_interval
from rexview.untrusted_input import printable_text, read_file

Group = Literal["found", "not found"]
GROUPS: Final[tuple[Group, ...]] = ("found", "not found")
WORDS: Final = ("yes", "no", "unsure")
_GIVEN: Final = ("item", "group", "of", "seed", "version", "judge")
COLUMNS: Final = (
    *(*_GIVEN, "case", "model", "question", "answer", "quote", "reason"),
    *("has_it", "comment"),
)
_MOST_BYTES: Final = 50_000_000
_RUNS_AS_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")
_SHOWN: Final = 5


@dataclass(frozen=True)
class GroupShare:
    """A clinician's verdicts on the sample of one group.

    ``of`` answers are in the group, ``drawn`` in the sample. ``yes`` and ``no`` were read and
    decided, ``unsure`` read but not decided; the rest is unread. ``interval`` is Wilson's, 95%,
    None before any decision.
    """

    group: Group
    of: int
    drawn: int
    yes: int
    no: int
    unsure: int
    interval: Interval | None

    @property
    def share(self) -> float | None:
        """Share of the decided ones that have the failure, 0 to 1; None before any decision."""
        told = self.yes + self.no
        return self.yes / told if told else None

    @property
    def unread(self) -> int:
        """Number of answers in the sample without a verdict."""
        return self.drawn - self.yes - self.no - self.unsure


def draw_samples(
    results: WrittenResults, version: str, judge: str, wanted: Mapping[Group, int], seed: int
) -> dict[Group, list[tuple[str, JudgedAnswer]]]:
    """Draw answers of each group, each after its item id; the same for the same results.

    A longer sample starts with the shorter one of the same seed.
    """
    drawn: dict[Group, list[tuple[str, JudgedAnswer]]] = {}
    for group in GROUPS:
        each = [
            (_item(one, version, judge), one)
            for one in results.said
            if (one.found.said == "yes") is (group == "found")
        ]
        each.sort(key=lambda pair: _digest(seed, pair[0]))
        drawn[group] = each[: wanted[group]]
    return drawn


def mix_samples(
    drawn: Mapping[Group, Sequence[tuple[str, JudgedAnswer]]], seed: int
) -> list[tuple[str, JudgedAnswer]]:
    """Return both samples in one random order, which does not reveal the group.

    A reader who stops early has read a random part of each group.
    """
    each = [pair for group in GROUPS for pair in drawn[group]]
    return sorted(each, key=lambda pair: _digest(seed, pair[0]))


def write_sheet(
    drawn: Mapping[Group, Sequence[tuple[str, JudgedAnswer]]],
    results: WrittenResults,
    subjects: Sequence[JudgeSubject],
    version: str,
    judge: str,
    seed: int,
) -> str:
    """Return the samples as CSV with the column ``has_it`` to fill in: yes, no or unsure.

    A text that a spreadsheet would run as a formula gets an apostrophe before it.
    """
    by_about = {one.about: one for one in subjects}
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(COLUMNS)
    for group in GROUPS:
        for item, one in drawn[group]:
            subject = by_about[one.about]
            said = (one.found.quote or "", one.found.reason or "")
            texts = (judge, one.about.case, one.about.model, subject.case.question, subject.text)
            fixed = (item, group, count_group(results, group), seed, version)
            writer.writerow([*fixed, *map(_harmless, (*texts, *said)), "", ""])
    return out.getvalue()


def count_group(results: WrittenResults, group: Group) -> int:
    """Return the number of answers in a group."""
    found = results.count("yes")
    return found if group == "found" else len(results.said) - found


def read_sheet(
    path: Path, results: WrittenResults, version: str, judge: str
) -> tuple[GroupShare, GroupShare]:
    """Return the shares from a filled sheet, for those found and those not found.

    Raises
    ------
    RunRefused
        If it cannot be read, is no sheet of this failure, version and judge, or its rows are not
        the sample that its seed draws from the current results. Every problem of its rows is
        counted.
    """
    rows = _rows(path)
    label = path.name
    if {row["version"] for row in rows} != {version}:
        raise RunRefused(
            f"{label}: it is of other words of the failure than those now. Draw a new sheet."
        )
    if {row["judge"] for row in rows} != {_harmless(judge)}:
        raise RunRefused(f"{label}: it is of another judge than {judge:.80}. Name that judge.")
    seeds = {row["seed"] for row in rows}
    seed = seeds.pop()
    if seeds or not seed.isascii() or not seed.isdigit():
        raise RunRefused(f"{label}, seed: it is to be one whole number. Draw a new sheet.")
    problems = [
        f"row {number}, has_it: {row['has_it']!r:.40} is none of {', '.join(WORDS)} or empty. "
        "Write one of them."
        for number, row in enumerate(rows, start=2)
        if row["has_it"].strip().lower() not in (*WORDS, "")
    ]
    if problems:
        more = f" And {len(problems) - _SHOWN} more." if len(problems) > _SHOWN else ""
        raise RunRefused(printable_text(f"{label}, {' '.join(problems[:_SHOWN])}{more}"))
    of_group = {group: [row for row in rows if row["group"] == group] for group in GROUPS}
    wanted = {group: len(each) for group, each in of_group.items()}
    drawn = draw_samples(results, version, judge, wanted, int(seed))
    for group, each in of_group.items():
        listed = sorted(row["item"] for row in each)
        of = {row["of"] for row in each} - {str(count_group(results, group))}
        if of or listed != sorted(item for item, _ in drawn[group]):
            raise RunRefused(
                f"{label}: its rows are not the sample that seed {int(seed)} draws from the "
                f"{count_group(results, group)} answers {group} now: rows were taken away, or "
                "answers "
                "judged or changed since. Draw a new sheet, with the same choice of cases."
            )
    if sum(wanted.values()) != len(rows):
        raise RunRefused(f"{label}, group: write {' or '.join(GROUPS)}, as it was drawn.")
    first, second = (
        compute_share(group, [row["has_it"].strip().lower() for row in of_group[group]], results)
        for group in GROUPS
    )
    return first, second


def compute_share(group: Group, said: Sequence[str], results: WrittenResults) -> GroupShare:
    """Return the share of a sample; ``said`` has one word per answer, empty for unread ones."""
    yes, no, unsure = (said.count(word) for word in WORDS)
    interval = wilson_interval(yes, yes + no) if yes + no else None
    return GroupShare(group, count_group(results, group), len(said), yes, no, unsure, interval)


def _rows(path: Path) -> list[dict[str, str]]:
    try:
        text = read_file(path, _MOST_BYTES).decode("utf-8-sig")
        reader = csv.DictReader(io.StringIO(text, newline=""), strict=True)
        rows = [{str(name): value or "" for name, value in row.items()} for row in reader]
    except OSError as error:
        raise RunRefused(f"{path.name}: it cannot be read ({error.strerror}).") from None
    except (FileRefused, UnicodeDecodeError, csv.Error) as error:
        raise RunRefused(
            printable_text(f"{path.name}: it is no CSV in UTF-8 ({error!s:.200}). Save it as such.")
        ) from None
    missing = [one for one in COLUMNS if one not in (reader.fieldnames or ())]
    if missing:
        raise RunRefused(
            f"{path.name}: there is no column {missing[0]}. Keep all columns, separated by commas."
        )
    if not rows:
        raise RunRefused(f"{path.name}: there is no row. Draw a new sheet.")
    return rows


def _item(one: JudgedAnswer, version: str, judge: str) -> str:
    return _digest(version, judge, *one.about)[:16]


def _digest(*parts: object) -> str:
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def _harmless(text: str) -> str:
    return f"'{text}" if text.startswith(_RUNS_AS_FORMULA) else text
