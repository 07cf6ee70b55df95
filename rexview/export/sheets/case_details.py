"""Make the appendix of a case: everything that does not fit on its slide, on few sheets."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from typing import Final

from rexview.export.export_job import ExportProgress
from rexview.export.export_records import ExportCase, ExportContent, ExportImage
from rexview.export.sheets.case_slide import (
    list_position,
    main_image,
    number_boxes,
    ordered_images,
    ordered_parts,
    read_picture,
)
from rexview.export.sheets.case_wording import (
    answer_heading,
    answer_text,
    box_lines,
    case_decisions,
    flag_lines,
    labelled_text,
    mark_lines,
    one_line,
    option_lines,
    quiet_line,
    right_option_lines,
    scores,
    undrawn_lines,
    vote_words,
)
from rexview.export.sheets.film_layout import lay_out_film
from rexview.export.sheets.sheet import (
    QUIET,
    Element,
    Paragraph,
    Rectangle,
    Sheet,
    TextBlock,
    TextRun,
    make_paragraph,
    printable_sheet_text,
)
from rexview.export.sheets.text_flow import (
    GUTTER,
    SheetFrame,
    SheetStack,
    column_height,
    flow_paragraphs,
    mark_part,
)
from rexview.vocab import DIMENSION_NAMES

_SIZES: Final = (13.0, 12.0, 11.0, 10.0, 9.0, 8.5, 8.0, 7.5)
"""Sizes of all words: the largest one that needs the fewest sheets is used."""
_COLUMNS: Final = 3
_BESIDE: Final = 2
"""Films above the words of a case; more films go on their own sheets."""
_FILM_SHARE: Final = 0.45
"""Share of the sheet's height for films above the words."""
_CAPTION: Final = 10.0


def case_details(
    content: ExportContent, frame: SheetFrame, case: ExportCase, progress: ExportProgress
) -> Iterator[Sheet]:
    """Yield the sheets with a case's details, in the meeting's order, the question first."""
    title = f"Appendix · {one_line(case.id)}"
    aside = list_position(content, case)
    first = main_image(case)
    further = [image for image in ordered_images(case) if image is not first]
    body = frame.small_body
    width = (body.width - GUTTER * (_COLUMNS - 1)) / _COLUMNS
    above = Rectangle(body.x, body.y, width, body.height * _FILM_SHARE)
    films = _films(content, case, further[:_BESIDE], above, progress)
    inset = max((one.place.bottom - body.y + GUTTER / 2 for one in films), default=0.0)
    sheets = _fewest(content, case, body, inset)
    sheets[0] = [*films, *sheets[0]]
    for at in range(_BESIDE, len(further), _COLUMNS):
        some = further[at : at + _COLUMNS]
        sheets.append(_films(content, case, some, body, progress))
    for number, elements in enumerate(sheets):
        more = ", continued" if number else ""
        yield frame.sheet(f"{title}{more}", elements, aside=aside, begins=not number, small=True)


def _films(
    content: ExportContent,
    case: ExportCase,
    images: Sequence[ExportImage],
    body: Rectangle,
    progress: ExportProgress,
) -> list[Element]:
    """Lay out films side by side, each with its name above and numbers at its boxes."""
    made: list[Element] = []
    width = (body.width + GUTTER / 2) / max(len(images), 1) - GUTTER / 2
    for number, image in enumerate(images):
        x = body.x + number * (width + GUTTER / 2)
        read, problem = read_picture(case, image, progress)
        boxes = number_boxes(case, image)
        words = [make_paragraph(_title(content, image), size=_CAPTION, bold=True)]
        if problem:
            words.append(make_paragraph(f"Cannot be shown: {one_line(problem)}", size=_CAPTION))
        caption = flow_paragraphs(words, width, body.height / 2)[0]
        high = column_height(caption) + 2
        made.append(TextBlock(Rectangle(x, body.y, width, high), caption, "Film"))
        most = Rectangle(x, body.y + high, width, body.height - high)
        made.append(lay_out_film(content, image, read, most, boxes))
    return made


def _title(content: ExportContent, image: ExportImage) -> str:
    title = one_line(image.title)
    name = one_line(content.model(image.model).name) if image.model is not None else ""
    return title if name in title else f"{name}: {title}"


def _fewest(
    content: ExportContent, case: ExportCase, body: Rectangle, inset: float
) -> list[list[Element]]:
    """Lay out words and tables in the largest size that needs the fewest sheets."""
    best: list[list[Element]] = []
    for size in _SIZES:
        stack = SheetStack(body)
        words = _words(content, case, size)
        stack.text(words, "Details", _COLUMNS, balanced=True, inset=inset)
        for heading, head, cells in (scores(content, case), case_decisions(content, case)):
            if cells:
                stack.table(heading, head, cells, size=size)
        if not best or len(stack.sheets) < len(best):
            best = stack.sheets
        if len(best) == 1:
            break
    return best


def _words(content: ExportContent, case: ExportCase, size: float) -> list[Paragraph]:
    parts: dict[str, Callable[[], list[Paragraph]]] = {
        "question": lambda: _question(content, case, size),
        "answers": lambda: _answers(content, case, size),
        "boxes": lambda: _boxes(content, case, size),
        "report": lambda: _report(case, size),
        "scores": lambda: _opinions(content, case, size),
        "flags": lambda: _failures(content, case, size),
    }
    return [line for part in ordered_parts(content, list(parts)) for line in parts[part]()]


def _head(words: str, size: float) -> Paragraph:
    return make_paragraph(words, size=size + 1, bold=True, before=size * 0.7, keep=True)


def _headed(words: str, lines: Sequence[Paragraph], size: float) -> list[Paragraph]:
    return mark_part(words, [_head(words, size), *lines]) if lines else []


def _question(content: ExportContent, case: ExportCase, size: float) -> list[Paragraph]:
    lines = [one for one in printable_sheet_text(case.question).split("\n") if one.strip()]
    context = case.context
    who = ", ".join(one_line(part) for part in (context.age, context.sex) if part)
    made = [make_paragraph(line, size=size, bold=True) for line in lines]
    made += option_lines(case, size)
    facts = {
        "Age, sex": who,
        "Indication": context.indication,
        "Comparison": context.comparison,
        "Section of the meeting": case.section,
    }
    runs = []
    for name, text in facts.items():
        if text and text.strip():
            runs += [TextRun(f"{name}: ", True, QUIET), TextRun(f"{one_line(text)} ")]
    made += [make_paragraph(*runs, size=size, before=size / 3)] if runs else []
    return mark_part("Question", made)


def _answers(content: ExportContent, case: ExportCase, size: float) -> list[Paragraph]:
    made = []
    for answer in case.answers:
        name = one_line(content.model(answer.model).name)
        made += mark_part(f"Model: {name}", answer_heading(content, case, answer, size + 1))
        made += mark_part(f"Answer: {name}", answer_text(answer, size))
    return made


def _boxes(content: ExportContent, case: ExportCase, size: float) -> list[Paragraph]:
    """List the boxes of each film by number, then those that cannot be drawn."""
    made: list[Paragraph] = []
    for image in ordered_images(case):
        if boxes := number_boxes(case, image):
            name = _title(content, image)
            made.append(make_paragraph(name, size=size, bold=True, colour=QUIET, keep=True))
            made += box_lines(content, [(one.number, one.box) for one in boxes], size)
    return _headed("Boxes", made + undrawn_lines(content, case, size), size)


def _report(case: ExportCase, size: float) -> list[Paragraph]:
    lines = [
        *right_option_lines(case, size),
        *quiet_line(case.report_not_read, size),
        *labelled_text("Findings", case.report.findings, size),
        *labelled_text("Impression", case.report.impression, size),
        *labelled_text("Why the right option is right", case.explanation, size),
    ]
    return _headed("Report", lines, size)


def _failures(content: ExportContent, case: ExportCase, size: float) -> list[Paragraph]:
    lines = flag_lines(content, case.flags, size) + mark_lines(content, case.marks, size)
    return _headed("Failures", lines, size)


def _opinions(content: ExportContent, case: ExportCase, size: float) -> list[Paragraph]:
    """Return votes, and what people wrote beside scores and elsewhere."""
    made = []
    if case.vote:
        right, harm = vote_words(content, case.vote)
        words = f"{case.vote.count:,} voted. Held right: {right}. Harm: {harm}."
        title = "Vote before the models were named"
        made += _headed(title, [make_paragraph(words, size=size)], size)
    return made + _headed("Comments", _comments(content, case, size), size)


def _comments(content: ExportContent, case: ExportCase, size: float) -> list[Paragraph]:
    """Return readers' remarks with their scores, then comments."""
    made: list[Paragraph] = []
    places = {model.id: place for place, model in enumerate(content.models)}
    told = [one for one in case.scores if one.comment and one.comment.strip()]
    told.sort(key=lambda one: (places[one.model], one.reader))
    for (model, reader), own in groupby(told, key=lambda one: (one.model, one.reader)):
        name = content.readers.get(reader, reader)
        made.append(_who(f"{name} on {content.model(model).name}", size))
        runs: list[TextRun] = []
        for score in own:
            about = f"{DIMENSION_NAMES[score.dimension]}: "
            runs += [TextRun(about, True), TextRun(f"{one_line(score.comment or '')} ")]
        made.append(make_paragraph(*runs, size=size))
    for comment in case.comments:
        on = f"{content.model(comment.model).name}, {comment.on}" if comment.model else comment.on
        settled = ", resolved" if comment.resolved else ""
        made.append(_who(f"{comment.person} on {on}{settled}", size))
        lines = printable_sheet_text(comment.text).split("\n")
        made += [make_paragraph(line, size=size) for line in lines if line.strip()]
    return made


def _who(words: str, size: float) -> Paragraph:
    return make_paragraph(
        one_line(words), size=size, bold=True, colour=QUIET, before=size / 3, keep=True
    )
