"""Make the main sheet of a case: headline, film with boxes, and the decisive sentences.

Everything else about the case is in the appendix (:mod:`.case_details`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from rexview.errors import ImageError, PathEscape
from rexview.export.export_job import ExportProgress
from rexview.export.export_records import ExportAnswer, ExportCase, ExportContent, ExportImage
from rexview.export.sheets.case_wording import (
    answer_heading,
    failure_words,
    failures,
    one_line,
    option_lines,
    plain_sentence,
    right_option_lines,
)
from rexview.export.sheets.film_layout import (
    NumberedBox,
    SheetPicture,
    encode_picture,
    labelled_film,
)
from rexview.export.sheets.sheet import (
    QUIET,
    Element,
    Paragraph,
    Rectangle,
    Sheet,
    TextBlock,
    TextRun,
    make_paragraph,
)
from rexview.export.sheets.text_flow import GUTTER, SheetFrame, column_height, flow_paragraphs
from rexview.vocab import MEETING_STEPS

_FILM_WIDTH: Final = 560.0
"""Most width of the film next to the words."""
_FITS: Final = ((15, 600), (14, 600), (13, 450), (12, 350), (11, 250), (10, 180), (9, 120), (9, 60))
"""Size of the words and most characters of a sentence: the first pair with which everything
fits."""
_MOST_SENTENCES: Final = 3
_MOST_ANSWERS: Final = 4
NOTHING_FAILED: Final = "No failure found"


def case_slide(
    content: ExportContent, frame: SheetFrame, case: ExportCase, progress: ExportProgress
) -> Sheet:
    """Make the sheet of a case."""
    body = frame.body
    elements: list[Element] = []
    left, problem = body.x, ""
    if (image := main_image(case)) is not None:
        made, problem = read_picture(case, image, progress)
        most = Rectangle(body.x, body.y, _FILM_WIDTH, body.height)
        film, labels = labelled_film(content, image, made, most, number_boxes(case, image))
        elements += [film, *labels]
        left = max(film.place.right, *(one.place.right for one in labels), 0.0) + GUTTER
    panel = Rectangle(left, body.y, body.right - left, body.height)
    column = _fitting(content, case, problem, panel)
    elements.append(
        TextBlock(Rectangle(left, body.y, panel.width, column_height(column)), column, "Case")
    )
    title = f"{one_line(case.id)} · {one_line(case.headline) or NOTHING_FAILED}"
    return frame.sheet(title, elements, aside=list_position(content, case), begins=True)


def list_position(content: ExportContent, case: ExportCase) -> str:
    """Return the case's position, such as Case 2 of 5; empty for a single case."""
    total = len(content.case_ids)
    return f"Case {case.number:,} of {total:,}" if total > 1 else ""


def ordered_images(case: ExportCase) -> list[ExportImage]:
    """Return the films of a case: the key one first, priors and returned pictures last."""
    returned = [image for answer in case.answers for image in answer.pictures]
    return [*sorted(case.images, key=lambda image: (image.prior, not image.key)), *returned]


def main_image(case: ExportCase) -> ExportImage | None:
    """Return the film for the sheet, None without one."""
    return next(iter(ordered_images(case)), None)


def number_boxes(case: ExportCase, image: ExportImage) -> list[NumberedBox]:
    """Return the boxes on a film, numbered from 1."""
    boxes = case.boxes_on(image.id) if image.model is None else ()
    return [NumberedBox(number, box) for number, box in enumerate(boxes, 1)]


def read_picture(
    case: ExportCase, image: ExportImage, progress: ExportProgress
) -> tuple[SheetPicture | None, str]:
    """Read a film; on failure return the reason, and report it."""
    progress.check()
    try:
        return encode_picture(image.read()), ""
    except (ImageError, PathEscape) as error:
        progress.note(f"{case.id}, {image.title}: {error}")
        return None, str(error)


def ordered_parts(content: ExportContent, parts: Sequence[str]) -> list[str]:
    """Return the parts of a case in the order of the meeting's steps, the question first."""
    steps = [*(content.meeting.steps if content.meeting else ()), *MEETING_STEPS]
    return sorted(parts, key=lambda part: -1 if part == "question" else steps.index(part))


def _fitting(
    content: ExportContent, case: ExportCase, problem: str, panel: Rectangle
) -> tuple[Paragraph, ...]:
    """Return the words of the sheet, as large and as many as fit."""
    column: tuple[Paragraph, ...] = ()
    for size, most in _FITS:
        column, *more = flow_paragraphs(
            _words(content, case, problem, size, most), panel.width, panel.height
        )
        if not more:
            break
    return column


def _words(
    content: ExportContent, case: ExportCase, problem: str, size: float, most: int
) -> list[Paragraph]:
    made = []
    if problem:
        words = f"This picture cannot be shown: {one_line(problem)}"
        made.append(make_paragraph(words, size=size, bold=True))
    parts: dict[str, Callable[[], list[Paragraph]]] = {
        "question": lambda: _question(case, size, most),
        "answers": lambda: _answers(content, case, size, most),
        "report": lambda: _report(case, size, most),
        "flags": lambda: _failures(content, case, size),
    }
    for part in ordered_parts(content, list(parts)):
        made += parts[part]()
    return made


def _question(case: ExportCase, size: float, most: int) -> list[Paragraph]:
    made = [
        make_paragraph(_cut(case.question, most), size=size, bold=True),
        *option_lines(case, size - 1),
    ]
    context = case.context
    facts = [*(one for one in (context.age, context.sex) if one), context.indication or ""]
    if words := ", ".join(one_line(one) for one in facts if one.strip()):
        made.append(make_paragraph(_cut(words, most), size=size - 2, colour=QUIET, before=2))
    return made


def _answers(content: ExportContent, case: ExportCase, size: float, most: int) -> list[Paragraph]:
    """Quote the answers; if there are many, failed ones come first."""
    failed = {one.model for one in case.flags if one.verdict != "rejected"}
    shown = list(case.answers)
    if len(shown) > _MOST_ANSWERS:
        shown.sort(key=lambda one: one.model not in failed)
    made = []
    for answer in shown[:_MOST_ANSWERS]:
        made += answer_heading(content, case, answer, size)
        made += _quoted(answer.key_sentences, size, most) or _no_words(answer, size)
    if (more := len(shown) - _MOST_ANSWERS) > 0:
        words = f"{more:,} more in the appendix."
        made.append(make_paragraph(words, size=size - 2, colour=QUIET, before=4))
    return made


def _no_words(answer: ExportAnswer, size: float) -> list[Paragraph]:
    if answer.text.strip() or answer.choice is not None:
        return []
    return [make_paragraph("The model returned no text.", size=size, colour=QUIET)]


def _report(case: ExportCase, size: float, most: int) -> list[Paragraph]:
    said = [*right_option_lines(case, size), *_quoted(case.key_sentences, size, most)]
    return [_head("Report", size), *said] if said else []


def _failures(content: ExportContent, case: ExportCase, size: float) -> list[Paragraph]:
    """Name each harmful failure once."""
    made = [
        make_paragraph(
            TextRun("■ ", True, content.model(model).colour),
            TextRun(failure_words(content, same)),
            size=size,
        )
        for (model, _), same in failures(case.flags).items()
        if same[0].verdict != "rejected" and any(one.severity != 0 for one in same)
    ]
    return [_head("Failures", size), *made] if made else []


def _head(words: str, size: float) -> Paragraph:
    return make_paragraph(words, size=size, bold=True, before=10, keep=True)


def _quoted(sentences: Sequence[str], size: float, most: int) -> list[Paragraph]:
    plain = [words for one in sentences[:_MOST_SENTENCES] if (words := plain_sentence(one))]
    return [make_paragraph(f"“{_cut(one, most)}”", size=size) for one in plain]


def _cut(text: str, most: int) -> str:
    line = one_line(text)
    return line if len(line) <= most else f"{line[:most].rstrip()} …"
