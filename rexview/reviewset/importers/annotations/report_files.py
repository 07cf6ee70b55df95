"""Text files with a report each, named for their study: the reference, or a folder a model.

A file belongs to the case, the study or the image that has its name. Where several folders hold a
file of the same name, each folder is a source of its own: the reference where it is called so, else
a model.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any, Final

from rexview.reviewset.importers.core.recognise import Probe
from rexview.reviewset.importers.core.report_text import sections, split_report
from rexview.reviewset.importers.core.set_rows import SetRows
from rexview.reviewset.importers.core.source_files import SourceFile, read_text
from rexview.reviewset.tables.source import At

_LONGEST: Final = 100_000
"""Bytes of a text file that can be a report: the longest of MIMIC-CXR has 12,000."""
_HEADED: Final = frozenset(("findings", "impression"))
_REFERENCE: Final = re.compile(
    r"\b(ref|references?|gt|ground truth|truth|radiologists?|originals?)\b"
)
_NO_STUDY: Final = "No case, study or image has its name, and it has no headings of a report."


def recognises(probe: Probe) -> str | None:
    """Say why a file can be a report: a text of bearable length."""
    if probe.kind != "text" or probe.size > _LONGEST:
        return None
    found = _HEADED & sections(probe.text).keys()
    return f"a report ({', '.join(sorted(found))})" if found else "a text"


def read_reports(files: Sequence[SourceFile], rows: SetRows, options: Mapping[str, Any]) -> None:
    """Read reports into their cases, or as the answers of models."""
    names = Counter(PurePosixPath(file.label).stem for file in files)
    for file in files:
        text = read_text(file.path, rows.log, save_as="UTF-8", label=file.label)
        if text is None:
            continue
        path = PurePosixPath(file.label)
        at = At(file.label, 1)
        place = rows.find_case(case=path.stem, study=path.stem, image=path.stem)
        if place is None and not _HEADED & sections(text).keys():
            rows.receipt.file_unread(file.label, "text", _NO_STUDY)
            continue
        rows.receipt.rows(file.label, 1)
        case_id = place[0] if place else path.stem
        model = options.get("model") or _model(path, several=names[path.stem] > 1)
        if model is not None:
            rows.add_case({"id": case_id}, at)
            rows.add_answer({"case": case_id, "model": model, "text": text.strip()}, at)
            continue
        report = split_report(text)
        given = {"findings": report.findings, "impression": report.impression}
        parts = sections(text)
        context = {name: parts[name] for name in ("indication", "comparison") if name in parts}
        rows.add_case({"id": case_id, "report": given, "context": context}, at)


def _model(path: PurePosixPath, *, several: bool) -> str | None:
    """Name the model of a report by its folder; None for the reference.

    >>> _model(PurePosixPath("in/model_a/s1.txt"), several=True)
    'model_a'
    >>> _model(PurePosixPath("in/ground_truth/s1.txt"), several=True)
    """
    folder = path.parent.name
    words = " ".join(re.findall(r"[a-z]+|\d+", folder.lower()))
    return folder if several and folder and not _REFERENCE.search(words) else None
