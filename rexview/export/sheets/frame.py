"""What stands on every sheet: its title above, the set's notice below."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rexview.export.records import Content
from rexview.export.sheets.flow import flow, height_of, plain_lines
from rexview.export.sheets.measure import broken, printable
from rexview.export.sheets.sheet import (
    HEIGHT,
    MARGIN,
    QUIET,
    WIDTH,
    Element,
    Place,
    Sheet,
    Text,
    paragraph,
)

_TOP: Final = 18.0
_HEAD: Final = 40.0
_LOW_HEAD: Final = 18.0
"""Of a sheet of small print."""
_FOOT_SIZE: Final = 10.0
_FOOT_LINES: Final = 4
"""A notice that needs more stands on the first sheet only, and every other one points there."""
_ASIDE: Final = 150.0
"""For the place in the list, at the right of the title."""
NUMBER_WIDTH: Final = 48.0
_SIZES: Final = (24.0, 20.0, 16.0, 14.0, 10.5, 6.0)
_FULL_NOTICE: Final = "Read the notice on the first sheet."


class Frame:
    """Makes sheets of one export."""

    def __init__(self, content: Content) -> None:
        self.title = printable(content.title).replace("\n", " ")
        room = WIDTH - 2 * MARGIN - NUMBER_WIDTH
        lines = plain_lines(content.notice, size=_FOOT_SIZE, colour=QUIET)
        foot = flow(lines, room, HEIGHT)[0]
        if sum(len(one.lines) for one in foot) > _FOOT_LINES:
            foot = (broken(paragraph(_FULL_NOTICE, size=_FOOT_SIZE, colour=QUIET), room),)
        high = height_of(foot)
        place = Place(MARGIN, HEIGHT - 12 - high, room, high)
        self._foot = Text(place, foot, "Notice")
        self.body, self.small_body = (
            Place(MARGIN, top, WIDTH - 2 * MARGIN, place.y - 8 - top)
            for top in (_TOP + _HEAD + 8, _TOP + _LOW_HEAD + 6)
        )

    def sheet(
        self,
        title: str,
        elements: Sequence[Element],
        *,
        aside: str = "",
        begins: bool = False,
        small: bool = False,
    ) -> Sheet:
        """Make a sheet; ``aside`` stands at the right of its title, which an empty one lacks.

        A ``small`` title leaves more room: what lies on the sheet may lie in ``small_body``.
        """
        title = printable(title).replace("\n", " ")
        if not title:
            return Sheet(self.title, (*elements, *self._footer()), begins)
        right = _ASIDE if aside else 0.0
        high = _LOW_HEAD if small else _HEAD
        place = Place(MARGIN, _TOP, WIDTH - 2 * MARGIN - right, high)
        for size in _SIZES:
            head = broken(paragraph(title, size=size, bold=True), place.width)
            if head.height <= high:
                break
        every: list[Element] = [Text(place, (head,), "Title")]
        if aside:
            beside = broken(paragraph(aside, size=12, colour=QUIET), right)
            at = Place(place.right, _TOP + (0 if small else 6), right, beside.height)
            every.append(Text(at, (beside,), "Place in the list", at_right=True))
        return Sheet(title, (*every, *elements, *self._footer()), begins)

    def _footer(self) -> list[Text]:
        return [self._foot] if any(one.text.strip() for one in self._foot.paragraphs) else []
