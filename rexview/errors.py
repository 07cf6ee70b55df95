"""Every exception that rexview raises on purpose, and what is wrong with data as a record.

::

    RexviewError
     +- ReviewSetError      a review set cannot be opened; has every problem found
     +- ImportSourceError   a foreign file cannot become a review set; has every problem found
     +- ImageError          one image cannot be shown; the message is the reason for people
     |   +- ImageMissing    there is no such file
     |   +- ImageTooLarge   decoding it would need more memory than the limit allows
     |   +- ImageBroken     the file exists but cannot be decoded
     |   +- ImageBusy       others are being decoded and use all the memory; try again
     |   +- ImageAway       its storage does not respond; try again
     +- FileRefused         a path is impossible, or a file is too large, too deep or no file
     +- PathEscape          a path points outside the folder in which it must stay
     |   +- AddressRefused  an address with a password, or one that leads elsewhere
     +- StorageError        remote data (S3, DICOMweb) is unavailable; nothing of it is stored
     |   +- StorageMissing  there is nothing at that address
     |   +- StorageAway     the storage does not respond, or too slowly; try again
     |   +- StorageRefused  it does not let this computer read, or this computer may not ask it
     +- FilterError         a filter from a URL is invalid
     +- SettingsError       a setting has an invalid value
     +- NotAdmitted         somebody who signed in may not use the app, or has to sign in again
     +- StoreError          an operation on the reviews database failed
     |   +- StoreRefused    the entries are forbidden or invalid; every problem is listed
     |   +- StoreOvertaken  somebody else wrote first on the same thing; nothing was written
     |   +- StoreBusy       others are writing; nothing was written, try again
     |   +- StoreFull       there is no room left on the disk; nothing was written
     |   +- StoreUnreachable  the database cannot be opened, read or written
     |       +- StoreNewer  a newer rexview made it
     +- EngineError         the tables of a set on ClickHouse cannot be used
     |   +- EngineUnreachable  they do not respond, or not in time
     |   +- SetNotLoaded    the set is not there, or an older rexview loaded it
     |   +- LoadRefused     a set cannot be loaded in its present state; nothing was changed
     +- BackupError         a backup of reviews cannot be made or restored
     +- RunError            a run of a model cannot go on
     |   +- RunRefused      it cannot start as requested; nothing was sent or written
     +- MetricsError        metrics of reports cannot be computed or stored; nothing was written
     |   +- MetricsRefused  the request is impossible
     +- ClusterError        the workers of a cluster cannot be used
     +- ChartError          a chart cannot be rendered as a picture
     +- ExportError         cases cannot be exported; nothing was written
         +- ExportRefused   the export is impossible as requested; every problem is listed
         +- ExportCancelled the user cancelled it

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
    """One fault of given data, and its remedy.

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
    """An error with many problems, all reported at once."""

    def __init__(self, message: str, problems: Iterable[Problem] = ()) -> None:
        super().__init__(message)
        self.problems: tuple[Problem, ...] = tuple(problems)


class ReviewSetError(_WithProblems):
    """A review set cannot be opened. ``problems`` has every problem, warnings included."""


class ImportSourceError(_WithProblems):
    """A foreign file or folder cannot be imported. ``problems`` has every problem.

    ``receipt`` lists what had been read by then, as plain values for JSON.
    """

    receipt: Mapping[str, Any] | None = None


class ImageError(RexviewError):
    """One image cannot be shown. ``str(error)`` is the reason, in words for the page."""


class ImageMissing(ImageError):
    """There is no such file."""


class ImageTooLarge(ImageError):
    """Decoding would need more memory than the limit allows."""


class ImageBroken(ImageError):
    """The file exists but cannot be decoded."""


class ImageBusy(ImageError):
    """Other pictures are being decoded and use all available memory."""


class ImageAway(ImageError):
    """The storage of the image does not respond; a later try may succeed."""


class FileRefused(RexviewError):
    """A path, a file or a text is refused: it is invalid, or exceeds a limit.

    ``line`` is its place, from 1, if known.
    """

    def __init__(self, message: str, *, line: int | None = None) -> None:
        super().__init__(message)
        self.line = line


class PathEscape(RexviewError):
    """A path points outside the folder in which it must stay."""


class AddressRefused(PathEscape):
    """An address is refused. The message does not repeat it."""


class StorageError(RexviewError):
    """Remote data is unavailable: what happened, and the remedy."""


class StorageMissing(StorageError):
    """There is nothing at the address."""


class StorageAway(StorageError):
    """The storage does not respond, or too slowly; a later try may succeed."""


class StorageRefused(StorageError):
    """The storage does not let this computer read, or this computer may not contact it."""


class FilterError(RexviewError):
    """A filter from a URL is invalid."""


class ClusterError(RexviewError):
    """The workers of a cluster cannot be used; one line gives the remedy."""


class ChartError(RexviewError):
    """A chart cannot be rendered as a picture. ``str(error)`` is the reason, in words."""


class SettingsError(RexviewError):
    """A setting has an invalid value."""


class StoreError(RexviewError):
    """An operation on the reviews database failed: what happened, and the remedy.

    ``again`` is True if the same entries may be sent again later and can then succeed.
    """

    again: bool = True

    def __init__(self, message: str, remedy: str) -> None:
        super().__init__(f"{message} {remedy}")
        self.message, self.remedy = message, remedy


class StoreRefused(StoreError):
    """Entries are forbidden or invalid, and none was written. ``problems`` lists all reasons."""

    again = False

    def __init__(self, problems: Iterable[str], remedy: str) -> None:
        self.problems: tuple[str, ...] = tuple(problems)
        super().__init__(" ".join(self.problems), remedy)


class StoreOvertaken(StoreError):
    """Somebody else has written on the same thing since the author saw it; nothing was written."""

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
    """The tables of a set on ClickHouse cannot be used: what happened, and the remedy."""

    def __init__(self, message: str, remedy: str) -> None:
        super().__init__(f"{message} {remedy}")
        self.message, self.remedy = message, remedy


class EngineUnreachable(EngineError):
    """The tables do not respond, or not in time."""


class SetNotLoaded(EngineError):
    """The set is not in the tables, or another version of rexview loaded it."""


class LoadRefused(EngineError):
    """A set cannot be loaded in its present state; nothing was changed."""


class NotAdmitted(RexviewError):
    """Somebody who signed in may not use the app; ``again`` means that a new sign-in would help."""

    def __init__(self, message: str, *, again: bool = False) -> None:
        super().__init__(message)
        self.again = again


class BackupError(RexviewError):
    """A backup of reviews cannot be made, is incomplete, or would replace something."""


class RunError(RexviewError):
    """A run of a model cannot go on; one line gives what happened and the remedy."""


class RunRefused(RunError):
    """A run cannot start as requested; nothing was sent and nothing written."""


class MetricsError(RexviewError):
    """Metrics of reports cannot be computed or stored: what happened, and the remedy."""


class MetricsRefused(MetricsError):
    """The request is impossible: there is no such metric, model or scope."""


class ExportError(RexviewError):
    """Cases cannot be exported; nothing was written."""


class ExportRefused(ExportError):
    """An export cannot be made as requested: the message lists every problem."""


class ExportCancelled(ExportError):
    """The user cancelled the export."""
