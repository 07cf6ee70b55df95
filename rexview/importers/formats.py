"""The formats that can be imported, each with its options, its reader and its recogniser.

Options are data: the command line's flags and the Data page's form are both made from them.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Final, Literal

from rexview.errors import FileRefused, ImportSourceError, Problem
from rexview.importers.case_names import RASTER_SUFFIXES
from rexview.importers.receipt import Receipt
from rexview.importers.set_rows import SetRows
from rexview.importers.source_files import Probe, Recognition, SourceFile
from rexview.importers.table.column_guess import propose_mapping
from rexview.importers.table.sheet import (
    EXCEL_SUFFIXES,
    JSON_SUFFIXES,
    PARQUET_SUFFIXES,
    TEXT_SUFFIXES,
)
from rexview.reviewset.image_paths import DICOM_SUFFIXES
from rexview.untrusted_input import read_typed_path

OptionType = Literal[
    "text", "texts", "flag", "switch", "choice", "file", "folder", "mapping", "box_reading"
]
"""``texts`` is a list of strings. ``flag`` is off by default and ``switch`` is on. ``mapping`` is a
confirmed ColumnMapping, its JSON form or the path of a file with it."""

_TRUE: Final = ("true", "yes", "on", "1")
_FALSE: Final = ("false", "no", "off", "0")
PROPOSED_MAPPING: Final = "proposed"
"""Value of a ``mapping`` that accepts the proposal unchanged."""


@dataclass(frozen=True)
class ImportOption:
    """One option of an importer.

    ``name`` is the key in ``options`` and, with hyphens, the flag of the command line. ``label`` is
    shown in a form. A ``switch`` becomes a ``--no-...`` flag.
    """

    name: str
    type: OptionType
    label: str
    help: str
    required: bool = False
    default: Any = None
    choices: tuple[str, ...] = ()

    @property
    def flag(self) -> str:
        """The flag on the command line."""
        word = self.name.replace("_", "-")
        return f"--no-{word}" if self.type == "switch" else f"--{word}"

    def read(self, value: Any) -> Any:
        """Convert a value from a form, a command line or a caller to the option's own type.

        Raises ValueError if the value is invalid; the message completes "This option ...".
        """
        if value is None or value == "":
            if self.required:
                raise ValueError("is required.")
            return self.default
        if self.type in ("flag", "switch"):
            word = str(value).strip().lower()
            if word not in (*_TRUE, *_FALSE):
                raise ValueError("must be yes or no.")
            return word in _TRUE
        if self.type == "texts":
            values = [value] if isinstance(value, str) else list(value)
            return tuple(str(one).strip() for one in values if str(one).strip())
        if self.type in ("file", "folder"):
            try:
                path = read_typed_path(str(value))
            except FileRefused as refusal:
                raise ValueError(f"cannot be used. {refusal}") from None
            if self.type == "file" and not path.is_file():
                raise ValueError("names a file that does not exist.")
            if self.type == "folder" and not path.is_dir():
                raise ValueError("names a folder that does not exist.")
            return path
        if self.type == "box_reading":
            from rexview.importers.box_placement import BoxReading

            if isinstance(value, Mapping):  # by file and model, as a page gives it
                return {whose: BoxReading.parse(str(one)) for whose, one in value.items()}
            return BoxReading.parse(str(value))
        if self.type == "choice" and str(value) not in self.choices:
            raise ValueError(f"must be one of {', '.join(self.choices)}.")
        return value if self.type == "mapping" else str(value).strip()


COMMON_OPTIONS: Final = (
    ImportOption("name", "text", "Name", "Name of the review set; from the source when left out."),
    ImportOption(
        "images",
        "folder",
        "Images folder",
        "Folder that holds the images; looked for beside the source when left out.",
    ),
    ImportOption("copy", "flag", "Copy images", "Copy the images into the review set."),
    ImportOption(
        "question", "text", "Question", "Question of cases for which the source does not give one."
    ),
    ImportOption(
        "table_format",
        "choice",
        "Table format",
        "How the tables of the review set are written: JSON Lines up to 100,000 rows and Parquet "
        "beyond when left out.",
        choices=("jsonl", "csv", "parquet"),
    ),
)
"""Options of every importer."""

_SINGULAR: Final = {"reference boxes": "reference box", "boxes of models": "box of a model"}


def _function(name: str) -> Any:
    module, _, function = name.partition(":")
    return getattr(import_module(module), function)


@dataclass(frozen=True)
class Importer:
    """A format that can be imported.

    ``suffixes`` are the endings of accepted source files; ``folders`` is True if a folder is
    accepted. ``reader`` names the function that reads files into rows, as ``module:function``. It
    is imported only when it runs, because the command line lists all formats. ``recogniser`` names,
    in the same way, the function that returns why a :class:`~.source_files.Probe` is of this
    format, or None. ``role`` is its place in the reading order: 0 pictures, 1 cases, 2 answers, 3
    boxes, 4 scores, flags and edits. ``extra_arguments`` adds command-line arguments that are not
    options.
    """

    id: str
    name: str
    description: str
    options: tuple[ImportOption, ...]
    suffixes: tuple[str, ...]
    reader: str
    folders: bool = False
    recogniser: str | None = None
    role: int = 2
    extra_arguments: Callable[[argparse.ArgumentParser], None] | None = None

    def read(self, files: Sequence[SourceFile], rows: SetRows, options: Mapping[str, Any]) -> None:
        """Read files into ``rows``, which also collects problems, notes and the receipt."""
        _function(self.reader)(files, rows, options)

    def recognises(self, probe: Probe) -> Recognition | None:
        """Return why a file is of this format, or None."""
        found: Recognition | str | None = (
            _function(self.recogniser)(probe) if self.recogniser else None
        )
        return Recognition(found) if isinstance(found, str) else found

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the importer's options to a command-line parser."""
        for option in self.options:
            off = "Turn this off: " if option.type == "switch" else ""
            settings: dict[str, Any] = {"help": f"{off}{option.help}".replace("%", "%%")}
            if option.type == "flag":
                settings |= {"action": "store_true", "default": None}
            elif option.type == "switch":
                settings |= {"action": "store_false", "default": None}
            elif option.type == "texts":
                settings |= {"action": "append", "metavar": "TEXT"}
            elif option.type == "choice":
                settings |= {"choices": option.choices}
            else:
                metavar = {"file": "FILE", "folder": "FOLDER", "mapping": "FILE"}
                settings |= {"metavar": metavar.get(option.type, "TEXT")}
            settings |= {"dest": f"option_{option.name}", "required": option.required}
            parser.add_argument(option.flag, **settings)
        if self.extra_arguments:
            self.extra_arguments(parser)

    def read_arguments(self, namespace: argparse.Namespace) -> dict[str, Any]:
        """Return the options given on the command line."""
        names = (option.name for option in self.options)
        given = {name: getattr(namespace, f"option_{name}") for name in names}
        return {name: value for name, value in given.items() if value is not None}


@dataclass(frozen=True)
class ImportReport:
    """Result of an import.

    ``counts`` maps plain words (``cases``, ``answers``, ``images found``, ...) to numbers, in
    display order. ``notes`` are decisions that the import took. ``problems`` are its warnings.
    ``receipt`` accounts for everything that was read.
    """

    format_id: str
    folder: Path
    counts: Mapping[str, int]
    receipt: Receipt
    notes: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()

    @property
    def counted(self) -> str:
        """The counts in words: ``8 cases, 1 answer, 8 images (7 found)``."""
        parts = [
            f"{number:,} {word if number != 1 else _SINGULAR.get(word, word[:-1])}"
            for word, number in self.counts.items()
            if word != "images found"
        ]
        found = self.counts.get("images found")
        return ", ".join(parts) + ("" if found is None else f" ({found:,} found)")

    def summary(self) -> str:
        """Return the counts, the notes and the unused parts as lines of text."""
        head = f"Imported into {self.folder}: {self.counted}."
        if self.receipt.before is not None:
            head = f"Added to {self.folder}, which has now {self.counted}."
        return "\n".join([head, *self.notes, *self.receipt.lines()])


class _ShowMapping(argparse.Action):
    """Print the proposed mapping of a file and end the program, as ``--version`` does."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        try:
            mapping = propose_mapping(Path(values), sheet=getattr(namespace, "option_sheet", None))
        except ImportSourceError as error:
            reasons = "".join(f"\n{problem}" for problem in error.problems)
            parser.exit(1, f"{error}{reasons}\n")
        print(mapping.to_json())
        parser.exit(0)


def table_arguments(parser: argparse.ArgumentParser) -> None:
    """Add arguments for tables that only the command line has."""
    parser.add_argument(
        "--show-mapping",
        action=_ShowMapping,
        metavar="FILE",
        help="print the proposed meaning of the columns of FILE as JSON, and stop",
    )


TABLE_OPTIONS: Final = (
    ImportOption(
        "scale",
        "text",
        "Scale of scores",
        "What scores go from and to, worst first, where it is not 1 to 5: such as 0-10, or words "
        "apart by commas. They are converted to 1 to 5, and the given ones kept.",
    ),
    ImportOption(
        "dimension",
        "texts",
        "Dimension of scores",
        "What scores are of that name no dimension (DIMENSION), or another one (NAME=DIMENSION, "
        "once for each name).",
    ),
    ImportOption(
        "empty",
        "choice",
        "An empty answer",
        "What an empty cell means: the model was not run, or its answer came empty.",
        default="not-run",
        choices=("not-run", "answer"),
    ),
    ImportOption(
        "second_answers",
        "choice",
        "Another answer of a model",
        "What becomes of another text of the same model to the same case: a further run, or left "
        "out.",
        default="run",
        choices=("run", "first"),
    ),
    ImportOption(
        "index_from",
        "choice",
        "Options count from",
        "What the first option is counted as, where options are given as numbers.",
        choices=("0", "1"),
    ),
)
"""Options of all formats that are read as tables."""


_BOXES_AS: Final = ImportOption(
    "boxes_as",
    "box_reading",
    "Boxes are",
    "What the four numbers of a box are, where that is not found out rightly: xywh, xyxy, yxyx or "
    "cxcywh, and after a colon pixels, fraction, percent or per-mille; such as xyxy:fraction.",
)
_REFERENCE: Final = ImportOption(
    "reference",
    "texts",
    "Reference",
    "The file whose texts are the radiologist's, or right answers (FILE), or its column of them "
    "(FILE=COLUMN), where names and contents do not tell them from a model's.",
)
METRIC_OPTIONS: Final = (
    ImportOption(
        "implementation",
        "text",
        "Computed by",
        "What computed the metric values, such as radeval, where the file does not say.",
    ),
    ImportOption(
        "implementation_version",
        "text",
        "Its version",
        "Version of what computed the metric values, with its weights or judge.",
    ),
    ImportOption(
        "scope",
        "text",
        "Sections compared",
        "What the metric values compare: findings, impression or findings+impression.",
    ),
)
"""Identity of metric values, for files that do not give it."""
_ONE_MODEL: Final = "The boxes or texts are this model's, not the truth."
_ANY_TABLE: Final = (".csv", ".tsv", ".xlsx", ".json", ".jsonl")


def _models(help: str, label: str = "Model names") -> ImportOption:
    return ImportOption("model", "texts", label, help)


def _format(
    id: str,
    name: str,
    description: str,
    suffixes: tuple[str, ...],
    functions: str,
    *options: ImportOption,
    role: int = 2,
    **more: Any,
) -> Importer:
    """Declare a format; ``functions`` names its module, its reader and its recogniser."""
    module, reader, recogniser = (*functions.split(), "recognises")[:3]
    return Importer(
        id,
        name,
        description,
        (*(one for one in COMMON_OPTIONS if (id, one.name) != ("images", "images")), *options),
        suffixes,
        reader=f"rexview.importers.{module}:{reader}",
        recogniser=f"rexview.importers.{module}:{recogniser}" if id != "auto" else None,
        role=role,
        **more,
    )


def _annotation(
    id: str, name: str, description: str, suffixes: tuple[str, ...], functions: str, role: int = 3
) -> Importer:
    """Declare a format of annotations: boxes, corrections, or reports stored with pictures."""
    model = ImportOption("model", "text", "Model", _ONE_MODEL)
    return _format(id, name, description, suffixes, functions, model, _BOXES_AS, role=role)


_SPECIAL: Final = (
    _format(
        "rexrank",
        "ReXrank JSON",
        "ReXrank data files and prediction files. Several files are merged on the study "
        "id; each prediction file is one model.",
        (".json",),
        "rexrank read_rexrank",
        _models(
            "Name of a prediction file's model, or FILE=NAME; once for each file, in their order. "
            "From the file name when left out."
        ),
        ImportOption("site", "text", "Site", "Where the studies come from, for all of them."),
        role=1,
    ),
    _format(
        "rexvqa",
        "ReXVQA",
        "ReXVQA's metadata JSON, and predictions of any number of models and readers: "
        "{id: text}, {model: {id: text}}, JSON Lines or CSV.",
        (".json", ".jsonl", ".csv", ".tsv"),
        "rexvqa read_rexvqa",
        _models(
            "FILE=NAME for a file of predictions that does not name its model; from the file name "
            "when left out."
        ),
        ImportOption(
            "reader",
            "texts",
            "Readers",
            "FILE=NAME for a file with a reader's answers. Names with reader, radiologist or "
            "resident are readers without being told.",
        ),
        role=1,
    ),
    _format(
        "table",
        "Table",
        "A table with one row per answer, or one row per case and a column per model. "
        "What its columns mean is proposed, and must be confirmed.",
        (*TEXT_SUFFIXES, *EXCEL_SUFFIXES, *JSON_SUFFIXES, *PARQUET_SUFFIXES),
        "table.importer read_table",
        ImportOption(
            "mapping",
            "mapping",
            "Columns",
            "What the columns mean: the proposal as confirmed, a JSON file; or the word "
            f"“{PROPOSED_MAPPING}” to take the proposal as it is.",
        ),
        ImportOption(
            "sheet", "text", "Sheet", "Sheet of an Excel file; the first one when left out."
        ),
        _models(
            "The model, where no column says which one answered; FILE=NAME for one of several "
            "files.",
            "Model",
        ),
        _REFERENCE,
        *TABLE_OPTIONS,
        extra_arguments=table_arguments,
    ),
    _format(
        "images",
        "Pictures",
        "A folder of DICOM, PNG, JPEG, WebP, TIFF, BMP or GIF files, known by their "
        "content, sub-folders included. DICOM studies are numbered; names, ids and dates are left "
        "out. Tables of boxes and metadata beside the images are recognised.",
        (*DICOM_SUFFIXES, *RASTER_SUFFIXES),
        "images read_images",
        ImportOption(
            "group",
            "choice",
            "One case is",
            "How pictures that are no DICOM become cases: all of a folder, each file, or (auto) "
            "the files of a small sub-folder together.",
            default="auto",
            choices=("auto", "folder", "file"),
        ),
        ImportOption("boxes", "file", "Boxes", "Table or COCO JSON with reference boxes."),
        ImportOption(
            "metadata", "file", "Metadata", "Table with view, age, sex or labels by image."
        ),
        ImportOption(
            "tables",
            "switch",
            "Use tables in the folder",
            "Boxes and metadata are looked for in the folder itself.",
            default=True,
        ),
        role=0,
        folders=True,
    ),
    _format(
        "coco",
        "COCO boxes",
        "Boxes in COCO JSON: a data set makes reference boxes, or with a model's name that "
        "model's boxes; a list of results is added as a model's to the data set given with it.",
        (".json",),
        "coco read_coco",
        ImportOption("model", "text", "Model", "The boxes are this model's, not the truth."),
        _BOXES_AS,
        role=3,
    ),
    _format(
        "predictions",
        "Predictions by id",
        "JSON with texts by the id of their case, {id: text}, or of several models, "
        "{model: {id: text}}.",
        (".json",),
        "predictions read_predictions",
        _models("Name of a file's model, or FILE=NAME."),
        _REFERENCE,
    ),
    _format(
        "runs",
        "Log of a run",
        "Logs of programs that run models: Inspect (.eval, .json), samples of lmms-eval "
        "with their results, predictions of VLMEvalKit, output of OpenAI batches.",
        (".eval", ".json", ".jsonl", ".xlsx", ".tsv"),
        "runs read_runs",
        _models("Name of a log's model, or FILE=NAME; as the log says when left out."),
        *TABLE_OPTIONS,
    ),
    _annotation(
        "labelstudio",
        "Label Studio JSON",
        "Tasks with people's annotations (reference boxes) and models' predictions.",
        (".json",),
        "label_studio read_label_studio",
    ),
    _annotation(
        "fiftyone",
        "FiftyOne JSON",
        "samples.json or labels.json; fields with confidences are models'.",
        (".json",),
        "fiftyone read_fiftyone",
    ),
    _annotation(
        "voc",
        "Pascal VOC XML",
        "One XML file a picture; objects with a confidence are a model's.",
        (".xml",),
        "pascal_voc read_voc",
    ),
    _annotation(
        "yolo",
        "YOLO labels",
        "One text file a picture, with classes.txt or data.yaml; lines with a confidence are a "
        "model's.",
        (".txt", ".yaml", ".names"),
        "yolo read_yolo",
    ),
    _annotation(
        "boxes",
        "Table of boxes",
        "A table with one box a row; with a model or a confidence they are that model's.",
        _ANY_TABLE,
        "box_table read_box_tables",
    ),
    _annotation(
        "edits",
        "Corrected lines",
        "A table with one line of a report a row: original, edited, severity (ReFiSco).",
        _ANY_TABLE,
        "line_edits read_line_edits",
        role=4,
    ),
    _format(
        "metrics",
        "Metric values",
        "Values of metrics of generated reports: study, model, metric, value; a column a "
        "metric (ReXrank, CXR-Report-Metric); JSON with a list a metric (RadEval).",
        (*_ANY_TABLE, ".parquet"),
        "metrics.importer read_metrics",
        _models("Name of a file's model, or FILE=NAME."),
        *METRIC_OPTIONS,
        role=4,
    ),
    _format(
        "metadata",
        "Table about images",
        "A table with view, age, sex or labels by image, for images of other sources.",
        (".csv", ".tsv", ".xlsx"),
        "images read_metadata recognises_metadata",
        role=3,
    ),
    _annotation(
        "reports",
        "Text files of reports",
        "A text file a study, named for it; folders with the same names are a model each.",
        (".txt",),
        "report_files read_reports",
    ),
)
_MORE_ENDINGS: Final = (".zip", ".gz", ".jsonl", ".parquet", ".xml", ".txt")
_SHARED_OPTIONS: Final = ("reader", "reference", "site", "sheet", "group", "mapping", "boxes_as")
"""Options of single formats that ``auto`` has, too."""
_AUTO: Final = _format(
    "auto",
    "Any file",
    "Files, folders and ZIP archives of any known kind, together: answers, cases, "
    "pictures, boxes, scores. Each file is recognised by its content and read in the right order.",
    tuple(dict.fromkeys((*_MORE_ENDINGS, *(end for one in _SPECIAL for end in one.suffixes)))),
    "auto read_auto",
    _models("The model of files that do not name it, or FILE=NAME for each of them."),
    *(
        next(option for one in _SPECIAL for option in one.options if option.name == name)
        for name in _SHARED_OPTIONS
    ),
    *TABLE_OPTIONS,
    *METRIC_OPTIONS,
    folders=True,
)
IMPORT_FORMATS: Final[dict[str, Importer]] = {
    importer.id: importer for importer in (_AUTO, *_SPECIAL)
}
"""Importers by id, in the order of the form."""
