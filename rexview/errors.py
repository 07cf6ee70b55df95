"""Every exception that rexview raises on purpose, and what is wrong with data as a record.

::

    RexviewError
     +- ReviewSetError      a review set cannot be opened; carries every problem found
     +- ImportSourceError   a foreign file cannot be turned into a review set; carries every problem
     +- ImageError          one image cannot be shown; the message is the reason a person reads
     |   +- ImageMissing    there is no such file
     |   +- ImageTooLarge   decoding it would need more memory than the limit allows
     |   +- ImageBroken     it is there but cannot be decoded
     |   +- ImageBusy       others are being decoded and take all the memory; try again
 |   +- ImageAway       the storage that has it does not answer; try again
     +- FileRefused         a path cannot be one, or a file is too large, too deep or no file
     +- PathEscape          a path points outside the folder that it must stay in
 |   +- AddressRefused  an address that is not taken: it holds a password, or leads elsewhere
 +- StorageError        what lies elsewhere (S3, DICOMweb) cannot be had; nothing of it is kept
 |   +- StorageMissing  there is nothing at that address
 |   +- StorageAway     the storage does not answer, or too slowly; try again
 |   +- StorageRefused  it does not let this computer read, or this computer may not ask it
     +- FilterError         a filter from a link cannot be understood
     +- SettingsError       a setting has a value that cannot be used
     +- NotAdmitted         somebody who signed in may not use the app, or has to sign in again
     +- StoreError          the reviews database did not take or give something
         +- StoreRefused    what was to be written is not allowed or not valid; every problem named
         +- StoreOvertaken  somebody else wrote first on the same thing; nothing was written
         +- StoreBusy       others are writing; nothing was written, try again
         +- StoreFull       there is no room left on the disk; nothing was written
         +- StoreUnreachable  the database cannot be opened, read or written
             +- StoreNewer  a newer rexview made it
     +- EngineError         the tables of a set on ClickHouse cannot be used
     |   +- EngineUnreachable  they do not answer, or not in time
     |   +- SetNotLoaded    the set is not there, or as an older rexview loaded it
     |   +- LoadRefused     a set cannot be loaded as it is; nothing was changed
     +- BackupError         a backup of reviews cannot be made or restored
     +- RunError            a run of a model cannot go on
     |   +- RunRefused      it cannot begin as it was asked for; nothing was sent or written
     +- MetricsError        metrics of reports cannot be worked out or kept; nothing was written
     |   +- MetricsRefused  what was asked for cannot be
     +- ClusterError        the workers of a cluster cannot be used
     +- ChartError          a chart cannot be turned into a picture
     +- ExportError         cases cannot be exported; nothing was written
         +- ExportRefused   they cannot be as it was asked for; every problem named
         +- ExportCancelled whoever asked for it does not want it any more

The messages are complete sentences for a reader of the app: no traceback, no absolute path of the
server, no patient data.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

Severity = Literal["error", "warning"]


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong with given data, and what to do about it.

    ``row`` counts from 1: the line of a JSON Lines file, the data row of a CSV or Parquet table.
    """

    severity: Severity
    file: str
    row: int | None
    field: str | None
    message: str
    remedy: str

    def __str__(self) -> str:
        where = self.file
        if self.row is not None:
            where += f", row {self.row}"
        if self.field:
            where += f", {self.field}"
        return f"{self.severity}: {where}: {self.message} {self.remedy}".strip()


class RexviewError(Exception):
    """Base of all errors that rexview raises on purpose."""


class _WithProblems(RexviewError):
    """An error made of many problems, all of them reported at once."""

    def __init__(self, message: str, problems: Iterable[Problem] = ()) -> None:
        super().__init__(message)
        self.problems: tuple[Problem, ...] = tuple(problems)


class ReviewSetError(_WithProblems):
    """A review set cannot be opened. ``problems`` holds every problem, warnings included."""


class ImportSourceError(_WithProblems):
    """A foreign file or folder cannot be imported. ``problems`` holds every problem.

    ``receipt`` says what had been read by then, as plain values for JSON.
    """

    receipt: Mapping[str, Any] | None = None


class ImageError(RexviewError):
    """One image cannot be shown. ``str(error)`` is the reason, in words for the page."""


class ImageMissing(ImageError):
    """There is no such file."""


class ImageTooLarge(ImageError):
    """Decoding would need more memory than the limit allows."""


class ImageBroken(ImageError):
    """The file is there but cannot be decoded."""


class ImageBusy(ImageError):
    """Other pictures are being decoded and take all the memory that there is for it."""


class ImageAway(ImageError):
    """The storage that has the image does not answer; asked again later it may."""


class FileRefused(RexviewError):
    """A path, a file or a text is not taken: it cannot be one, or goes beyond what is read.

    ``line`` is where, counted from 1, if that is known.
    """

    def __init__(self, message: str, *, line: int | None = None) -> None:
        super().__init__(message)
        self.line = line


class PathEscape(RexviewError):
    """A path points outside the folder that it must stay in."""


class AddressRefused(PathEscape):
    """An address is not taken. The message does not repeat it."""


class StorageError(RexviewError):
    """What lies in a storage elsewhere cannot be had: what happened, and what to do."""


class StorageMissing(StorageError):
    """There is nothing at the address."""


class StorageAway(StorageError):
    """The storage does not answer, or too slowly; asked again later it may."""


class StorageRefused(StorageError):
    """The storage does not let this computer read, or this computer may not ask it."""


class FilterError(RexviewError):
    """A filter from a link cannot be understood."""


class ClusterError(RexviewError):
    """The workers of a cluster cannot be used; one line says what to do."""


class ChartError(RexviewError):
    """A chart cannot be turned into a picture. ``str(error)`` is the reason, in words."""


class SettingsError(RexviewError):
    """A setting has a value that cannot be used."""


class StoreError(RexviewError):
    """The reviews database did not take or give something: what happened, and what to do.

    ``again`` says whether the same entries may be sent again later and can then be taken.
    """

    again: bool = True

    def __init__(self, message: str, remedy: str) -> None:
        super().__init__(f"{message} {remedy}")
        self.message, self.remedy = message, remedy


class StoreRefused(StoreError):
    """Entries are not allowed or not valid, and none was written. ``problems`` names all."""

    again = False

    def __init__(self, problems: Iterable[str], remedy: str) -> None:
        self.problems: tuple[str, ...] = tuple(problems)
        super().__init__(" ".join(self.problems), remedy)


class StoreOvertaken(StoreError):
    """Somebody else wrote on the same thing since whoever writes saw it; nothing was written."""

    again = False


class StoreBusy(StoreError):
    """Others are writing to the reviews database; nothing was written."""


class StoreFull(StoreError):
    """There is no room for the reviews database to grow; nothing was written."""


class StoreUnreachable(StoreError):
    """The reviews database cannot be opened, read or written."""


class StoreNewer(StoreUnreachable):
    """The reviews database was made by a newer rexview, which this one must not write to."""


class EngineError(RexviewError):
    """The tables of a set on ClickHouse cannot be used: what happened, and what to do."""

    def __init__(self, message: str, remedy: str) -> None:
        super().__init__(f"{message} {remedy}")
        self.message, self.remedy = message, remedy


class EngineUnreachable(EngineError):
    """The tables do not answer, or not in time."""


class SetNotLoaded(EngineError):
    """The set is not among the tables, or as another version of rexview loaded it."""


class LoadRefused(EngineError):
    """A set cannot be loaded as it is; nothing was changed."""


class NotAdmitted(RexviewError):
    """Somebody who signed in may not use the app; ``again`` says that a new sign-in would help."""

    def __init__(self, message: str, *, again: bool = False) -> None:
        super().__init__(message)
        self.again = again


class BackupError(RexviewError):
    """A backup of reviews cannot be made, or is not whole, or would replace something."""


class RunError(RexviewError):
    """A run of a model cannot go on; one line says what happened and what to do."""


class RunRefused(RunError):
    """A run cannot begin as it was asked for; nothing was sent and nothing written."""


class MetricsError(RexviewError):
    """Metrics of reports cannot be worked out or kept: what happened, and what to do."""


class MetricsRefused(MetricsError):
    """What was asked for cannot be: there is no such metric, model or scope."""


class ExportError(RexviewError):
    """Cases cannot be exported; nothing was written."""


class ExportRefused(ExportError):
    """An export cannot be made as it was asked for: the message names every problem."""


class ExportCancelled(ExportError):
    """Whoever asked for an export does not want it any more."""
