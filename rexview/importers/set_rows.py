"""Collect the rows of the declared columns from all sources of one import.

Readers of formats add plain dicts with the names of :mod:`rexview.columns`; any other name in them
becomes an extra field. Rows of the same thing are joined here, and nothing is thrown away without a
message. The reader of review sets then converts, normalises and checks them, as it does files.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import date, time
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final, Literal

from rexview.addresses import is_address
from rexview.columns import TABLES, DeclaredTable
from rexview.importers.case_names import CaseNames, safe_path, unique_ids
from rexview.importers.receipt import ProblemLog, Receipt
from rexview.reviewset.image_paths import images_folder
from rexview.reviewset.json_text import is_missing
from rexview.reviewset.load import assemble
from rexview.reviewset.problems import quote_value
from rexview.reviewset.tables.source import RowOrigin, TableSource
from rexview.reviewset.write import table_json_rows
from rexview.schema import Model, Reader, ReviewSet, SetInfo

if TYPE_CHECKING:
    from rexview.importers.box_placement import BoxPreview
    from rexview.importers.table.column_mapping import ColumnMapping


MAX_DEPTH: Final = 20
"""Maximum nesting of lists and objects kept from a source."""
_INT64_MAX: Final = 2**63 - 1


def plain_row(row: Mapping[str, Any]) -> tuple[dict[str, Any], bool]:
    """Return a row of texts, numbers, lists and objects only, and whether something was cut off.

    Bytes become their length, dates text. Texts lose characters that UTF-8 cannot encode, numbers
    beyond 64 bits become text, tuples lists. Values nested deeper than :data:`MAX_DEPTH` become
    None.
    """
    cut = False

    def made(value: Any, depth: int) -> Any:
        nonlocal cut
        if isinstance(value, str):
            return plain_text(value)
        if isinstance(value, int) and abs(value) > _INT64_MAX:
            return str(value)
        if isinstance(value, bytes):
            return f"({len(value):,} bytes)"
        if isinstance(value, date | time):
            return value.isoformat()
        if not isinstance(value, Mapping | list | tuple):
            return value
        if depth >= MAX_DEPTH:
            cut = True
            return None
        if isinstance(value, Mapping):
            return {plain_text(str(key)): made(one, depth + 1) for key, one in value.items()}
        return [made(one, depth + 1) for one in value]

    return {plain_text(str(name)): made(value, 0) for name, value in row.items()}, cut


def plain_text(text: str) -> str:
    """Return the text without lone surrogates, which UTF-8 cannot encode, and without NUL."""
    if text.isascii():
        return text.replace("\x00", "") if "\x00" in text else text
    return text.encode("utf-8", "replace").decode("utf-8").replace("\x00", "")


SetRow = dict[str, Any]
RowKey = tuple[str | None, ...]


class RowTable:
    """``rows`` of a table and their ``places`` in the sources; ``by_key`` finds a row."""

    def __init__(self, table: DeclaredTable, log: ProblemLog) -> None:
        self.table, self._log = table, log
        self.rows: list[SetRow] = []
        self.places: list[RowOrigin] = []
        self.by_key: dict[RowKey, int] = {}

    def key(self, row: SetRow) -> RowKey:
        """Return the key of a row: its ids, as the reader of sets converts them."""
        named = {name: normalise_id(row.get(name)) for name in self.table.key}
        if named.get("repeat") == "1":
            named["repeat"] = None  # same as where it is not given
        return tuple(named.values())

    def find(self, *key: Any) -> SetRow | None:
        """Return the row with that key, which may be changed, or None."""
        place = self.by_key.get(tuple(map(normalise_id, key)))
        return None if place is None else self.rows[place]

    def add(self, row: SetRow, at: RowOrigin) -> SetRow:
        """Add a row, or fill gaps of the row with its key; return the row in the table."""
        key = self.key(row)
        before = self.find(*key) if key and key[0] else None
        if before is not None:
            self._join(before, row, at, self.table.key)
            return before
        return self.append(row, at)

    def append(self, row: SetRow, at: RowOrigin) -> SetRow:
        """Add a row even if its key exists; the key then finds the new row."""
        key = self.key(row)
        if key:
            self.by_key[key] = len(self.rows)
        self.rows.append(row)
        self.places.append(at)
        return row

    def _join(self, first: SetRow, more: SetRow, at: RowOrigin, key: tuple[str, ...]) -> None:
        """Fill gaps of ``first``; log a contradicting value and keep it as another field."""
        for name, value in more.items():
            before = first.get(name)
            if name in key or is_missing(value) or value in ([], {}, before):
                continue
            if before in (None, [], {}):
                first[name] = value
            elif isinstance(before, dict) and isinstance(value, dict):
                for part, inner in value.items():
                    if before.get(part) in (None, [], {}):
                        before[part] = inner
                    elif not is_missing(inner) and inner not in ([], {}, before[part]):
                        self._keep_beside(first, part, inner, at, name)
            elif name == "images" and isinstance(before, list) and isinstance(value, list):
                before += _more_images(before, value)
            elif name in ("reference_boxes", "boxes"):
                before += [box for box in value if box not in before]
            else:
                self._keep_beside(first, name, value, at, "")

    def _keep_beside(self, row: SetRow, name: str, value: Any, at: RowOrigin, inside: str) -> None:
        """Keep another value for a field as ``name_2`` and so on, and log it."""
        stem, number = name if inside in ("", "extra") else f"{inside}_{name}", 2
        while row.get(f"{stem}_{number}", value) != value:
            number += 1
        kept_as = f"{stem}_{number}"
        if kept_as in row:
            return
        row[kept_as] = value
        message = f"The {inside or name} differs from the one in an earlier row or file, which was "
        message += f"kept; this one is kept as {kept_as}."
        remedy = "Give each its own id, or correct one of them."
        self._log.warning(at.file, message, remedy, row=at.row, field=at.named(inside or name))


def _more_images(known: list[SetRow], images: list[SetRow]) -> list[SetRow]:
    """Return images with new paths, dropping ids that known images already have."""
    paths, ids = ({image.get(name) for image in known} for name in ("path", "id"))
    return [
        {name: one for name, one in image.items() if name != "id" or one not in ids}
        for image in images
        if image["path"] not in paths
    ]


def normalise_id(value: Any) -> str | None:
    """Return an id as the reader converts it: numbers as text, outer spaces cut."""
    if type(value) is str:  # nearly all are, and there may be a million of them
        return value.strip() or None
    if is_missing(value):
        return None
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return str(value).strip() or None


REPORT_QUESTION: Final = "Write the findings and the impression of this study."
"""The task of a report case (ReXrank)."""
OPEN_QUESTION: Final = "What abnormalities does this study show, and where?"
"""The task of a case if the source gives none."""

CaseImage = tuple[str, str | None]
"""The id of a case, and of one of its images if one is meant or it has only one."""


class SetRows:
    """Rows of all tables of an import.

    ``images_base`` is the folder of the relative image paths, None if unknown. ``files`` maps the
    path of each image found to its file. ``copy_names`` are other names for copies of images, and
    ``patients`` numbers patients that sources name. ``second_answers`` decides on another text for
    an existing answer: ``run`` keeps it as a further run of the model, ``first`` leaves it out.
    ``base`` is the set that is added to, if any; its cases with a placeholder question are
    ``unasked``. Cases added while ``provisional`` is set are ``pictures`` (their ids); they may
    belong to the cases that other sources ``described``. ``without_answers`` are tables without a
    column of answers, ``numbered`` the cases with ids made by the import.

    Decisions that the user may change are collected: ``mappings`` of the tables; ``box_previews``;
    ``groupings``, which counts the cases that the pictures become by ways to group them; and
    ``references``: files (or FILE=COLUMN) of which one has the reference, with a text each.
    """

    def __init__(
        self,
        name: str,
        log: ProblemLog,
        receipt: Receipt,
        *,
        second_answers: Literal["run", "first"] = "run",
    ) -> None:
        self.name, self.log, self.receipt = name, log, receipt
        self.description = ""
        self.second_answers = second_answers
        self.images_base: Path | None = None
        self.files: dict[str, Path] = {}
        self.not_found: set[str] = set()
        self.copy_names: dict[str, str] = {}
        self.patients: dict[str, str] = {}
        self.box_previews: list[BoxPreview] = []
        self.models: dict[str, SetRow] = {}
        self.readers: dict[str, SetRow] = {}
        self.base: SetInfo | None = None
        self.unasked: set[str] = set()
        self.mappings: list[ColumnMapping] = []
        self.groupings: dict[str, int] = {}
        self.references: list[dict[str, str]] = []
        self.provisional = False
        self.pictures: set[str] = set()
        self.described: set[str] = set()
        self.without_answers: list[str] = []
        self.numbered: set[str] = set()
        self._scratch: TemporaryDirectory[str] | None = None
        self.tables = {name: RowTable(table, log) for name, table in TABLES.items()}
        self._by_case: dict[str, list[SetRow]] = {}
        self._names = CaseNames()

    def warn_without_answers(self) -> None:
        """Warn about the tables that were searched for answers, if no source has any."""
        if self.tables["answers"].rows:
            return
        for file in dict.fromkeys(self.without_answers):
            message = "No column holds answers; the cases were imported without any."
            self.log.warning(file, message, "Map the answer, if there is one.", field="answer")

    @property
    def scratch(self) -> Path:
        """A folder for unpacked files; it is removed when the import ends."""
        if self._scratch is None:
            self._scratch = TemporaryDirectory(prefix="rexview-import-")
        return Path(self._scratch.name)

    def new_folder(self, name: str = "") -> Path:
        """Make a new folder below :attr:`scratch`, with one called ``name`` in it if given."""
        folder = self.scratch / f"{len(list(self.scratch.iterdir())):05}" / name
        folder.mkdir(parents=True)
        return folder

    def close(self) -> None:
        """Remove the unpacked files."""
        if self._scratch is not None:
            self._scratch.cleanup()

    def start_from(self, review_set: ReviewSet) -> None:
        """Add the rows of an existing set; they do not count as rows of the import."""
        self.base, self.name = review_set.info, review_set.info.name
        for name, table in self.tables.items():
            for row in table_json_rows(review_set, name):
                table.append(row, RowOrigin(name))
                if name == "cases":
                    if row["question"] in (OPEN_QUESTION, REPORT_QUESTION):
                        del row["question"]  # a source may know the question
                        self.unasked.add(row["id"])
                    self._names.add(row)
                    self.described.add(row["id"])
                elif name == "answers":
                    self._by_case.setdefault(row["case"], []).append(row)
        self.receipt.before = {name: len(table.rows) for name, table in self.tables.items()}
        folder = images_folder(review_set.folder, review_set.info.images)
        if not is_address(review_set.info.images) and folder.is_dir():
            self.images_base = folder
            paths = {image["path"] for _, image in self.images()}
            self.files = {path: folder / path for path in paths if (folder / path).is_file()}

    # Adding

    def add_case(self, row: Mapping[str, Any], at: RowOrigin) -> str:
        """Add a case, or fill gaps of an earlier row with the same ``id``; return the id.

        ``images`` are objects with a ``path`` as the source writes it. An image whose path is not
        inside a folder is left out with a warning.
        """
        given = self._plain(row, at)
        given["images"] = list(self._safe_images(given, at))
        if self.provisional:
            self.pictures.add(str(given.get("id")))
        else:
            self.described.add(str(given.get("id")))
        self.receipt.used(at)
        case = self.tables["cases"].add(given, at)
        if case.get("id"):
            self._names.add(case)
        return str(case.get("id"))

    def add_answer(self, row: Mapping[str, Any], at: RowOrigin) -> bool:
        """Add an answer, or join it with the same answer of an earlier row.

        Returns False if it has another text and was left out (see ``second_answers``). The row is
        then listed in the receipt, unless something else was made from it.
        """
        given = self._plain(row, at)
        answers = self.tables["answers"]
        before = answers.find(*answers.key(given))
        text = given.get("text")
        if before is not None and text is not None:
            first = before.get("text")
            message = "The answer differs from an earlier one of this model to the case"
            where = {"row": at.row, "field": at.named("text")}
            if first is not None and first != text:
                if self.second_answers == "first":
                    remedy = "Give the run of each, or give each file its own model name."
                    self.log.warning(at.file, f"{message}.", remedy, **where)
                    self.receipt.unused(at, "Another text for an answer that is there.")
                    return False
                runs = ({**given, "run_id": str(number)} for number in count(2))
                given = next(one for one in runs if answers.key(one) not in answers.by_key)
                message += "; it is kept as a further run."
                remedy = "Name the runs (run_id), or remove one of them."
                self.log.warning(at.file, message, remedy, **where)
        self.declare_model(given.get("model"))
        self.receipt.used(at)
        if answers.add(given, at) is given:
            self._by_case.setdefault(given.get("case") or "", []).append(given)
        return True

    def add_mark(self, table: str, row: Mapping[str, Any], at: RowOrigin) -> None:
        """Add a row about an answer: scores, flags, edits or metrics."""
        given = self._plain(row, at)
        reader = normalise_id(given.get("reader"))
        if reader:
            self.readers.setdefault(reader, {"id": reader, "name": reader})
        self.receipt.used(at)
        self.tables[table].add(given, at)

    def add_boxes(
        self, case_id: str, image_id: str | None, boxes: Iterable[SetRow], at: RowOrigin
    ) -> None:
        """Add reference boxes to a known case: objects with ``label`` and ``box``."""
        case = self.case(case_id)
        assert case is not None
        more = [self._plain({"image": image_id, **box}, at) for box in boxes]
        case["reference_boxes"] = [*(case.get("reference_boxes") or []), *more]
        self.receipt.used(at)

    def add_model_boxes(
        self, case_id: str, model: str, boxes: Iterable[SetRow], at: RowOrigin
    ) -> None:
        """Add boxes (``image``, ``label``, ``box``, ``score``) to a model's newest answer.

        If the model has no answer to the case, one without text is made.
        """
        given = self.answers_of(case_id)
        answer = next((one for one in given if one["model"] == normalise_id(model)), None)
        if answer is None:
            self.add_answer({"case": case_id, "model": model}, at)
            answer = self.answers_of(case_id)[0]
        more = (self._plain(box, at) for box in boxes)
        answer["boxes"] = [*(answer.get("boxes") or []), *more]
        self.declare_model(model, draws_boxes=True)
        self.receipt.used(at)

    def declare_model(self, model: Any, **facts: Any) -> SetRow:
        """Declare a new model; ``facts`` are keys of ``models`` in reviewset.yaml."""
        name = normalise_id(model) or ""
        declared = self.models.setdefault(name, {"id": name, "name": name})
        declared.update(facts)
        return declared

    # Queries

    def case(self, case_id: str) -> SetRow | None:
        """Return the row of a case, which may be changed, or None."""
        return self.tables["cases"].find(case_id)

    @property
    def cases(self) -> list[SetRow]:
        """The rows of all cases."""
        return self.tables["cases"].rows

    def rows_of(self, table: str) -> list[SetRow]:
        """Return the rows of a table."""
        return self.tables[table].rows

    def answers_of(self, case_id: str) -> list[SetRow]:
        """Return the rows of the answers to a case, the last first."""
        return self._by_case.get(normalise_id(case_id) or "", [])[::-1]

    def find_case(
        self,
        *,
        case: str | None = None,
        study: str | None = None,
        image: str | None = None,
        at: RowOrigin | None = None,
    ) -> CaseImage | None:
        """Find the case that another file means, by its id, its study's, or one of its images.

        ``case`` is compared with the ids first, then with studies and images, since files name
        cases by those, too. An image is found by its path, its file name or its name without
        ending; a case that shows it comes before the picture alone. An ambiguous name gives None,
        with a warning if ``at`` is given.
        """
        found = self._names.find(case=case, study=study, image=image, files=self.files)
        alone = self.pictures - self.described if found else set()
        if alone:  # a picture shown in another case is not a case of its own
            others = found if len(found) > 1 else []
            if image is not None and found[0][0] in alone:  # its own case has the same name
                others = [*others, *self._names.images_of(image, self.files)]
            found = [one for one in dict.fromkeys(others) if one[0] not in alone] or found
        if len(found) > 1 and at is not None:
            name = next(one for one in (case, study, image) if one is not None)
            message = f"{quote_value(name)} could be {len(found):,} cases or images."
            self.log.warning(at.file, message, "Give the id of the case.", row=at.row)
        if len(found) != 1:
            return None
        case_id, path = found[0]
        row = self.case(case_id)
        assert row is not None
        images = row.get("images") or []
        if path is None:
            return case_id, _images_with_ids(row)[0]["id"] if len(images) == 1 else None
        return case_id, next(
            (one["id"] for one in _images_with_ids(row) if one["path"] == path), None
        )

    def names_by_id(self, *, described: bool = False) -> Mapping[str, tuple[int, str]]:
        """Return, by folded id, how many cases have it and how they write it.

        Ids are those of cases and of studies; with ``described`` only those of cases that a source
        describes beyond a picture.
        """
        alone = self.pictures - self.described if described else frozenset()
        return self._names.ids(alone, self.numbered if described else frozenset())

    def images(self) -> Iterator[tuple[str, SetRow]]:
        """Yield the case id and the row of each image, each with an ``id``."""
        yield from ((case["id"], image) for case in self.cases for image in _images_with_ids(case))

    def lies_in_base(self, path: str) -> bool:
        """True if an image's file is at its path below the base folder."""
        base, file = self.images_base, self.files[path]
        return base is not None and file.resolve() == (base / path).resolve()

    def was_unpacked(self, path: str) -> bool:
        """True if an image's file is removed when the import ends."""
        return self._scratch is not None and self.files[path].resolve().is_relative_to(
            self.scratch.resolve()
        )

    def picture_of(self, written: str) -> str | None:
        """Return the path of the only image with a file that a written path can mean, or None."""
        paths = {path for _, path in self._names.images_of(written, self.files, only_files=True)}
        return next(iter(paths)) if len(paths) == 1 else None

    def move_image(self, case_id: str, image: SetRow, path: str) -> None:
        """Give an image another path: that of the file found for it."""
        self._names.move_image(case_id, image["path"], path)
        image["path"] = path

    # Finishing

    def to_review_set(self, folder: Path, images: str) -> ReviewSet:
        """Read the rows as the reader of review sets reads files; problems go to the log.

        ``images`` is the base folder as written to ``reviewset.yaml``.
        """
        for _ in self.images():
            pass  # gives each its id
        base = self.base or SetInfo(name=plain_text(self.name))
        info = replace(
            base,
            description=base.description or plain_text(self.description),
            images=images,
            models=(*base.models, *_new_records(Model, self.models, base.models)),
            readers=(*base.readers, *_new_records(Reader, self.readers, base.readers)),
        )
        sources = {
            name: TableSource(name, name, problems=self.log, rows=table.rows, places=table.places)
            for name, table in self.tables.items()
            if table.rows
        }
        review_set = assemble(folder, info, sources, self.log, look_at_images=False)
        self._count(review_set)
        return review_set

    def _count(self, review_set: ReviewSet) -> None:
        receipt, answers = self.receipt, review_set.answers
        receipt.cases, receipt.answers = review_set.cases.height, answers.height
        counted = dict(answers["model"].value_counts().iter_rows())
        receipt.models = {model.id: counted.get(model.id, 0) for model in review_set.info.models}
        receipt.scores = review_set.scores.height + review_set.stale_scores.height
        receipt.flags = review_set.flags.height + review_set.stale_flags.height
        receipt.edits, receipt.metrics = review_set.edits.height, review_set.metrics.height
        receipt.model_boxes = int(answers["boxes"].list.len().sum() or 0)
        receipt.reference_boxes = int(review_set.cases["reference_boxes"].list.len().sum() or 0)
        paths = {image["path"] for _, image in self.images()}
        receipt.images, receipt.images_found = len(paths), len(paths & self.files.keys())

    # Helpers

    def _plain(self, row: Mapping[str, Any], at: RowOrigin) -> SetRow:
        found, cut = plain_row(row)
        if cut:
            message = f"What is nested deeper than {MAX_DEPTH} levels was cut off."
            self.log.warning(at.file, message, "Give it as text.", row=at.row)
        kept = {name: value for name, value in found.items() if not is_missing(value)}
        return kept | {
            name: normalise_id(kept[name]) for name in ("id", "case", "model") if name in kept
        }

    def _safe_images(self, row: SetRow, at: RowOrigin) -> Iterator[SetRow]:
        """Yield the images of a case with safe paths, each once."""
        paths: set[str] = set()
        for image in row.get("images") or []:
            path = safe_path(str(image.get("path") or ""))
            if path is None:
                message = "The image path is not a path inside a folder; the image was left out."
                remedy = "Write it relative to the images folder."
                self.log.warning(at.file, message, remedy, row=at.row, field="image_path")
            elif path not in paths:
                paths.add(path)
                yield {**image, "path": path}


def _new_records(kind: Any, rows: Mapping[str, SetRow], known: Iterable[Any]) -> tuple[Any, ...]:
    ids = {one.id for one in known}
    return tuple(kind(**row) for name, row in rows.items() if name and name not in ids)


def _images_with_ids(case: SetRow) -> list[SetRow]:
    """Return the images of a case, each with an id; existing ids are kept."""
    images: list[SetRow] = case.get("images") or []
    if any("id" not in image for image in images):
        for image, name in zip(images, unique_ids(images), strict=True):
            image["id"] = name
    return images
