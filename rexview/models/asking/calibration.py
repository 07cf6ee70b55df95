"""Find a model's box coordinates with a phantom: films with lettered squares at known places.

There are two films, portrait (2048 x 2500) and landscape (2500 x 2048 pixels). The squares are
placed so that an answer fits one coordinate convention and no other.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import date
from pathlib import Path
from typing import Final, get_args

import cv2
import numpy as np
import yaml
from numpy.typing import NDArray

from rexview.errors import SettingsError
from rexview.geometry import box_problem, iou
from rexview.models.asking.box_coordinates import FourNumbers, describe_box_form, to_stored_pixels
from rexview.models.asking.model_cards import MODELS_FILE, read_cards
from rexview.models.asking.prompts import fill_template
from rexview.models.asking.request_images import encode_pixels
from rexview.models.backend import (
    AttemptFailed,
    Backend,
    Card,
    ModelRequest,
    Parameters,
    Prompt,
    Reply,
)
from rexview.schema import StudyImage
from rexview.text.written_boxes import BoxForm, Convention, Corners, WrittenBox, boxes_in_text

MIN_IOU: Final = 0.5
"""Mean overlap (IoU) with the squares from which a convention is accepted."""
FILMS: Final = {"upright": (2048, 2500), "lying": (2500, 2048)}
"""Width and height of the films, pixels."""
_SQUARES: Final[dict[str, dict[str, tuple[int, int, int]]]] = {
    "upright": {"A": (360, 1920, 240), "B": (1560, 780, 280), "C": (410, 260, 320)},
    "lying": {"D": (1730, 1330, 200), "E": (980, 270, 320), "F": (480, 150, 280)},
}
"""Left, top and side of each square, by its letter. The places were drawn at random and kept
because
an answer that is exact in one convention overlaps by less than 0.4 in every other one."""
_QUESTION: Final = (
    "This is a test picture, no radiograph. It shows bright squares, each with a dark letter in "
    "it: {letters}. Give the box of every square, as tight as it can be drawn, with its letter as "
    "the label. Write the boxes as a JSON list and nothing else, each as {form}. The numbers are "
    "{words}."
)


@dataclass(frozen=True)
class Calibration:
    """Result of a calibration.

    ``form`` is the model's box form, None if no convention fits. ``overlap`` is the mean IoU of the
    best one, ``tried`` that of each, by convention and order. ``marked`` of ``squares`` had a box
    with their letter.
    """

    form: BoxForm | None
    overlap: float
    tried: Mapping[tuple[Convention, Corners], float]
    marked: int
    squares: int
    texts: tuple[str, ...]


def draw_film(name: str) -> NDArray[np.uint8]:
    """Draw a film: grey levels, shape (rows, columns)."""
    width, height = FILMS[name]
    pixels = np.full((height, width), 40, np.uint8)
    for letter, (left, top, side) in _SQUARES[name].items():
        pixels[top : top + side, left : left + side] = 230
        scale = side / 40
        (wide, high), _ = cv2.getTextSize(letter, cv2.FONT_HERSHEY_SIMPLEX, scale, side // 16)
        place = (left + (side - wide) // 2, top + (side + high) // 2)
        cv2.putText(pixels, letter, place, cv2.FONT_HERSHEY_SIMPLEX, scale, 20, side // 16)
    return pixels


def film_squares(name: str) -> dict[str, FourNumbers]:
    """Return x, y, width, height in pixels of a film's squares, by letter."""
    return {letter: (left, top, side, side) for letter, (left, top, side) in _SQUARES[name].items()}


def phantom_requests(card: Card, prompt: Prompt, parameters: Parameters) -> list[ModelRequest]:
    """Make the request for each film, in the words that cases use.

    Raises
    ------
    AttemptFailed
        The model takes no pictures.
    """
    if card.images < 1:
        raise AttemptFailed("setup", "By its card this model takes no images: it has no boxes.")
    requests = []
    numbers = describe_box_form(card.boxes).partition("]")[0]
    form = f'{{"label": the letter, "{card.boxes.key}": {numbers}]}}'
    for name in FILMS:
        picture = encode_pixels(StudyImage(name, ""), draw_film(name), card)
        letters = ", ".join(_SQUARES[name])
        values = {"letters": letters, "form": form, "words": describe_box_form(card.boxes)}
        caption = f"Image 1: {picture.width} x {picture.height} pixels."
        requests.append(
            ModelRequest(
                case=f"phantom-{name}",
                repeat=1,
                system="",
                parts=(caption, picture, fill_template(_QUESTION, values)),
                parameters=replace(parameters, structured=False),
                prompt_id=prompt.id,
                prompt_hash=prompt.hash,
            )
        )
    return requests


def calibrate(backend: Backend, card: Card, prompt: Prompt, parameters: Parameters) -> Calibration:
    """Ask a model for the boxes of the phantom and return the convention that fits.

    Sends two requests and writes nothing.

    Raises
    ------
    AttemptFailed
        A request got no answer.
    """
    requests = phantom_requests(card, prompt, parameters)
    replies: list[Reply] = []
    for request in requests:
        [came] = backend.ask([request])
        if isinstance(came, AttemptFailed):
            raise came
        replies.append(came)
    return evaluate_replies(requests, [reply.text for reply in replies], card.boxes)


def evaluate_replies(
    requests: Sequence[ModelRequest], texts: Sequence[str], asked: BoxForm
) -> Calibration:
    """Compare the answers to the phantom with each convention.

    The first of the best is taken: the card's own convention, if that fits as well.
    """
    written = [_boxes_by_letter(text, asked) for text in texts]
    tried: dict[tuple[Convention, Corners], float] = {}
    for form in _candidates(asked):
        overlaps = [
            _overlap(boxes.get(letter), box, form, request)
            for request, boxes, name in zip(requests, written, FILMS, strict=True)
            for letter, box in film_squares(name).items()
        ]
        tried[form.convention, form.corners] = sum(overlaps) / len(overlaps)
    best = max(tried, key=lambda one: round(tried[one], 3))
    fits = tried[best] >= MIN_IOU
    total = sum(len(film_squares(name)) for name in FILMS)
    return Calibration(
        form=BoxForm(*best, key=asked.key) if fits else None,
        overlap=tried[best],
        tried=tried,
        marked=sum(map(len, written)),
        squares=total,
        texts=tuple(texts),
    )


def _candidates(asked: BoxForm) -> Iterator[BoxForm]:
    if asked.convention != "unknown":
        yield asked
    for convention in get_args(Convention):
        for corners in get_args(Corners):
            if convention != "unknown":
                yield BoxForm(convention, corners, asked.key)


def _boxes_by_letter(text: str, form: BoxForm) -> dict[str, WrittenBox]:
    """Return the first box of each letter; the field's name does not decide the order here."""
    letters = {letter for name in FILMS for letter in _SQUARES[name]}
    found: dict[str, WrittenBox] = {}
    for one in boxes_in_text(text, form).boxes:
        words = one.label.upper().replace("SQUARE", "").replace("LETTER", "").strip(" \"'.:")
        if words in letters:
            found.setdefault(words, one)
    return found


def _overlap(
    one: WrittenBox | None, box: FourNumbers, form: BoxForm, request: ModelRequest
) -> float:
    if one is None:
        return 0.0
    placed = to_stored_pixels(one.numbers, form, request.images[0])
    return 0.0 if box_problem(placed) else iou(placed, box)


# The result of a calibration, written into a user's own ``models.yaml``.

_HEAD = re.compile(r"^models:[ \t]*(?:#.*)?$", re.MULTILINE)
_FIRST = re.compile(r"^([ ]*)-(?=\s)", re.MULTILINE)


def calibrated_form(found: Calibration, prompt: Prompt, today: date) -> BoxForm | None:
    """Return the calibrated form with date and prompt; None if no convention fits."""
    if found.form is None:
        return None
    how = f"{today.isoformat()}, prompt {prompt.id} {prompt.hash[:12]}, IoU {found.overlap:.2f}"
    return replace(found.form, source="phantom with squares at known places", calibrated=how)


def save_form(model: str, form: BoxForm, path: Path | None = None) -> Path:
    """Write a model's box form as the first entry of a file; the rest of the file is unchanged.

    Raises
    ------
    SettingsError
        The file cannot be read or written, or has a form that takes no new entry.
    """
    path = path or Path(MODELS_FILE)
    read_cards(path)
    entry = {"match": [_exact_pattern(model)], "draws_boxes": True, "boxes": asdict(form)}
    lines = yaml.safe_dump([entry], sort_keys=False, allow_unicode=True, width=1000)
    try:
        before = path.read_text(encoding="utf-8") if path.exists() else "models:\n"
        after = _with_entry(before, lines)
        if after is None:
            raise SettingsError(f"{path.name}: write this into it by hand:\n{lines}")
        replace_file(path, after)
        try:
            read_cards(path)
        except SettingsError:  # the file's old content did not take it
            replace_file(path, before)
            raise SettingsError(f"{path.name}: write this into it by hand:\n{lines}") from None
    except OSError as error:
        raise SettingsError(f"{path.name} cannot be written: {error.strerror}.") from None
    return path


def _exact_pattern(model: str) -> str:
    """Return a pattern that matches only this name."""
    return re.sub(r"([*?\[])", r"[\1]", model.lower())


def _with_entry(before: str, lines: str) -> str | None:
    head = _HEAD.search(before)
    if head is None:
        return None
    first = _FIRST.search(before, head.end())
    indent = first[1] if first else ""
    entry = "".join(f"{indent}{line}\n" for line in lines.splitlines())
    rest = before[head.end() :].removeprefix("\n")
    return f"{before[: head.end()]}\n{entry}{rest}"


def replace_file(path: Path, content: str) -> None:
    """Write a file completely, or leave it unchanged."""
    descriptor, part = tempfile.mkstemp(dir=path.resolve().parent, suffix=".part")
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(content)
        if path.exists():
            Path(part).chmod(path.stat().st_mode & 0o777)
        Path(part).replace(path.resolve())
    finally:
        Path(part).unlink(missing_ok=True)
