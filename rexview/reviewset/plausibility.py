"""Warn of what a careful colleague would notice at once in a valid set.

Nothing here is an error: each finding is one warning with a count, the names and the remedy. Sets
with few rows are left alone, since three answers may well be equal by chance.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

import polars as pl

from rexview import vocab
from rexview.errors import Severity
from rexview.frames import take_rows
from rexview.geometry import box_problem
from rexview.reviewset.problems import quote_value
from rexview.reviewset.tables.source import TableSource
from rexview.reviewset.tables.values import FlatList, explode_items
from rexview.text.language import ENGLISH, detect_language
from rexview.vocab import english_count

_MAX_TEXTS: Final = 50_000
"""Maximum number of different texts checked; of more, an even sample."""
_ENGLISH: Final = r"(?i)\b(?:the|of|and|there|are|with|this|from)\b"
_MANY_ENGLISH_WORDS: Final = 6
"""A text with this number of these words is taken for English without a closer check."""
_REMEDY: Final = (
    "Nothing need be done: failures that rest on their words count as not judged, by finish reason "
    "and boxes they are judged all the same."
)


def check_languages(
    cases: pl.DataFrame,
    answers: pl.DataFrame,
    of_cases: TableSource,
    of_answers: TableSource,
) -> None:
    """Warn of answers and reports that the rules cannot read, with their number by language.

    ``answers`` are the newest ones.
    """
    report = pl.col("report").struct
    whole = pl.concat_str(
        report.field("findings"), report.field("impression"), separator="\n", ignore_nulls=True
    )
    _warn(answers["text"], "answer", "text", of_answers)
    _warn(cases.select(text=whole)["text"], "report", "report", of_cases)


def _warn(texts: pl.Series, what: str, field: str, source: TableSource) -> None:
    given = texts.drop_nulls()
    numbers = given.value_counts(name="n")
    left = numbers.filter(pl.col(given.name).str.count_matches(_ENGLISH) < _MANY_ENGLISH_WORDS)
    step = -(-left.height // _MAX_TEXTS) or 1
    found: Counter[str] = Counter()
    for text, n in left.gather_every(step).iter_rows():
        language = detect_language(text)
        if language:
            found[language] += n * step
    if not found:
        return
    looks = ", ".join(f"{n:,} {language}" for language, n in found.most_common())
    about = "about " if step > 1 else ""
    n = sum(found.values())
    message = (
        f"{about}{english_count(n, what)} of {len(given):,} {'is' if n == 1 else 'are'} not in "
        f"{ENGLISH} ({looks}): the rules that find failures do not read "
        f"{'it' if n == 1 else 'them'}."
    )
    source.warning(message[0].upper() + message[1:], _REMEDY, field=field)


_CHUNK_ROWS: Final = 200_000
"""Number of rows whose texts are compared at a time."""
_HAS_TEXT: Final = pl.col("text").str.contains(r"\S").fill_null(False)

Tables = Mapping[str, pl.DataFrame]
Sources = Mapping[str, TableSource]

_FEW: Final = 3
"""From this number of rows on, it is no chance that all are broken in the same way."""
_SOME: Final = 10
"""From this number of rows on, it is no chance that all have the same value."""
_MOST: Final = 0.8
_TINY: Final = 4
"""Pixels: a box smaller in both directions marks nothing on a radiograph."""
_BOXES: Final = 5
"""From this number of boxes on, it is no chance that none fits its image."""
_NAMED: Final = 5
"""Names in one warning; the others are counted."""
_COMPARED: Final = 200
"""Maximum number of answers of a model whose choices are compared with their texts."""
_GIVEN: Final = (
    pl.col("_choice_read").struct.field("method").is_null() & pl.col("choice").is_not_null()
).alias("given")
_NO_QUESTION: Final = r"(?i)^\W*(?:n/?a|nan|none|null|no question|question|todo|tbd|unknown)?\W*$"


def check_plausible(tables: Tables, sources: Sources, images: pl.DataFrame) -> None:
    """Report content that is valid but hardly intended; ``images`` are their sizes.

    ``tables`` are those of the set as it opens; ``images`` has columns ``case``, ``image``,
    ``width`` and ``height``.
    """
    cases = tables["cases"]
    if "cases" not in sources or cases.is_empty():
        return
    _check_questions(cases, sources["cases"])
    _check_key(cases, sources["cases"])
    _check_boxes(cases, "reference_boxes", "id", images, sources["cases"])
    answers = tables["answers"]
    newest = answers if answers["_newest"].all() else answers.filter("_newest")
    if newest.is_empty():
        if cases.height > 1:
            source = sources.get("answers", sources["cases"])
            remedy = "Add answers.jsonl with what the models answered, or import it."
            source.warning("There are no answers: there is nothing to review yet.", remedy)
        return
    source = sources["answers"]
    check_languages(cases, newest, sources["cases"], source)
    _check_numbers(newest, source)
    _check_texts(newest, cases, source)
    _check_choices(newest, cases, source)
    _check_boxes(newest, "boxes", "case", images, source)
    if "scores" in sources:
        _check_scores(tables["scores"], sources["scores"])


def _join_names(names: Sequence[str]) -> str:
    """Join the first few names for a sentence."""
    shown = [quote_value(name) for name in names[:_NAMED]]
    more = len(names) - len(shown)
    return ", ".join([*shown, *([f"{more:,} more"] if more else [])])


def _whose_answers(names: Sequence[str], everybody: int) -> str:
    """Return a phrase for the answers of every model, or of some by name."""
    return "every model" if len(names) == everybody > 1 else _join_names(names)


def _check_questions(cases: pl.DataFrame, source: TableSource) -> None:
    if cases["question"].str.contains(_NO_QUESTION).all():
        message = (
            f"No case has a question: there is only {quote_value(cases['question'][0] or '')}."
        )
        remedy = "Write into question what the models were asked."
        source.warning(message, remedy, field="question")


def _check_key(cases: pl.DataFrame, source: TableSource) -> None:
    known = cases.filter(pl.col("question_type") == "choice")["correct"].drop_nulls()
    if len(known) >= _SOME and known.n_unique() == 1:
        message = f"The right option of all {len(known):,} choice questions is number {known[0]}."
        remedy = "Compare correct with the source: it is the place among options, from 0."
        source.warning(message, remedy, field="correct")


def _check_numbers(answers: pl.DataFrame, source: TableSource) -> None:
    """Find models with a tenth of the others' answers, or less."""
    numbers = dict(answers.group_by("model", maintain_order=True).len().iter_rows())
    few = []
    for model, n in numbers.items():
        others = pl.Series([other for name, other in numbers.items() if name != model])
        usual = others.median() if len(others) else None
        if isinstance(usual, int | float) and usual >= _SOME and n * 10 <= usual:
            few.append(f"{quote_value(model)} has {n:,} answer{'s'[: n != 1]}, others {usual:,.0f}")
    if few:
        remedy = "Compare the number with the source: a file or a part may be missing."
        source.warning(f"{'; '.join(few[:_NAMED])}.", remedy, field="model")


def _check_texts(answers: pl.DataFrame, cases: pl.DataFrame, source: TableSource) -> None:
    nothing = (
        ~_HAS_TEXT
        & pl.col("choice").is_null()
        & (pl.col("boxes").list.len().fill_null(0) == 0)
        & (pl.col("images").list.len().fill_null(0) == 0)
    )
    models = answers["model"].n_unique()
    empty = _models_with_hits(answers.with_columns(_hit=nothing), least=_FEW)
    if empty:
        n = answers.filter(pl.col("model").is_in(empty)).height
        message = f"All {n:,} answers of {_whose_answers(empty, models)} are empty."
        source.warning(message, "Check that text is the field with the answers.", field="text")

    said = _texts_as_read(answers, cases)
    for hit, words in (
        ("is_report", "are the radiologists' reports, word for word"),
        ("is_question", "only repeat the question"),
    ):
        alike = said.with_columns(_hit=hit)
        found = _models_with_hits(alike, least=_FEW, share=_MOST)
        if found:
            n = alike.filter("_hit", pl.col("model").is_in(found)).height
            message = f"{n:,} answers of {_whose_answers(found, models)} {words}."
            source.warning(message, "Check that text is the field with the answers.", field="text")
    same = (
        said.group_by("model", maintain_order=True)
        .agg(pl.n_unique("said"), n=pl.len(), cases=pl.n_unique("case"))
        .filter(pl.col("said") == 1, pl.col("cases") >= _SOME)
    )
    for model, _, n, _ in same.iter_rows():
        first = answers.filter(_HAS_TEXT, pl.col("model").eq_missing(model))["text"][0]
        message = f"All {n:,} answers of {quote_value(model)} are the same: {quote_value(first)}."
        remedy = "Check that each answer stands with its own case."
        source.warning(message, remedy, field="text")


def _texts_as_read(answers: pl.DataFrame, cases: pl.DataFrame) -> pl.DataFrame:
    """Compare answers with the question and the report, by letters and digits.

    Returns one row an answer with a text: ``model``, hashes of its ``case`` and of its text
    (``said``), ``is_report``, ``is_question``. Texts are read in chunks, since all of them would
    fill the memory.
    """
    report = pl.col("report").struct
    parts = {
        "question": _folded(pl.col("question")),
        "findings": _folded(report.field("findings")),
        "impression": _folded(report.field("impression")),
    }
    parts["whole"] = pl.concat_str(
        parts["findings"], parts["impression"], separator=" ", ignore_nulls=True
    )
    plain = pl.concat(
        some.select(case="id", **{name: _hashed(text) for name, text in parts.items()})
        for some in cases.iter_slices(_CHUNK_ROWS)
    ).unique("case")
    said, is_said = pl.col("said"), pl.col("said") != pl.lit("").hash()
    is_report = pl.any_horizontal(said == pl.col(name) for name in parts if name != "question")
    return pl.concat(
        some.filter(_HAS_TEXT)
        .select("case", "model", said=_hashed(_folded(pl.col("text"))))
        .join(plain, on="case", how="inner", maintain_order="left")
        .select(
            "model",
            "said",
            case=pl.col("case").hash(),
            is_report=(is_report & is_said).fill_null(False),
            is_question=((said == pl.col("question")) & is_said).fill_null(False),
        )
        for some in answers.iter_slices(_CHUNK_ROWS)
    )


def _hashed(text: pl.Expr) -> pl.Expr:
    return pl.when(text.is_not_null()).then(text.hash())


def _folded(text: pl.Expr) -> pl.Expr:
    return text.str.to_lowercase().str.replace_all(r"\W+", " ").str.strip_chars()


def _models_with_hits(rows: pl.DataFrame, *, least: int, share: float = 1.0) -> list[str]:
    """Return the models with at least ``least`` rows and ``_hit`` in at least that ``share``."""
    by_model = rows.lazy().group_by("model", maintain_order=True)
    found = by_model.agg(pl.col("_hit").mean(), n=pl.len())
    wanted = found.filter(pl.col("n") >= least, pl.col("_hit") >= share).select("model")
    return wanted.drop_nulls().collect()["model"].to_list()


def _check_choices(answers: pl.DataFrame, cases: pl.DataFrame, source: TableSource) -> None:
    """Find models with no usable choices, and choices that are counted from 1."""
    questions = (
        cases.filter(pl.col("question_type") == "choice", pl.col("options").list.len() > 0)
        .select(pl.col("options").list.len(), case="id")
        .unique("case")
    )
    if questions.is_empty():
        return
    asked = (
        answers.select("case", "model", "choice", _GIVEN, row=pl.int_range(pl.len()))
        .join(questions, on="case", maintain_order="left")
        .drop("case")
    )
    usable = (pl.col("choice") >= 0) & (pl.col("choice") < pl.col("options"))
    lost = _models_with_hits(asked.with_columns(_hit=~usable.fill_null(False)), least=_FEW)
    if lost:
        n = asked.filter(pl.col("model").is_in(lost)).height
        message = (
            f"None of the {n:,} answers of {_whose_answers(lost, asked['model'].n_unique())} to "
            "choice "
            "questions has a usable choice: all count as failed."
        )
        remedy = "Give choice, counted from 0, or a text that says which option is meant."
        source.warning(message, remedy, field="choice")
    shifted = []
    for (model,), rows in asked.filter("given").group_by("model", maintain_order=True):
        differences = list(_choice_offsets(answers, rows["row"], cases))
        far = differences.count(1)
        if len(differences) >= _FEW and far >= _MOST * len(differences):
            shifted.append(str(model))
    if shifted:
        message = (
            f"The choices of {_whose_answers(shifted, asked['model'].n_unique())} are one more "
            "than what "
            "their texts say."
        )
        source.warning(message, "Count choice from 0: the first option is 0.", field="choice")


def _choice_offsets(answers: pl.DataFrame, rows: pl.Series, cases: pl.DataFrame) -> Iterator[int]:
    """Yield the difference between choice and text, for the first answers with a text."""
    from rexview.text.choices.choice_reader import read_choice  # most sets have no such questions

    compared = 0
    for start in range(0, len(rows), _COMPARED):
        compared_rows = rows[start : start + _COMPARED].to_numpy()
        some = take_rows(answers.select("case", "text", "choice"), compared_rows)
        some = some.filter(_HAS_TEXT).head(_COMPARED - compared)
        asked = cases.filter(pl.col("id").is_in(some["case"].implode()))
        asked = asked.select("question", "options", case="id").unique("case")
        for _, text, choice, question, options in some.join(
            asked, on="case", maintain_order="left"
        ).iter_rows():
            if read := read_choice(text, [option or "" for option in options], question or ""):
                yield choice - read.option
        compared += some.height
        if compared >= _COMPARED:
            return


def _check_boxes(
    frame: pl.DataFrame, column: str, case: str, images: pl.DataFrame, source: TableSource
) -> None:
    """Find boxes that are all tiny, all outside, or mostly extend beyond their images."""
    owner = "model" if "model" in frame.columns else None
    whose = pl.col(owner) if owner else pl.lit("")
    boxes = explode_items(frame, column, "_row", pl.col(case).alias("case"), whose.alias("_owner"))
    sized = boxes.join(
        images.select("case", "image", "width", "height"), on=["case", "image"], how="left"
    ).filter(pl.col("box").list.len() == 4)
    if sized.is_empty():
        return
    x, y, width, height = (pl.col("box").list.get(n) for n in range(4))
    known = pl.col("width").is_not_null() & pl.col("height").is_not_null()
    beyond = (x + width > pl.col("width") * 1.01) | (y + height > pl.col("height") * 1.01)
    outside = (
        (x >= pl.col("width")) | (y >= pl.col("height")) | (x + width <= 0) | (y + height <= 0)
    )
    found = sized.group_by("_owner", maintain_order=True).agg(
        n=pl.len(),
        unit=((x + width <= 1.01) & (y + height <= 1.01) & (width > 0)).all()
        & pl.any_horizontal(part % 1 != 0 for part in (x, y, width, height)).any(),
        tiny=((width < _TINY) & (height < _TINY) & (width > 0)).all(),
        outside=(known & outside).all(),
        beyond=(known & beyond).mean(),
    )
    for name, n, unit, tiny, is_outside, share in found.iter_rows():
        of = f" of {quote_value(name)}" if owner else ""
        said = _box_warning(n, bool(unit), bool(tiny), bool(is_outside), share or 0.0)
        if said:
            start = f"All {n:,} {'reference ' if not owner else ''}boxes{of}"
            message, remedy = said(start)
            source.warning(message, remedy, field=column)


def _box_warning(
    n: int, unit: bool, tiny: bool, outside: bool, beyond: float
) -> Callable[[str], tuple[str, str]] | None:
    """Return a function from a subject to message and remedy; None if all is well."""
    if unit:
        return lambda start: (
            f"{start} lie between 0 and 1: they are fractions of the image, not pixels.",
            "Multiply by width and height of the image.",
        )
    if n < _BOXES:
        return None
    if tiny:
        return lambda start: (
            f"{start} are smaller than {_TINY} pixels.",
            "Give pixels of the stored image, not fractions or grid cells.",
        )
    if outside:
        return lambda start: (
            f"{start} lie outside their images.",
            "Give pixels of the stored image: theirs may be of another size.",
        )
    if beyond >= _MOST:
        return lambda start: (
            f"{start.replace('All ', '', 1)} mostly reach out of their images.",
            "Give x, y, width and height, not two corners, in pixels of the stored image.",
        )
    return None


def _check_scores(scores: pl.DataFrame, source: TableSource) -> None:
    """Find readers whose scores of a dimension are all the same."""
    same = (
        scores.drop_nulls("score")
        .group_by("reader", "dimension", maintain_order=True)
        .agg(n=pl.len(), levels=pl.n_unique("score"), score=pl.col("score").first())
        .filter(pl.col("levels") == 1, pl.col("n") >= _SOME)
    )
    if same.is_empty():
        return
    listed = [
        f"{quote_value(reader)} {vocab.DIMENSION_NAMES[dimension]} {score} ({n:,})"
        for reader, dimension, n, _, score in same.head(_NAMED).iter_rows()
    ]
    more = same.height - len(listed)
    message = f"Scores without spread, each answer the same: {', '.join(listed)}"
    message += f" and {more:,} more." if more else "."
    source.warning(message, "Compare with the source: it may be a default.", field="score")


# Boxes of answers and reference boxes: the image of each, and whether it can be drawn.
#
# No box is dropped. One that cannot be drawn is a warning and stays in the table, where
# :func:`rexview.geometry.box_problem` decides what a page draws.

_DRAWN: Final = (
    "Give x, y, width and height in pixels of the stored image, from its top left corner."
)


def image_sizes(cases: pl.DataFrame) -> pl.DataFrame:
    """Return a row per image: ``case``, ``image``, ``width``, ``height``, ``n`` in its case.

    Sizes are in pixels.
    """
    count = pl.col("images").list.len().alias("n")
    return (
        explode_items(cases.rename({"id": "case"}), "images", "case", count)
        .lazy()
        .select("case", "n", pl.col("id").alias("image"), "width", "height")
        .filter(pl.col("image").is_not_null())
        .unique(["case", "image"], keep="first", maintain_order=True)
        .collect()
    )


def name_box_images(
    frame: pl.DataFrame, column: str, case: str, images: pl.DataFrame
) -> pl.DataFrame:
    """Fill in the image of boxes that name none, if the case has only one.

    ``column`` has the boxes, ``case`` the id of the case; ``images`` are :func:`image_sizes`.
    ``image`` and ``label`` of a box are never null in the result: unknown ones are empty texts.
    """
    if not frame.select((pl.col(column).list.len() > 0).any()).item():
        return frame
    flat = FlatList.of_series(frame[column])
    boxes = flat.fields
    if not boxes["image"].null_count() and not boxes["label"].null_count():
        return frame
    only = images.filter(pl.col("n") == 1).select("case", pl.col("image").alias("_only"))
    owners = frame[case].gather(pl.Series(flat.owner)).alias("case")
    filled = owners.to_frame().join(only, on="case", how="left", maintain_order="left")["_only"]
    boxes = boxes.with_columns(
        pl.coalesce("image", filled).fill_null(""), pl.col("label").fill_null("")
    )
    return frame.with_columns(flat.lists(boxes.to_struct(column)).alias(column))


def images_with_boxes(frame: pl.DataFrame, case: str, column: str) -> pl.DataFrame:
    """Return the images with boxes, each once: ``case``, ``image``."""
    image = pl.col(column).list.eval(pl.element().struct.field("image").unique())
    return (
        frame.lazy()
        .select(pl.col(case).alias("case"), image.alias("image"))
        .explode("image")
        .drop_nulls("image")
        .unique()
        .collect()
    )


def check_boxes(
    frame: pl.DataFrame, column: str, case: str, images: pl.DataFrame, source: TableSource
) -> None:
    """Report boxes on images that the case does not have, and boxes that cannot be drawn.

    A reference box on an unknown image is an error, since nothing can be compared with it. A
    model's box is a warning, since models do such things.
    """
    boxes = explode_items(frame, column, "_row", pl.col(case).alias("case"))
    if boxes.is_empty():
        return
    known = images.with_columns(pl.lit(True).alias("_known"))
    boxes = boxes.join(known, on=["case", "image"], how="left", maintain_order="left")
    _report_unknown_images(boxes, column, source)
    doubtful = boxes.filter(~_can_be_drawn())
    problems = [box_problem(*row) for row in doubtful.select("box", "width", "height").iter_rows()]
    source.report_rows(
        "warning",
        doubtful.with_columns(_problem=pl.Series(problems, dtype=pl.String)).drop_nulls("_problem"),
        lambda row: f"{row['_problem']} It is not drawn.",
        _DRAWN,
        lambda row: f"{column}[{row['index']}].box",
    )


def _can_be_drawn() -> pl.Expr:
    """Return an expression for boxes without a :func:`box_problem`, fast for millions of boxes."""
    x, y, width, height = numbers = [pl.col("box").list.get(n, null_on_oob=True) for n in range(4)]
    return pl.all_horizontal(
        pl.col("box").list.len() == len(numbers),
        *(number.is_finite() for number in numbers),
        width > 0,
        height > 0,
        x + width > 0,
        y + height > 0,
        (x < pl.col("width")).fill_null(True),
        (y < pl.col("height")).fill_null(True),
    ).fill_null(False)


def _report_unknown_images(boxes: pl.DataFrame, column: str, source: TableSource) -> None:
    severity: Severity = "error" if column == "reference_boxes" else "warning"
    unknown = boxes.filter(pl.col("_known").is_null() & pl.col("case").is_not_null())
    source.report_rows(
        severity,
        unknown.filter(pl.col("image") != ""),
        lambda row: f"The case has no image {quote_value(row['image'])}.",
        "Use the id of one of the case's images.",
        lambda row: f"{column}[{row['index']}].image",
    )
    source.report_rows(
        severity,
        unknown.filter(pl.col("image") == ""),
        "The box does not say on which image it lies.",
        "Give the id of one of the case's images.",
        lambda row: f"{column}[{row['index']}].image",
    )
