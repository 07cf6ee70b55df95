"""Problems, notes and the receipt of an import, shared by all importers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partialmethod
from typing import Any, Final

from rexview.errors import Problem
from rexview.reviewset.problems import ProblemList
from rexview.reviewset.tables.source import RowOrigin

# Problems, and notes about the decisions of an import.
#
# Messages name files, rows and fields, never the value of a clinical field: they may be logged.

LISTED_PER_KIND: Final = 50
_MORE: Final = " more like this: "
_ROWS_LISTED: Final = 20
_ROWS_IN_LINE: Final = 5


class ProblemLog(ProblemList):
    """Collect the problems and notes of one import.

    An ``error`` makes the import impossible; a ``warning`` does not.
    """

    listed = LISTED_PER_KIND
    error = partialmethod(ProblemList.add, "error")
    warning = partialmethod(ProblemList.add, "warning")

    def __init__(self) -> None:
        super().__init__()
        self._notes: dict[str, None] = {}
        self._refused = False

    def add_many(self, examples: Sequence[Problem], count: int, **labels: Any) -> None:
        """Add problems of one kind; warnings are dropped once the import is refused."""
        if not (self._refused and examples and examples[0].severity == "warning"):
            super().add_many(examples, count, **labels)

    def end_warnings_if_refused(self) -> None:
        """Drop further warnings if there is an error: they would only follow from it."""
        self._refused = self.has_errors

    def note(self, text: str) -> None:
        """Add a sentence about a decision that the import took; each sentence once."""
        self._notes[text] = None

    @property
    def problems(self) -> tuple[Problem, ...]:
        """All problems, in the order of :meth:`all`."""
        return tuple(self.all())

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences about decisions that the import took."""
        return tuple(self._notes)

    def _more(self, count: int, last: Problem) -> str:
        return f"{count:,}{_MORE}{last.message}"


@dataclass
class AlikeProblems:
    """Problems that differ only in their row: the first one, their number, and the first rows."""

    first: Problem
    count: int = 0
    rows: list[int] = field(default_factory=list)

    def __str__(self) -> str:
        if self.count == 1:
            return str(self.first)
        shown = ", ".join(map(str, self.rows[:_ROWS_IN_LINE]))
        more = ", …" if self.count > _ROWS_IN_LINE else ""
        where = f" (rows {shown}{more})" if shown else ""
        return f"{replace(self.first, row=None)} {self.count:,} times{where}."

    def as_json(self) -> dict[str, Any]:
        """Return the fields of a problem with ``count`` and the first ``rows``."""
        row = self.first.row if self.count == 1 else None
        return asdict(replace(self.first, row=row)) | {"count": self.count, "rows": self.rows}


def group_alike_problems(problems: Iterable[Problem]) -> list[AlikeProblems]:
    """Group problems that differ only in their row, in the order of their first occurrence."""
    found: dict[Problem, AlikeProblems] = {}
    for problem in problems:
        number, more, message = problem.message.partition(_MORE)
        told = replace(problem, row=None, message=message if more else problem.message)
        group = found.setdefault(told, AlikeProblems(told if more else problem))
        group.count += int(number.replace(",", "")) if more else 1
        row = problem.row
        if row is not None and row not in group.rows and len(group.rows) < _ROWS_LISTED:
            group.rows.append(row)
    return list(found.values())


# The receipt of an import: what was read, what became of it, and what was not used and why.
#
# Rows are counted twice, independently. A reader reports the number of rows in its file, and
# :class:`~rexview.importers.set_rows.SetRows` records each row that a part of the set was made
# from. A row that is neither used nor reported as unused is listed as well, so that a reader that
# forgets a row is noticed.

LISTED_ROWS: Final = 20
_LONGEST_EXAMPLE: Final = 60
NOT_RUN: Final = "No answer came: not run."
_PROPOSAL: Final = "proposal"
NOT_IMPORTED: Final = "Nothing was imported."
UNACCOUNTED: Final = "Nothing was made of it, and the reader of this format does not say why."
_ROWS_IN_SENTENCE: Final = 5


def example_text(value: object) -> str:
    """Return a value as a receipt shows it: on one line, 60 characters at most."""
    text = " ".join(str(value).split())
    return f"{text[: _LONGEST_EXAMPLE - 1]}…" if len(text) > _LONGEST_EXAMPLE else text


@dataclass(frozen=True)
class UnusedColumn:
    """A column that no field of the set was filled from, with one of its values."""

    file: str
    column: str
    example: str | None
    why: str


@dataclass(frozen=True)
class ExtraColumn:
    """A column that fits no field, kept as an extra field of a ``case``, ``answer`` or ``box``."""

    file: str
    column: str
    example: str
    kept_as: str


@dataclass(frozen=True)
class IdentityColumn:
    """A column that looks like a person's identity and was left out; never with a value."""

    file: str
    column: str


@dataclass(frozen=True)
class ReadFile:
    """A file that was read, its format, and how it was recognised."""

    file: str
    format: str
    why: str


@dataclass(frozen=True)
class UnreadFile:
    """A file from which nothing was read."""

    file: str
    type: str
    why: str


@dataclass(frozen=True)
class UnusedRows:
    """Rows of one file that were not used for one reason; ``rows`` are the first of them."""

    file: str
    why: str
    count: int
    rows: tuple[int, ...]


@dataclass(frozen=True)
class SourceJoin:
    """How the rows of a file joined the cases of other sources, by the ids in column ``key``.

    ``joined`` rows found a case and ``unmatched`` rows none. ``several`` counts ids that several
    cases have, ``otherwise`` those that are written differently and were matched one to one.
    """

    file: str
    key: str
    joined: int
    unmatched: int
    several: int
    otherwise: int


@dataclass
class Receipt:
    """What an import read and what became of it; closed once, then read-only.

    Counts describe the set after the import; ``before`` are those of an existing set's tables.
    ``models`` counts the answers of each model, ``not_run`` the answers that never came.
    ``rows_in`` is ``rows_used`` plus all of ``rows_unused``.
    """

    format: str
    cases: int = 0
    answers: int = 0
    models: dict[str, int] = field(default_factory=dict)
    scores: int = 0
    flags: int = 0
    edits: int = 0
    metrics: int = 0
    model_boxes: int = 0
    reference_boxes: int = 0
    before: dict[str, int] | None = None
    images: int = 0
    images_found: int = 0
    not_run: dict[str, int] = field(default_factory=dict)
    columns_unused: list[UnusedColumn] = field(default_factory=list)
    columns_kept: list[ExtraColumn] = field(default_factory=list)
    identity_columns: list[IdentityColumn] = field(default_factory=list)
    files_read: list[ReadFile] = field(default_factory=list)
    files_unread: list[UnreadFile] = field(default_factory=list)
    joins: list[SourceJoin] = field(default_factory=list)
    rows_in: int = 0
    rows_used: int = 0
    rows_unused: list[UnusedRows] = field(default_factory=list)
    notes: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()
    _given: Counter[tuple[str, str]] = field(default_factory=Counter, repr=False)
    _used: dict[RowOrigin, int] = field(default_factory=dict, repr=False)
    _unused: dict[RowOrigin, str] = field(default_factory=dict, repr=False)
    _used_file: bool = field(default=False, repr=False)

    def rows(self, file: str, count: int, part: str = "") -> None:
        """Add to the number of rows in a file, or in one list of it."""
        self._given[file, part] += count

    def used(self, at: RowOrigin) -> None:
        """Record that something was made from a row."""
        if at.row is None:
            self._used_file = True
        else:
            self._used[at] = self._used.get(at, 0) + 1

    @property
    def used_any(self) -> bool:
        """True if anything was made from any row or file so far."""
        return self._used_file or bool(self._used)

    def taken_back(self, at: RowOrigin) -> None:
        """Record that one thing made from a row was left out in the end."""
        if at in self._used:
            self._used[at] -= 1
            if not self._used[at]:
                del self._used[at]

    def unused(self, at: RowOrigin, why: str) -> None:
        """Record why a row was not used; ignored if something was made from it after all."""
        self._unused.setdefault(at, why)

    def ran_not(self, at: RowOrigin, model: str) -> None:
        """Record that a row lacks a model's answer: not run, which is not an empty answer."""
        self.not_run[model] = self.not_run.get(model, 0) + 1
        self.unused(at, NOT_RUN)

    def column_unused(self, file: str, column: str, example: object, why: str) -> None:
        """List a column from which nothing was taken."""
        shown = None if example is None else example_text(example)
        self.columns_unused.append(UnusedColumn(file, column, shown, why))

    def column_kept(self, file: str, column: str, example: object, kept_as: str) -> None:
        """List a column that is kept as an extra field of a case, an answer or a box."""
        self.columns_kept.append(ExtraColumn(file, column, example_text(example), kept_as))

    def identity_column(self, file: str, column: str) -> None:
        """List a column that looks like a person's identity and was left out."""
        self.identity_columns.append(IdentityColumn(file, column))

    def file_read(self, file: str, format: str, why: str) -> None:
        """List a file with the format that was recognised."""
        if all((one.file, one.format) != (file, format) for one in self.files_read):
            self.files_read.append(ReadFile(file, format, why))

    def file_unread(self, file: str, type: str, why: str) -> None:
        """List a file from which nothing was read."""
        self.files_unread.append(UnreadFile(file, type, why))

    def close(self, problems: Sequence[Problem], notes: Iterable[str]) -> None:
        """Count the rows, once all readers are done."""
        self.problems, self.notes = tuple(problems), tuple(notes)
        places = {**self._used, **self._unused}
        seen = Counter((at.file, at.part) for at in places if at.row is not None)
        given = self._given | seen
        reasons: dict[tuple[str, str], list[int]] = {}
        for at, why in self._unused.items():
            if at.row is not None and at not in self._used:
                reasons.setdefault((at.file, why), []).append(at.row)
        self.rows_unused = [
            UnusedRows(file, why, len(rows), tuple(sorted(rows)[:LISTED_ROWS]))
            for (file, why), rows in reasons.items()
        ]
        for (file, part), count in sorted(given.items()):
            forgotten = count - seen[file, part]
            if forgotten > 0:
                self.rows_unused.append(UnusedRows(file, UNACCOUNTED, forgotten, ()))
        self.rows_in = sum(given.values())
        self.rows_used = len(self._used)
        assert self.rows_in == self.rows_used + sum(one.count for one in self.rows_unused)

    def refuse(self, problems: Sequence[Problem], notes: Iterable[str]) -> None:
        """Close the receipt of an import that made nothing."""
        for at in self._used:
            self._unused.setdefault(at, NOT_IMPORTED)
        self._used.clear()
        for (file, part), count in self._given.items():
            seen = {at.row for at in self._unused if (at.file, at.part) == (file, part)}
            for row in range(1, count + 1):
                if row not in seen:
                    self._unused[RowOrigin(file, row, part)] = NOT_IMPORTED
        self.close(problems, notes)

    def as_json(self) -> dict[str, Any]:
        """Return all fields as plain values for JSON.

        Problems that differ only in their row are merged, with a count. Decisions taken by ``auto``
        itself are listed among them.
        """
        shown = replace(self, _given=Counter(), _used={}, _unused={})
        fields = {name: value for name, value in asdict(shown).items() if name[0] != "_"}
        decided = (
            Problem("warning", _PROPOSAL, None, None, note, "Override it by an option if need be.")
            for note in ((*self._recognised(), *self.notes) if self.format == "auto" else ())
        )
        fields["problems"] = [
            one.as_json() for one in group_alike_problems((*self.problems, *decided))
        ]
        return fields

    def _recognised(self) -> list[str]:
        return [f"{read.file}: {read.format} ({read.why})." for read in self.files_read]

    def lines(self) -> Iterator[str]:
        """Yield lines beyond the counts: everything that was not used, and why."""
        yield from self._recognised()
        if self.rows_unused:
            yield f"{self.rows_used:,} of {self.rows_in:,} rows were used."
        for rows in self.rows_unused:
            shown = ", ".join(map(str, rows.rows[:_ROWS_IN_SENTENCE]))
            more = ", …" if rows.rows and rows.count > _ROWS_IN_SENTENCE else ""
            which = f" ({shown}{more})" if shown else ""
            yield f"Not used: {rows.file}, {_count(rows.count, 'row')}{which}: {rows.why}"
        for join in self.joins:
            yield (
                f"Joined by {join.key}: {join.file}, {_count(join.joined, 'row')}; "
                f"{join.unmatched:,} matched no case, {_count(join.several, 'id')} matched several "
                f"cases, {_count(join.otherwise, 'id')} written otherwise."
            )
        for model, number in self.not_run.items():
            yield f"Not run: {_count(number, 'answer')} of {model}."
        for column in self.columns_unused:
            like = f" (such as “{column.example}”)" if column.example else ""
            yield f"Not used: {column.file}, column {column.column}{like}: {column.why}"
        for kept in self.columns_kept:
            where = f"{kept.file}, column {kept.column} (such as “{kept.example}”)"
            yield f"Kept as an extra field of the {kept.kept_as}: {where}."
        for identity in self.identity_columns:
            why = "it looks like a person's identity"
            yield f"Left out: {identity.file}, column {identity.column}: {why}."
        for file in self.files_unread:
            yield f"Not read: {file.file} ({file.type}): {file.why}"


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'s'[: number != 1]}"
