"""The sheets of one case: films with boxes, answers side by side, report and failures, scores."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import Final

from rexview.errors import ImageError, PathEscape
from rexview.export.job import Progress
from rexview.export.records import Content, ExportAnswer, ExportCase, ExportImage
from rexview.export.sheets.film import Numbered, film
from rexview.export.sheets.flow import GUTTER, Column, Stack, flow, height_of, largest
from rexview.export.sheets.frame import Frame
from rexview.export.sheets.measure import broken, printable
from rexview.export.sheets.pictures import Picture, picture
from rexview.export.sheets.sheet import (
    QUIET,
    Element,
    Paragraph,
    Place,
    Run,
    Sheet,
    Text,
    paragraph,
)
from rexview.export.sheets.tables import case_decisions, final_scores, single_scores
from rexview.export.sheets.wording import (
    answer_heading,
    answer_text,
    box_lines,
    flag_lines,
    labelled,
    mark_lines,
    one_line,
    options,
    quiet_line,
    undrawn_lines,
    vote_words,
)
from rexview.vocab import DIMENSION_NAMES

_WIDEST_FILM: Final = 560.0
_SIZES: Final = (18.0, 16.0, 14.0, 12.0)
"""Of answers and reports: the largest in which they fit on one sheet."""
_SIDE_BY_SIDE: Final = 3
_SHORT_QUESTION: Final = 300
"""A question of at most so many characters stands beside the further films, too."""


def case_sheets(
    content: Content, frame: Frame, case: ExportCase, progress: Progress
) -> Iterator[Sheet]:
    """Yield the sheets of a case; what is not there has none."""
    name = one_line(case.id)
    total = len(content.case_ids)
    aside = f"Case {case.number:,} of {total:,}" if total > 1 else ""
    begins = True
    sheets = _films(content, frame, case, progress)
    for part in (sheets, _answers(content, frame, case), _report(content, frame, case)):
        for title, elements in part:
            yield frame.sheet(f"{name} · {title}", elements, aside=aside, begins=begins)
            begins = False
    title = "Scores and decisions" if case.decisions else "Scores"
    title = title if case.scores else "Discussion"
    for number, elements in enumerate(_scores(content, frame, case)):
        title += ", continued" if number == 1 else ""
        yield frame.sheet(f"{name} · {title}", elements, aside=aside, begins=begins)
        begins = False


_Titled = tuple[str, list[Element]]


def _films(
    content: Content, frame: Frame, case: ExportCase, progress: Progress
) -> Iterator[_Titled]:
    """Yield each film with the boxes on it; the question stands beside the first one."""
    returned = [image for answer in case.answers for image in answer.pictures]
    images = sorted(case.images, key=lambda image: (image.prior, not image.key))
    first = True
    for image in [*images, *returned]:
        progress.check()
        of_case = image.model is None
        boxes = case.boxes_on(image.id) if of_case else ()
        numbered = [Numbered(number, box) for number, box in enumerate(boxes, 1)]
        made, reason = _read(image)
        if reason:
            progress.note(f"{case.id}, {image.title}: {reason}")
        beside = _beside(content, case, numbered, reason, first)
        title = _picture_title(content, image)
        yield from _film_sheets(content, frame, image, made, numbered, beside, title)
        first = False
    if first:
        columns = flow(_question(content, case), frame.body.width, frame.body.height)
        for column in columns:
            yield "Question", [Text(_at(frame.body, column), column, "Question")]


def _read(image: ExportImage) -> tuple[Picture | None, str]:
    try:
        return picture(image.read()), ""
    except (ImageError, PathEscape) as error:
        return None, str(error)


def _picture_title(content: Content, image: ExportImage) -> str:
    if image.model is None:
        return one_line(image.title)
    name = one_line(content.model(image.model).name)
    title = one_line(image.title)
    return title if name in title else f"{name}: {title}"


def _film_sheets(
    content: Content,
    frame: Frame,
    image: ExportImage,
    made: Picture | None,
    boxes: Sequence[Numbered],
    beside: Sequence[Paragraph],
    title: str,
) -> Iterator[_Titled]:
    body = frame.body
    most = Place(body.x, body.y, _WIDEST_FILM, body.height)
    laid = film(content, image, made, most, boxes)
    left = laid.place.right + GUTTER
    panel = Place(left, body.y, body.right - left, body.height)
    first, *_ = flow(beside, panel.width, panel.height)
    elements: list[Element] = [laid]
    if first:
        elements.append(Text(_at(panel, first), first, "Beside the film"))
    yield title, elements
    rest = _after(beside, first, panel.width)
    if rest:
        stack = Stack(body)
        stack.text(rest, "Beside the film", columns=2)
        for more in stack.sheets:
            yield f"{title}, continued", more


def _after(every: Sequence[Paragraph], shown: Column, width: float) -> list[Paragraph]:
    """Return what is left of paragraphs of which the first lines were shown in a width."""
    left = sum(len(one.lines) for one in shown)
    rest = []
    for one in every:
        lines = broken(one, width).lines
        if left < len(lines):
            runs = tuple(run for line in lines[left:] for run in line)
            rest.append(Paragraph((runs,), one.size, one.indent, one.before, one.keep))
        left = max(left - len(lines), 0)
    return rest


def _beside(
    content: Content,
    case: ExportCase,
    boxes: Sequence[Numbered],
    reason: str,
    first: bool,
) -> list[Paragraph]:
    """Return what stands beside a film."""
    made = []
    if reason:
        words = f"This picture cannot be shown: {one_line(reason)}"
        made.append(paragraph(words, size=14, bold=True))
    if not first:
        asked = one_line(case.question)
        if len(asked) <= _SHORT_QUESTION:
            made.append(paragraph(asked, size=13, colour=QUIET))
        return made + box_lines(content, [(one.number, one.box) for one in boxes])
    question = _question(content, case)
    return [*made, *question, *box_lines(content, [(one.number, one.box) for one in boxes])]


def _question(content: Content, case: ExportCase) -> list[Paragraph]:
    lines = [one for one in printable(case.question).split("\n") if one.strip()]
    size = 18.0 if sum(map(len, lines)) <= 240 else 14.0
    made = [paragraph(line, size=size, bold=True) for line in lines]
    if case.options:
        made += [paragraph("", size=6), *options(case)]
    context = case.context
    who = ", ".join(one_line(part) for part in (context.age, context.sex) if part)
    made += labelled("Age, sex", who, 13)
    made += labelled("Indication", context.indication, 13)
    made += labelled("Comparison", context.comparison, 13)
    made += labelled("Section of the meeting", case.section, 13)
    return made + undrawn_lines(content, case)


def _at(place: Place, column: Column) -> Place:
    """Return the part of a place that a column of text takes."""
    return Place(place.x, place.y, place.width, height_of(column))


def _answers(content: Content, frame: Frame, case: ExportCase) -> Iterator[_Titled]:
    """Yield the answers side by side, on as many sheets as the longest needs."""
    in_a_row = 2 if len(case.answers) == 4 else _SIDE_BY_SIDE
    for at in range(0, len(case.answers), in_a_row):
        yield from _answer_row(content, frame, case, case.answers[at : at + in_a_row])


def _answer_row(
    content: Content, frame: Frame, case: ExportCase, answers: Sequence[ExportAnswer]
) -> Iterator[_Titled]:
    body = frame.body
    width = (body.width - GUTTER * (len(answers) - 1)) / len(answers)
    headings = [
        [broken(one, width) for one in answer_heading(content, case, answer)] for answer in answers
    ]
    high = max(sum(one.height for one in heading) for heading in headings) + 8
    columns = largest(
        lambda size: [answer_text(one, size) for one in answers], _SIZES, width, body.height - high
    )
    for number, parts in enumerate(zip_longest(*columns)):
        elements: list[Element] = []
        for place, (heading, column) in enumerate(zip(headings, parts, strict=True)):
            if column is None:
                continue
            x = body.x + place * (width + GUTTER)
            head = (broken(_without_space(heading[0]), width), *heading[1:])
            name = one_line(content.model(answers[place].model).name)
            elements += [
                Text(Place(x, body.y, width, height_of(head)), head, f"Model: {name}"),
                Text(Place(x, body.y + high, width, height_of(column)), column, f"Answer: {name}"),
            ]
        word = "Answer" if len(case.answers) == 1 else "Answers"
        yield word + (", continued" if number else ""), elements


def _without_space(one: Paragraph) -> Paragraph:
    return Paragraph(one.lines, one.size, one.indent, 0.0, one.keep)


def _report(content: Content, frame: Frame, case: ExportCase) -> Iterator[_Titled]:
    """Yield the report beside the failures."""

    def parts(size: float) -> dict[str, list[Paragraph]]:
        report = [
            *quiet_line(case.report_not_read, size),
            *labelled("Findings", case.report.findings, size),
            *labelled("Impression", case.report.impression, size),
            *labelled("Why the right option is right", case.explanation, size),
        ]
        failures = flag_lines(content, case.flags, size) + mark_lines(content, case.marks, size)
        every = {"Report": report, "Failures": failures}
        return {name: lines for name, lines in every.items() if lines}

    names = list(parts(_SIZES[0]))
    if not names:
        return
    body = frame.body
    width = (body.width - GUTTER * (len(names) - 1)) / len(names)
    heads = [[paragraph(name, size=16, bold=True, keep=True)] for name in names]
    if len(names) == 1:
        heads = [[]]
    flows = largest(
        lambda size: [
            [*head, *lines] for head, lines in zip(heads, parts(size).values(), strict=True)
        ],
        _SIZES,
        width,
        body.height,
    )
    title = names[0] if len(names) == 1 else "Report and failures"
    for number, columns in enumerate(_beside_each_other(names, flows)):
        elements: list[Element] = []
        for place, (name, column) in enumerate(columns):
            x = body.x + place * (width + GUTTER)
            elements.append(Text(Place(x, body.y, width, height_of(column)), column, name))
        yield title + (", continued" if number else ""), elements


def _beside_each_other(
    names: Sequence[str], flows: Sequence[Sequence[Column]]
) -> Iterator[list[tuple[str, Column]]]:
    """Yield what stands beside each other; where one text has ended, the longer one has both."""
    shortest = min(map(len, flows))
    for place in range(shortest):
        yield [(name, columns[place]) for name, columns in zip(names, flows, strict=True)]
    rest = [
        (name, column)
        for name, columns in zip(names, flows, strict=True)
        for column in columns[shortest:]
    ]
    for at in range(0, len(rest), len(flows)):
        yield rest[at : at + len(flows)]


def _scores(content: Content, frame: Frame, case: ExportCase) -> list[list[Element]]:
    """Return scores, decisions, votes and comments, one below the other."""
    stack = Stack(frame.body)
    for heading, head, cells in (
        final_scores(content, case),
        single_scores(content, case),
        case_decisions(content, case),
    ):
        if cells:
            stack.table(heading, head, cells)
    if case.vote:
        right, harm = vote_words(content, case.vote)
        words = f"{case.vote.count:,} voted. Held right: {right}. Harm: {harm}."
        title = paragraph("Vote before the models were named", size=16, bold=True, keep=True)
        stack.text([title, paragraph(words)], "Vote")
    if said := _comments(content, case):
        stack.text([paragraph("Comments", size=16, bold=True, keep=True), *said], "Comments", 2)
    return stack.sheets


def _comments(content: Content, case: ExportCase) -> list[Paragraph]:
    """Return what readers wrote beside their scores, then comments."""
    made: list[Paragraph] = []
    last = ("", "")
    places = {model.id: place for place, model in enumerate(content.models)}
    for score in sorted(case.scores, key=lambda one: (places[one.model], one.reader)):
        if not (score.comment and score.comment.strip()):
            continue
        if (score.model, score.reader) != last:
            last = (score.model, score.reader)
            reader = content.readers.get(score.reader, score.reader)
            made.append(_who(f"{reader} on {content.model(score.model).name}"))
        made += _said(f"{DIMENSION_NAMES[score.dimension]}: ", score.comment)
    for comment in case.comments:
        on = f"{content.model(comment.model).name}, {comment.on}" if comment.model else comment.on
        settled = ", resolved" if comment.resolved else ""
        made += [_who(f"{comment.person} on {on}{settled}"), *_said("", comment.text)]
    return made


def _who(words: str) -> Paragraph:
    return paragraph(one_line(words), size=13, bold=True, colour=QUIET, before=6, keep=True)


def _said(about: str, text: str) -> list[Paragraph]:
    first, *rest = [one for one in printable(text).split("\n") if one.strip()] or [""]
    return [
        paragraph(Run(about, True), Run(first), size=13),
        *(paragraph(one, size=13) for one in rest),
    ]
