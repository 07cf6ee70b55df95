"""Write an export with progress and cancellation, and never half a file."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from rexview.errors import ExportCancelled, ExportRefused
from rexview.export.export_formats import ExportFormat
from rexview.export.export_records import ExportCase, ExportContent


class ExportProgress:
    """Progress of an export; formats count cases with it and report problems.

    Parameters
    ----------
    show : callable, optional
        Called with the number of cases done and the total.
    is_cancelled : callable, optional
        Returns whether the user has cancelled the export.
    """

    def __init__(
        self,
        show: Callable[[int, int], None] = lambda done, total: None,
        is_cancelled: Callable[[], bool] = lambda: False,
    ) -> None:
        self._show, self._is_cancelled = show, is_cancelled
        self.notes: list[str] = []

    def over(self, content: ExportContent, part: int = 0, parts: int = 1) -> Iterator[ExportCase]:
        """Yield an export's cases and count them, in part ``part`` (from 0) of ``parts``.

        Raises
        ------
        ExportCancelled
            The user has cancelled the export.
        """
        total = len(content.case_ids)
        for done, case in enumerate(content.cases()):
            self.check()
            self._show((part * total + done) // parts, total)
            yield case
        self.check()
        self._show((part + 1) * total // parts, total)

    def check(self) -> None:
        """Stop if the export was cancelled; call this during long work.

        Raises
        ------
        ExportCancelled
            The user has cancelled the export.
        """
        if self._is_cancelled():
            raise ExportCancelled("The export was cancelled. Nothing was written.")

    def note(self, sentence: str) -> None:
        """Report a problem to the user, such as an unreadable picture."""
        if sentence not in self.notes:
            self.notes.append(sentence)


def target_problem(out: Path, form: ExportFormat) -> str | None:
    """Return why an export cannot be written to a place, None if it can; creates nothing."""
    if not out.parent.is_dir():
        return f"There is no folder {out.parent} to write to. Make it first."
    if not os.path.lexists(out):
        return None
    if not form.is_folder or not out.is_dir() or out.is_symlink():
        return f"{out} is there already. Name a new one, or remove it first."
    return f"The folder {out} is not empty. Name a new one." if any(out.iterdir()) else None


def _check_target(out: Path, form: ExportFormat) -> None:
    if problem := target_problem(out, form):
        raise ExportRefused(problem)


def write_export(
    content: ExportContent, form: ExportFormat, out: Path, progress: ExportProgress
) -> None:
    """Write an export to a temporary name first, so that it appears completely or not at all.

    Raises
    ------
    ExportRefused
        It cannot be written there.
    ExportCancelled
        The user has cancelled the export.
    """
    _check_target(out, form)
    work: Path | None = None
    try:
        work = Path(tempfile.mkdtemp(prefix=".rexview-export-", dir=out.parent))
        made = work / out.name
        if form.is_folder:
            made.mkdir()
        form.write(content, made, progress)
        progress.check()
        _check_target(out, form)  # something may have been created there meanwhile
        if out.is_dir():
            out.rmdir()
        made.replace(out)
    except OSError as error:
        told = error if error.strerror else error.__cause__ or error.__context__
        reason = getattr(told, "strerror", None) or type(error).__name__
        raise ExportRefused(f"The export cannot be written: {reason}. Nothing was kept.") from error
    finally:
        if work is not None:
            shutil.rmtree(work, ignore_errors=True)
