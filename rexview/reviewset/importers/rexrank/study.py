"""One study of a ReXrank file: its report, context, images and views, with what real files do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from rexview.reviewset.importers.core.problem_log import ProblemLog
from rexview.reviewset.importers.core.report_text import (
    absent,
    read_age,
    read_context,
    read_sex,
    sections,
    split_report,
)
from rexview.reviewset.importers.images.names import safe_path
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
    """One entry of a data file, being read."""

    file: str
    row: int
    fields: Mapping[str, Any]
    log: ProblemLog

    def case(self, study_id: str) -> dict[str, Any]:
        """Make the row of a report case of the entry, unknown fields kept."""
        return {
            "id": study_id,
            "question_type": "report",
            "study_id": study_id,
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
            if split.findings and sections(whole).get("findings"):
                findings = findings or split.findings
            impression = impression or split.impression
        return Report(
            findings=None if absent(findings) else findings,
            impression=None if absent(impression) else impression,
        )

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
        in_report = {} if complete else sections(self._text("report") or "")
        return replace(
            context,
            age=context.age or read_age(self._text("age")),
            sex=context.sex or read_sex(self._text("sex") or self._text("gender")),
            indication=context.indication or in_report.get("indication"),
            comparison=context.comparison or in_report.get("comparison"),
        )

    def _images(self) -> list[dict[str, Any]]:
        """Return the images, paths as written; a key image that is not listed comes first."""
        written = _texts(self.fields.get("image_path")) or self._old_style_paths()
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
        """Return one view word an image; none at all when their numbers differ."""
        words = self.fields.get("frontal_lateral")
        words = words if isinstance(words, list) else [words] if isinstance(words, str) else []
        if words and len(words) != number:
            message = (
                f"The number of views ({len(words)}) is not that of images ({number}); the views "
                "stay unknown."
            )
            remedy = "Give one view for each image."
            self.log.warning(self.file, message, remedy, row=self.row, field="frontal_lateral")
            return [None] * number
        finer = self.fields.get("ap_pa")
        if not isinstance(finer, list) or len(finer) != len(words):
            finer = [None] * len(words)
        views = [_view(*pair) for pair in zip(words, finer, strict=True)]
        return views or [None] * number

    def _old_style_paths(self) -> list[str]:
        folder = self._text("img_root_dir")
        names = _texts(self.fields.get("dicom_id"))
        return [f"{folder.rstrip('/')}/{name}.jpg" for name in names] if folder else []


def _texts(value: Any) -> list[str]:
    """Return a string or a list of strings as a list; what is neither is left out."""
    values = value if isinstance(value, list) else [value]
    return [one for one in values if isinstance(one, str) and not absent(one)]


def _view(word: Any, finer: Any) -> str | None:
    """Choose between ``Frontal`` and the ``AP`` or ``PA`` that CheXpert Plus gives beside it."""
    told = word if isinstance(word, str) and not absent(word) else None
    exact = finer if isinstance(finer, str) and normalise_view(finer) in ("AP", "PA") else None
    return exact if exact and normalise_view(told) in ("FRONTAL", "UNKNOWN") else told
