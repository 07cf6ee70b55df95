"""Read ReXrank's JSON: data files and prediction files, a dict of studies by study id.

A data file has ``image_path, key_image_path, frontal_lateral, context, section_findings,
section_impression, report``. A prediction file adds ``model_prediction`` to each study; older ones
have ``findings``, ``impression``, ``dicom_id`` and ``img_root_dir`` instead. Several prediction
files become several models on the same cases.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from rexview.importers.case_names import safe_path
from rexview.importers.image_placement import place_images
from rexview.importers.joins import join_ids
from rexview.importers.receipt import ProblemLog
from rexview.importers.set_rows import REPORT_QUESTION, SetRows
from rexview.importers.source_files import (
    REPEATED,
    Probe,
    Recognition,
    SourceFile,
    model_name_of_file,
    read_source_json,
    warn_of_missing_model,
)
from rexview.importers.table.cells import FIELD_COLUMN_NAMES
from rexview.importers.table.roles import columns_by_meaning
from rexview.reviewset.report_text import (
    is_absent,
    read_age,
    read_context,
    read_sex,
    split_report,
    split_sections,
)
from rexview.reviewset.tables.source import RowOrigin
from rexview.schema import Context, Report
from rexview.vocab import normalise_view

PREDICTION: Final = "model_prediction"
_FIELDS: Final = frozenset(
    (
        *("image_path", "key_image_path", "frontal_lateral", "ap_pa", "context", "report"),
        *("reports", "section_findings", "section_impression", "findings", "impression"),
        *("subject_id", "patient_id", "age", "sex", "gender", PREDICTION),
    )
)


@dataclass(frozen=True)
class RexrankStudy:
    """One entry of a file: its id, its fields, and its place."""

    id: str
    fields: Mapping[str, Any]
    at: RowOrigin
    log: ProblemLog

    def case(self) -> dict[str, Any]:
        """Return the entry as the row of a report case; unknown fields are kept."""
        return {
            "id": self.id,
            "question_type": "report",
            "study_id": self.id,
            "patient_id": self._text("subject_id") or self._text("patient_id"),
            "context": vars(self._context()),
            "report": vars(self._report()),
            "images": self._images(),
            "extra": {name: value for name, value in self.fields.items() if name not in _FIELDS},
        }

    def _text(self, name: str) -> str | None:
        value = self.fields.get(name)
        if isinstance(value, bool | list | dict) or value is None:
            return None
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        text = str(value).strip()
        return None if text.lower() in ("", "nan") else text

    def _report(self) -> Report:
        whole = self._text("report") or self._text("reports")
        findings = self._text("section_findings") or self._text("findings")
        impression = self._text("section_impression") or self._text("impression")
        if whole and not (findings and impression):
            split = split_report(whole)
            if not findings and not impression:
                return split
            if split.findings and split_sections(whole).get("findings"):
                findings = findings or split.findings
            impression = impression or split.impression
        return Report(*(None if is_absent(one) else one for one in (findings, impression)))

    def _context(self) -> Context:
        given = self.fields.get("context")
        if isinstance(given, dict):
            low = {str(key).lower(): value for key, value in given.items()}
            parts = {key: low[key] for key in low if isinstance(low[key], str | int | float)}
            context = Context(
                age=read_age(str(parts.get("age", ""))),
                sex=read_sex(str(parts.get("gender", parts.get("sex", "")))),
                indication=str(parts.get("indication", "")) or None,
                comparison=str(parts.get("comparison", "")) or None,
            )
        else:
            context = read_context(self._text("context"))
        complete = context.indication and context.comparison
        in_report = {} if complete else split_sections(self._text("report") or "")
        return replace(
            context,
            age=context.age or read_age(self._text("age")),
            sex=context.sex or read_sex(self._text("sex") or self._text("gender")),
            indication=context.indication or in_report.get("indication"),
            comparison=context.comparison or in_report.get("comparison"),
        )

    def _images(self) -> list[dict[str, Any]]:
        """Return the images, paths as written; a key image that is not listed comes first."""
        written = _texts(self.fields.get("image_path"))
        folder = self._text("img_root_dir")
        if folder and not written:  # as in older files
            names = _texts(self.fields.get("dicom_id"))
            written = [f"{folder.rstrip('/')}/{name}.jpg" for name in names]
        views = self._views(len(written))
        key = self._text("key_image_path")
        key_path = safe_path(key) if key else None
        images: list[dict[str, Any]] = [
            {"path": path, "view": view} for path, view in zip(written, views, strict=True)
        ]
        marked = [one for one in images if key_path and safe_path(one["path"]) == key_path]
        if key and not marked:
            marked = [{"path": key}]
            images = marked + images
        for one in marked:
            one["key"] = True
        return images

    def _views(self, number: int) -> list[str | None]:
        """Return one view word an image; none at all if their numbers differ."""
        words = self.fields.get("frontal_lateral")
        words = words if isinstance(words, list) else [words] if isinstance(words, str) else []
        if words and len(words) != number:
            message = f"The number of views ({len(words)}) is not that of images ({number}); the "
            message += "views stay unknown."
            remedy = "Give one view for each image."
            self.log.warning(
                self.at.file, message, remedy, row=self.at.row, field="frontal_lateral"
            )
            return [None] * number
        finer = self.fields.get("ap_pa")
        if not isinstance(finer, list) or len(finer) != len(words):
            finer = [None] * len(words)
        views = [_view(*pair) for pair in zip(words, finer, strict=True)]
        return views or [None] * number


def _texts(value: Any) -> list[str]:
    """Return a string or a list of strings as a list; other values are left out."""
    values = value if isinstance(value, list) else [value]
    return [one for one in values if isinstance(one, str) and not is_absent(one)]


def _view(word: Any, finer: Any) -> str | None:
    """Choose between ``Frontal`` and the finer ``AP`` or ``PA`` of CheXpert Plus."""
    told = word if isinstance(word, str) and not is_absent(word) else None
    exact = finer if isinstance(finer, str) and normalise_view(finer) in ("AP", "PA") else None
    return exact if exact and normalise_view(told) in ("FRONTAL", "UNKNOWN") else told


_REXRANK_FIELDS: Final = frozenset(("image_path", "key_image_path", "model_prediction", "context"))
_ANSWER_TABLE_FIELDS: Final = {
    name: FIELD_COLUMN_NAMES[name] for name in ("question", "image", "answer", "options")
}
"""Fields of a table of answers: a file that also has these is read as one."""
_ID_FIELDS: Final = ("study_id", "StudyID", "id", "study")
_TELLING: Final = frozenset(
    (
        *("section_findings", "section_impression", "key_image_path", "frontal_lateral"),
        *("img_root_dir", PREDICTION),
    )
)


@dataclass(frozen=True)
class RexrankStudies:
    """The studies of one file, by id."""

    file: SourceFile
    by_id: Mapping[str, RexrankStudy]

    @property
    def have_predictions(self) -> bool:
        """True if any study has a model's report."""
        return any(PREDICTION in study.fields for study in self.by_id.values())


def recognises(probe: Probe) -> Recognition | None:
    """Return why a file is ReXrank's (studies with its fields), or None."""
    found = probe.json if probe.kind == "json" else None
    entries = list(found.values()) if isinstance(found, dict) else found or []
    fields = {name for one in entries[:20] if isinstance(one, dict) for name in one}
    telling = sorted(fields & _TELLING)
    if not telling or columns_by_meaning(
        [name for name in fields if name not in _REXRANK_FIELDS], _ANSWER_TABLE_FIELDS
    ):
        return None
    return Recognition(f"JSON of studies with {', '.join(telling[:3])}")


def read_rexrank(files: Sequence[SourceFile], rows: SetRows, options: Mapping[str, Any]) -> None:
    """Read data and prediction files; several files are merged on the study id."""
    words = re.split(r"[_\s]+", files[0].path.stem) if len(files) == 1 else []
    rows.name = rows.name or " ".join(words) or "ReXrank studies"
    rows.description = f"Imported from ReXrank JSON: {', '.join(file.label for file in files)}."
    contents = [_studies(file, rows) for file in files]
    predicted = [studies for studies in contents if studies.have_predictions]
    plain = [studies for studies in contents if not studies.have_predictions]
    names = _model_names([studies.file for studies in predicted], options.get("model"), rows)
    alone = not (plain or rows.described)
    for studies in plain or predicted:
        _join(studies, rows, alone=not rows.described or studies in predicted)
        for study in studies.by_id.values():
            question = options["question"] or REPORT_QUESTION
            more = {"site": options.get("site"), "question": question}
            rows.add_case(study.case() | more, study.at)
    for studies in predicted:
        by_id = _join(studies, rows, alone=alone, needed=True)
        _add_answers(rows, studies, names[studies.file.label], by_id)
    beside = [file.path.parent for file in files]
    place_images(rows, options["images"], beside, files[0].label)


def _join(studies: RexrankStudies, rows: SetRows, **how: bool) -> Mapping[str, str]:
    ids, numbers = list(studies.by_id), [study.at.row or 0 for study in studies.by_id.values()]
    return join_ids(studies.file.label, "study id", ids, numbers, rows, **how)


def _studies(file: SourceFile, rows: SetRows) -> RexrankStudies:
    log, label = rows.log, file.label
    content = read_source_json(file.path, log, label)
    if content is None:
        return RexrankStudies(file, {})
    if not isinstance(content, dict | list):
        message = "The file holds neither a dict of studies nor a list of them."
        remedy = "Give a ReXrank JSON file: a dict with one entry for each study id."
        log.error(label, message, remedy)
        return RexrankStudies(file, {})
    rows.receipt.rows(label, len(content))
    if isinstance(content, list):
        log.note(f"{label}: a list, not a dict; its entries were read by their study id.")
    studies: dict[str, RexrankStudy] = {}
    for number, (key, study) in enumerate(_entries(content), start=1):
        at = RowOrigin(label, number)
        if isinstance(study, str) or study is None:
            study = {PREDICTION: study}
        if key is None:
            message, remedy = "The entry has no study id.", "Add a study_id, or give a dict by it."
        elif not key.strip() or not isinstance(study, dict):
            message, remedy = "The entry is not a study.", "Give an object with its fields."
        elif key.strip() in studies:
            message, remedy = REPEATED
        else:
            studies[key.strip()] = RexrankStudy(key.strip(), study, at, log)
            continue
        log.warning(label, message, remedy, row=number)
        rows.receipt.unused(at, message)
    if not studies and not log.has_errors:
        log.error(label, "The file holds no study.", "Give a ReXrank JSON file.")
    return RexrankStudies(file, studies)


def _entries(content: dict[str, Any] | list[Any]) -> Iterator[tuple[str | None, Any]]:
    """Yield the id of each study, None if it has none, and its fields."""
    if isinstance(content, dict):
        yield from content.items()
        return
    for entry in content:
        named = entry if isinstance(entry, dict) else {}
        key = next((str(named[name]) for name in _ID_FIELDS if named.get(name) is not None), None)
        yield key, {name: value for name, value in named.items() if name not in _ID_FIELDS}


def _model_names(
    files: Sequence[SourceFile], given: Sequence[str] | None, rows: SetRows
) -> dict[str, str]:
    """Name the model of each prediction file: as given, else from the file name."""
    names = {file.label: model_name_of_file(file) for file in files}
    for place, text in enumerate(given or ()):
        label, mark, name = text.partition("=")
        if mark and label in names:
            names[label] = name.strip() or names[label]
        elif place < len(files):
            names[files[place].label] = text
        else:
            message = "There are more model names than prediction files."
            remedy = "Give one name for each prediction file, in their order, or FILE=NAME."
            rows.log.error(files[0].label if files else "model", message, remedy, field="model")
    for file in files:
        warn_of_missing_model(file, names[file.label], rows.log)
    return names


def _add_answers(
    rows: SetRows, studies: RexrankStudies, model: str, by_id: Mapping[str, str]
) -> None:
    rows.declare_model(model, kind="report")
    label = studies.file.label
    given = {
        one["case"]: one.get("text") for one in rows.rows_of("answers") if one["model"] == model
    }
    unknown, without, repeated = 0, 0, 0
    for study in studies.by_id.values():
        text = _prediction(study.fields.get(PREDICTION))
        name = by_id.get(study.id, study.id)
        if rows.case(name) is None:
            unknown += 1
            rows.receipt.unused(study.at, "No data file has this study.")
        elif text is None:
            without += 1
            rows.receipt.ran_not(study.at, model)
        elif name in given and given[name] != text:
            repeated += 1
            rows.receipt.unused(study.at, "Another prediction of this model came first.")
        else:
            rows.add_answer({"case": name, "model": model, "text": text}, study.at)
    counted = (
        (unknown, "predictions are for studies that no data file has; they were left out.",
         "Give the data file of these studies, too."),
        (without, "studies have no prediction; they stay without this model's answer.",
         "Nothing, if the model gave none."),
        (repeated, "predictions differ from those of an earlier file for the same model; the "
         "first ones were kept.", "Give each file its own model name."),
    )  # fmt: skip
    for number, message, remedy in counted:
        if number:
            rows.log.warning(label, f"{number:,} {message}", remedy, field=PREDICTION)


def _prediction(value: Any) -> str | None:
    """Return a prediction as text, verbatim; None if there is none (null, or pandas' NaN)."""
    if isinstance(value, dict):
        parts = [
            f"{heading.capitalize()}: {value[heading]}"
            for heading in ("findings", "impression")
            if isinstance(value.get(heading), str)
        ]
        return " ".join(parts) or None
    if not isinstance(value, str) or value.strip().lower() == "nan":
        return None
    return value
