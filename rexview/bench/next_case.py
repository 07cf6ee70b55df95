"""How long the next case takes when a reader presses a key ten times a second: ``bench viewer``.

Real presses on the Case page and on the plain page beside it. A press has been met when the picture
(or the text) of its case is there, or that of a later press, which a page may go on to at once.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, Final

from rexview.bench.measure import Row, at_most, result

PRESSES: Final = 20
PER_SECOND: Final = 10
PICTURE_MS: Final = 50
TEXT_MS: Final = 150
_NAIVE: Final = "plain Streamlit page"
_BURSTS: Final = 4
_LOOK_MS: Final = 4000
"""A reader looks at a case before the presses; meanwhile the next ones are fetched."""
_STILL_MS: Final = 2000
_LIMIT_S: Final = 60.0
_WATCH: Final = """
() => {
  window.turned = { keys: [], picture: [], text: [] };
  const { keys, picture, text } = window.turned;
  const note = (list, name) => {
    if (name && list.at(-1)?.[1] !== name) list.push([performance.now(), name]);
  };
  const turns = (event) => 'jknp'.includes(event.key) && keys.push(event.timeStamp);
  addEventListener('keydown', turns, true);
  addEventListener('rexview:painted', (event) => note(picture, event.detail.case));
  const look = () => {
    const plain = document.querySelector('#shown')?.dataset.case;
    const pad = document.querySelector('.rx-pad:not(.turning) .place')?.title;
    note(text, plain ?? pad ?? document.querySelectorAll('.rx-place b')[1]?.textContent);
    const image = document.querySelector('[data-testid="stImage"] img');
    if (plain && image?.complete && image.src !== window.lastSource) {
      window.lastSource = image.src;
      note(picture, plain);
    }
    requestAnimationFrame(look);
  };
  look();
}
"""


def rows(
    ours: Any,
    naive: Any,
    cases: Sequence[str],
    *,
    what_is_turned: str = "next case",
    keys: tuple[str, str] = ("j", "k"),
    before_each: str = "",
) -> list[Row]:
    """Measure on two open pages; ``cases`` are those of ours in their order, its first is shown.

    ``keys`` lead on and back there; keys of ``before_each`` are pressed before each of them. The
    plain page shows some case. It loses presses that come while it runs.
    """
    for page in (ours, naive):
        page.evaluate(_WATCH)
    found: dict[str, list[float]] = {}
    pressed = 0
    for burst in range(_BURSTS):
        key, walk = (keys[0], cases[1:]) if burst % 2 == 0 else (keys[1], cases[-2::-1])
        number = int(naive.locator("#shown").get_attribute("data-case"))
        numbers = [str(number + step) for step in range(1, PRESSES + 1)]
        for name, page, pressed_keys, wanted in (
            ("ours", ours, before_each + key, walk),
            ("naive", naive, "j", numbers),
        ):
            for what, delays in _burst(page, pressed_keys, wanted[:PRESSES]).items():
                found.setdefault(f"{name} {what}", []).extend(delays)
        pressed += PRESSES
    lost = {name: pressed - len(found[f"{name} picture"]) for name in ("ours", "naive")}
    note = f"of {pressed} presses lost: {lost['ours']}, by the plain page {lost['naive']}"
    return [
        result(
            f"{what_is_turned} at {PER_SECOND} presses a second: {what}, {share}",
            _percentile(found[f"ours {what}"], percent),
            "ms",
            alternative=_percentile(found[f"naive {what}"], percent),
            name=_NAIVE,
            goal=at_most(limit) if percent == 95 else None,
            note=note,
        )
        for what, limit in (("picture", PICTURE_MS), ("text", TEXT_MS))
        for share, percent in (("median", 50), ("95th of 100", 95))
    ]


def _burst(page: Any, keys: str, wanted: Sequence[str]) -> dict[str, list[float]]:
    """Press keys; return the ms from each of the last to the picture and the text of its case."""
    page.wait_for_timeout(_LOOK_MS)
    page.evaluate("() => { for (const one of Object.values(window.turned)) one.length = 0; }")
    begin = time.monotonic()
    for number, _ in enumerate(wanted):
        page.wait_for_timeout(max(0.0, 1000 * (begin + number / PER_SECOND - time.monotonic())))
        for key in keys:
            page.keyboard.press(key)
    length, limit = -1, time.monotonic() + _LIMIT_S
    while time.monotonic() < limit:
        page.wait_for_timeout(_STILL_MS)
        log = page.evaluate("window.turned")
        if length == sum(map(len, log.values())):
            break
        length = sum(map(len, log.values()))
    return {what: _delays(log["keys"], log[what], wanted) for what in ("picture", "text")}


def _delays(
    keys: Sequence[float], shown: Sequence[tuple[float, str]], wanted: Sequence[str]
) -> list[float]:
    """Return the ms of each press that was met."""
    found = []
    for number, pressed in enumerate(keys):
        met = [at for at, case in shown if at >= pressed and case in wanted[number:]]
        found += [min(met) - pressed] if met else []
    return found


def _percentile(values: Sequence[float], percent: int) -> float | None:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, len(ordered) * percent // 100)] if ordered else None
