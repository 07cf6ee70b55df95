"""ReXrank's JSON: data files and prediction files, a dict of studies by study id.

A data file holds ``image_path, key_image_path, frontal_lateral, context, section_findings,
section_impression, report``; a prediction file adds ``model_prediction`` to each study (older ones
have ``findings``, ``impression``, ``dicom_id`` and ``img_root_dir`` instead). Several prediction
files become several models on the same cases.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from rexview.reviewset.importers.core.draft import REPORT_QUESTION, Draft
from rexview.reviewset.importers.core.problem_log import ProblemLog
from rexview.reviewset.importers.core.source_files import read_json
from rexview.reviewset.importers.images.placement import place_images
from rexview.reviewset.importers.rexrank.study import PREDICTION, RexrankStudy
from rexview.schema import Answer, Case, Context, Model, Report

_ID_FIELDS: Final = ("study_id", "StudyID", "id", "study")
_NOT_A_NAME: Final = frozenset(
    (
        *("rexrank", "prediction", "predictions", "pred", "preds", "result", "results", "output"),
        *("outputs", "generated", "reports", "report", "iuxray", "iu", "xray", "mimic", "mimiccxr"),
        *("cxr", "chexpert", "chexpertplus", "plus", "rexgradient", "gradient", "valid", "val"),
        *("validation", "test", "train", "private", "public", "json", "findings", "impression"),
    )
)


def read_rexrank(sources: Sequence[Path], options: Mapping[str, Any], log: ProblemLog) -> Draft:
    """Read data and prediction files into one draft; several files are merged on the study id."""
    draft = Draft(name=options["name"] or _set_name(sources))
    draft.description = f"Imported from ReXrank JSON: {', '.join(path.name for path in sources)}."
    contents = [(path, _studies(path, log)) for path in sources]
    predicted = [(path, studies) for path, studies in contents if _has_predictions(studies)]
    plain = [(path, studies) for path, studies in contents if not _has_predictions(studies)]
    names = _model_names([path for path, _ in predicted], options["model"], log)
    question = options["question"] or REPORT_QUESTION
    for path, studies in plain or predicted:
        _add_cases(draft, path, studies, question, options["site"], log)
    for path, studies in predicted:
        _add_answers(draft, path, studies, names[path], log)
    place_images(draft, options["images"], [path.parent for path in sources], log, sources[0].name)
    return draft


def _studies(path: Path, log: ProblemLog) -> dict[str, dict[str, Any]]:
    """Return the studies of a file by id; problems are logged."""
    content = read_json(path, log)
    if content is None:
        return {}
    if isinstance(content, list):
        content = _by_id(path, content, log)
    elif not isinstance(content, dict):
        message = "The file holds neither a dict of studies nor a list of them."
        remedy = "Give a ReXrank JSON file: a dict with one entry for each study id."
        log.error(path.name, message, remedy)
        return {}
    studies: dict[str, dict[str, Any]] = {}
    for row, (key, study) in enumerate(content.items(), start=1):
        if isinstance(study, str) or study is None:
            study = {PREDICTION: study}
        if not key.strip() or not isinstance(study, dict):
            message = "The entry is not a study."
            remedy = "Each study id needs an object with its fields."
            log.warning(path.name, message, remedy, row=row)
        elif key.strip() in studies:
            message = "This id occurs more than once; the first entry was kept."
            remedy = "Give every entry its own id."
            log.warning(path.name, message, remedy, row=row)
        else:
            studies[key.strip()] = study
    if not studies and not log.has_errors:
        log.error(path.name, "The file holds no study.", "Give a ReXrank JSON file.")
    return studies


def _by_id(path: Path, content: list[Any], log: ProblemLog) -> dict[str, Any]:
    log.note(f"{path.name}: a list, not a dict; its entries were read by their study id.")
    found: dict[str, Any] = {}
    for row, entry in enumerate(content, start=1):
        named = entry if isinstance(entry, dict) else {}
        key = next((str(named[name]) for name in _ID_FIELDS if named.get(name) is not None), None)
        if key is None:
            message = "The entry has no study id."
            remedy = "Add a study_id, or give a dict by study id."
            log.warning(path.name, message, remedy, row=row)
        elif key in found:
            message = "This id occurs more than once; the first entry was kept."
            remedy = "Give every entry its own id."
            log.warning(path.name, message, remedy, row=row)
        else:
            found[key] = {name: value for name, value in entry.items() if name not in _ID_FIELDS}
    return found


def _has_predictions(studies: Mapping[str, Mapping[str, Any]]) -> bool:
    return any(PREDICTION in study for study in studies.values())


def _set_name(sources: Sequence[Path]) -> str:
    words = re.split(r"[_\s]+", sources[0].stem) if len(sources) == 1 else []
    return " ".join(words) or "ReXrank studies"


def _model_names(
    files: Sequence[Path], given: Sequence[str] | None, log: ProblemLog
) -> dict[Path, str]:
    """Name the model of each prediction file: as told, else from the file name."""
    names = {path: _name_from(path) for path in files}
    for place, text in enumerate(given or ()):
        file, mark, name = text.partition("=")
        target = next((path for path in files if mark and path.name == file), None)
        if target is not None:
            names[target] = name.strip() or names[target]
        elif place < len(files):
            names[files[place]] = text
        else:
            message = "There are more model names than prediction files."
            remedy = "Give one name for each prediction file, in their order, or FILE=NAME."
            log.error(files[0].name if files else "model", message, remedy, field="model")
    return names


def _name_from(path: Path) -> str:
    words = [word for word in re.split(r"[_\s]+", path.stem) if word]
    telling = [
        word for word in words if re.sub(r"[^a-z]", "", word.lower()) not in (*_NOT_A_NAME, "")
    ]
    return " ".join(telling) or path.stem


def _add_cases(
    draft: Draft,
    path: Path,
    studies: Mapping[str, Mapping[str, Any]],
    question: str,
    site: str | None,
    log: ProblemLog,
) -> None:
    for row, (study_id, study) in enumerate(studies.items(), start=1):
        case = RexrankStudy(path.name, row, study, log).case(study_id, question)
        before = draft.cases.get(study_id)
        if before is None:
            draft.cases[study_id] = replace(case, site=site)
        else:
            draft.cases[study_id] = _joined(before, case, path.name, row, log)


def _joined(first: Case, second: Case, file: str, row: int, log: ProblemLog) -> Case:
    """Fill what the first file did not say about a study from the second one."""
    both = [
        (getattr(first.report, part), getattr(second.report, part))
        for part in ("findings", "impression")
    ]
    if any(one and other and one != other for one, other in both):
        message = "The report differs from the one in an earlier file, which was kept."
        remedy = "Give files that were made from the same data."
        log.warning(file, message, remedy, row=row, field="report")
    return replace(
        first,
        report=first.report if first.report != Report() else second.report,
        context=first.context if first.context != Context() else second.context,
        images=first.images or second.images,
        patient_id=first.patient_id or second.patient_id,
        extra={**second.extra, **first.extra},
    )


def _add_answers(
    draft: Draft,
    path: Path,
    studies: Mapping[str, Mapping[str, Any]],
    model: str,
    log: ProblemLog,
) -> None:
    given = {answer.case: answer.text for answer in draft.answers if answer.model == model}
    draft.models.setdefault(model, Model(id=model, name=model, kind="report"))
    unknown, without, repeated = 0, 0, 0
    for study_id, study in studies.items():
        text = _prediction(study.get(PREDICTION))
        if study_id not in draft.cases:
            unknown += 1
        elif text is None:
            without += 1
        elif study_id in given:
            repeated += given[study_id] != text
        else:
            draft.answers.append(Answer(case=study_id, model=model, text=text))
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
            log.warning(path.name, f"{number:,} {message}", remedy, field=PREDICTION)


def _prediction(value: Any) -> str | None:
    """Return a prediction as text, verbatim; None when there is none (null, or pandas' NaN)."""
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
