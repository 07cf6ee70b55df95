"""Folders and archives opened into files: within bounds, never outside of the scratch folder."""

from __future__ import annotations

import gzip
import lzma
import os
import stat
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import Any, Final

from rexview.bounded import file_name, printable
from rexview.errors import ImportSourceError
from rexview.reviewset.importers.core.case_names import safe_path
from rexview.reviewset.importers.core.recognise import Probe
from rexview.reviewset.importers.core.set_rows import SetRows
from rexview.reviewset.importers.core.source_files import SourceFile

MAX_FILES: Final = 500_000
MAX_UNPACKED: Final = 50_000_000_000
"""Bytes that all archives of an import may give together."""
MAX_RATIO: Final = 1000
"""How much larger than packed a file may be: text packs a hundredfold, a bomb a millionfold."""
_SMALL: Final = 10_000_000
_DEEPEST: Final = 3
_CHUNK: Final = 1_048_576
_PASSED_OVER: Final = frozenset(("__macosx", "thumbs.db", "desktop.ini", "ehthumbs.db"))
"""Names of what systems leave in folders, in small letters; so is what begins with a dot."""
_ENCRYPTED: Final = 0x1
_DAMAGED: Final = (OSError, EOFError, zlib.error, lzma.LZMAError)


def is_passed_over(name: str) -> bool:
    """Whether a file or folder is only what a system left there."""
    return name.startswith(".") or name.lower() in _PASSED_OVER


class Opener:
    """Opens the sources of one import into files, each under a name of its own.

    What is packed goes into the scratch folder of the import; what cannot be opened is named in
    the receipt.
    """

    def __init__(self, rows: SetRows) -> None:
        self._rows = rows
        self._labels: set[str] = set()
        self._unpacked = 0
        self._files = 0

    def open(self, sources: Sequence[SourceFile]) -> Iterator[SourceFile]:
        """Yield every file of the sources, folders and archives opened."""
        for source in sources:
            if source.path.is_dir():
                yield from self._folder(source.path, source.path, source.label, 0)
            else:
                yield from self._file(source, 0)

    def _folder(self, folder: Path, root: Path, label: str, depth: int) -> Iterator[SourceFile]:
        real = root.resolve()

        def closed(error: OSError) -> None:
            name = Path(error.filename).relative_to(root).as_posix()
            self._unread(f"{label}/{name}", "folder", f"It cannot be read: {error.strerror}.")

        for place, folders, names in os.walk(folder, onerror=closed):
            folders[:] = sorted(name for name in folders if not is_passed_over(name))
            for name in sorted(names):
                path = Path(place, name)
                shown = f"{label}/{path.relative_to(root).as_posix()}"
                if is_passed_over(name):
                    continue
                try:
                    leads_out = not path.resolve().is_relative_to(real)
                    is_file = stat.S_ISREG(path.stat().st_mode)
                except (OSError, RuntimeError):  # RuntimeError: links that lead to each other
                    self._unread(shown, "file or link", "It cannot be read, or leads nowhere.")
                    continue
                if leads_out:
                    self._unread(shown, "link", "It leads out of the folder.")
                elif not is_file:
                    self._unread(shown, "device or pipe", "It is no file.")
                else:
                    yield from self._file(SourceFile(path, shown), depth)

    def _file(self, file: SourceFile, depth: int) -> Iterator[SourceFile]:
        self._files += 1
        if self._files > MAX_FILES:
            if self._files == MAX_FILES + 1:
                message = f"There are more than {MAX_FILES:,} files."
                self._rows.log.error(file.label, message, "Import them in several parts.")
            return
        try:
            kind = Probe(file.path).kind
        except OSError as error:
            self._unread(file.label, "file", f"It cannot be read: {error.strerror or error}.")
            return
        if kind in ("zip", "gzip") and depth >= _DEEPEST:
            self._unread(file.label, "archive", "Archives are nested too deeply.")
        elif kind == "zip":
            yield from self._zip(file, depth)
        elif kind == "gzip" and not file.path.name.lower().endswith((".nii.gz", ".tgz", ".tar.gz")):
            yield from self._gzip(file, depth)
        else:
            name, number = printable(file.label), 2
            while name in self._labels:
                name, number = f"{printable(file.label)} ({number})", number + 1
            self._labels.add(name)
            yield SourceFile(file.path, name)

    def _unread(self, label: str, kind: str, why: str) -> None:
        self._rows.receipt.file_unread(printable(label), kind, why)

    def _zip(self, file: SourceFile, depth: int) -> Iterator[SourceFile]:
        folder = self._rows.new_folder(file_name(file.path.stem))
        try:
            with zipfile.ZipFile(file.path) as archive:
                members = archive.infolist()
                if len(members) > MAX_FILES:
                    why = f"It has more than {MAX_FILES:,} files."
                    self._unread(file.label, "ZIP archive", why)
                    return
                for member in members:
                    self._member(archive, member, folder, file.label)
        except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
            self._unread(file.label, "ZIP archive", "It is damaged.")
            return
        yield from self._folder(folder, folder, file.label, depth + 1)

    def _member(
        self, archive: zipfile.ZipFile, member: zipfile.ZipInfo, folder: Path, label: str
    ) -> None:
        written = member.filename.replace("\\", "/")
        parts = PurePosixPath(written).parts
        if written.endswith("/") or any(is_passed_over(one) for one in parts if one != ".."):
            return
        shown = f"{label}/{written}"
        path = safe_path(written)
        if path is None or path != written.removeprefix("./"):
            self._unread(written, "file in an archive", "Its path leads out of the archive.")
        elif member.flag_bits & _ENCRYPTED:
            self._unread(shown, "file in an archive", "It is encrypted.")
        elif stat.S_ISLNK(member.external_attr >> 16):
            self._unread(shown, "link in an archive", "Links are not followed.")
        elif member.file_size > max(_SMALL, member.compress_size * MAX_RATIO):
            self._unread(shown, "file in an archive", "It would be far larger than the archive.")
        else:
            self._unpack(archive, member, folder / path, shown)

    def _unpack(
        self, archive: zipfile.ZipFile, member: zipfile.ZipInfo, target: Path, shown: str
    ) -> None:
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            if target.exists():
                self._unread(shown, "file in an archive", "Another one of its name came first.")
                return
        except OSError:  # a file is where its folder should be, or the name is too long
            self._unread(shown, "file in an archive", "No file can be written under its name.")
            return
        try:
            with archive.open(member) as packed:
                if not self._copy(packed, target, member.file_size):
                    self._unread(shown, "file in an archive", "The archives hold too much.")
        except (*_DAMAGED, zipfile.BadZipFile, NotImplementedError):
            target.unlink(missing_ok=True)
            self._unread(shown, "file in an archive", "It is damaged.")

    def _gzip(self, file: SourceFile, depth: int) -> Iterator[SourceFile]:
        name = file_name(file.path.name.removesuffix(".gz").removesuffix(".GZ"))
        target = self._rows.new_folder(file_name(file.path.stem)) / name
        most = max(_SMALL, file.path.stat().st_size * MAX_RATIO)
        try:
            with gzip.open(file.path) as source:
                whole = self._copy(source, target, most)
        except _DAMAGED:
            self._unread(file.label, "gzip archive", "It is damaged.")
            return
        if not whole:
            self._unread(file.label, "gzip archive", "It would be far larger than the archive.")
            return
        label = file.label.removesuffix(".gz").removesuffix(".GZ")
        yield from self._file(SourceFile(target, label), depth + 1)

    def _copy(self, source: Any, target: Path, most: int) -> bool:
        """Copy at most so many bytes; False, and no file, where there are more."""
        written = 0
        with target.open("wb") as out:
            while chunk := source.read(_CHUNK):
                written += len(chunk)
                self._unpacked += len(chunk)
                if written > most or self._unpacked > MAX_UNPACKED:
                    break
                try:
                    out.write(chunk)
                except OSError as error:
                    message = f"Unpacking failed: {error.strerror}."
                    remedy = "Make room where temporary files go (TMPDIR), or unpack it yourself."
                    log = self._rows.log
                    log.error("archive", message, remedy)
                    refusal = "The archives cannot be unpacked."
                    raise ImportSourceError(refusal, log.problems) from None
            else:
                return True
        target.unlink()
        return False
