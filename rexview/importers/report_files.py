"""Read text files with a report each, named after their study: the reference, or a folder a model.

A file belongs to the case, the study or the image with its name. If several folders contain a file
of the same name, each folder is a source of its own: the reference if its name says so, else a
model.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any, Final

from rexview.importers.images import mimic_path_study
from rexview.importers.set_rows import SetRows
from rexview.importers.source_files import Probe, Recognition, SourceFile, read_text
from rexview.importers.table.cells import MODEL_NAME, ColumnName
from rexview.importers.table.roles import text_side
from rexview.reviewset.report_text import report_fields, split_sections
from rexview.reviewset.tables.source import RowOrigin

_LONGEST: Final = 100_000
"""Limit in bytes for a text file to be a report: the longest in MIMIC-CXR has 12,000."""
_OF_CASES: Final = 1
"""Reading order of reports that make cases by themselves: before the answers to them."""
_FINAL_REPORT: Final = re.compile(r"^\s*FINAL REPORT\s*$", re.MULTILINE)
_HEADED: Final = frozenset(("findings", "impression"))
_REFERENCE: Final = re.compile(
    r"\b(ref|references?|gt|ground truth|truth|radiologists?|originals?)\b"
)
_NO_STUDY: Final = "No case, study or image has its name, and it has no headings of a report."


def recognises(probe: Probe) -> Recognition | None:
    """Return why a file can be a report, or None: a text that is not too long."""
    if probe.kind != "text" or probe.size > _LONGEST:
        return None
    found = _HEADED & split_sections(probe.text).keys()
    why = f"a report ({', '.join(sorted(found))})" if found else "a text"
    path = PurePosixPath(probe.label)
    told = is_report(probe.text) or mimic_path_study(f"{path.parent}/{path.stem}/_") is not None
    return Recognition(why, _OF_CASES if told else None)


def is_report(text: str) -> bool:
    """True if the content of a text shows that it is a report."""
    return bool(_HEADED & split_sections(text).keys()) or _FINAL_REPORT.search(text) is not None


def read_reports(files: Sequence[SourceFile], rows: SetRows, options: Mapping[str, Any]) -> None:
    """Read reports into their cases, or as the answers of models."""
    names = Counter(PurePosixPath(file.label).stem for file in files)
    paths = [PurePosixPath(file.label) for file in files]
    folders = {path.parent.name for path in paths if names[path.stem] > 1}
    plain = [  # named neither after a model nor after what models write
        folder
        for folder in folders
        if not MODEL_NAME.search(folder) and text_side(ColumnName.of(folder).words) >= 0
    ]
    reference = plain[0] if len(plain) == 1 and len(folders) > 1 else None
    for file, path in zip(files, paths, strict=True):
        text = read_text(file.path, rows.log, save_as="UTF-8", label=file.label)
        if text is None:
            continue
        at = RowOrigin(file.label, 1)
        place = rows.find_case(case=path.stem, study=path.stem, image=path.stem)
        of_mimic = mimic_path_study(f"{path.parent}/{path.stem}/_") is not None
        if place is None and not of_mimic and not is_report(text):
            rows.receipt.file_unread(file.label, "text", _NO_STUDY)
            continue
        rows.receipt.rows(file.label, 1)
        case_id = place[0] if place else path.stem
        study = {}
        if of_mimic and place is None:  # its tables give study s50414267 by the number alone
            study = {"study_id": path.stem[1:], "patient_id": path.parent.name[1:]}
        model = options.get("model") or _model(path, several=names[path.stem] > 1)
        model = None if model == reference else model
        if model is not None:
            rows.add_case({"id": case_id}, at)
            rows.add_answer({"case": case_id, "model": model, "text": text.strip()}, at)
            continue
        rows.add_case({"id": case_id, **study, **report_fields(text)}, at)


def _model(path: PurePosixPath, *, several: bool) -> str | None:
    """Return a report's model, named after its folder; None for the reference.

    >>> _model(PurePosixPath("in/model_a/s1.txt"), several=True)
    'model_a'
    >>> _model(PurePosixPath("in/ground_truth/s1.txt"), several=True)
    """
    folder = path.parent.name
    if mimic_path_study(f"{path.parent}/{path.stem}/_") is not None:
        return None
    words = " ".join(re.findall(r"[a-z]+|\d+", folder.lower()))
    return folder if several and folder and not _REFERENCE.search(words) else None
