"""What lies under something that floats over a page, wherever the page is scrolled to."""

from __future__ import annotations

from typing import Any

_UNDER = """async (floats) => {
  const main = document.querySelector('[data-testid=stMain]');
  const found = new Set();
  const meets = (one, other) => one.left < other.right && one.right > other.left
    && one.top < other.bottom && one.bottom > other.top;
  const shown = (box, element) => {
    const room = element.parentElement.closest('[data-rx-column=texts], [data-testid=stMain]');
    const edge = room.getBoundingClientRect();
    return box.top < edge.bottom && box.bottom > edge.top;
  };
  const look = () => {
    const over = document.querySelector(floats);
    const { left, right, top, bottom } = over.getBoundingClientRect();
    const room = main.getBoundingClientRect();
    const seen = { left, right, top, bottom: Math.min(bottom, room.bottom) };
    if (seen.bottom <= seen.top) return;
    const words = document.createTreeWalker(main, NodeFilter.SHOW_TEXT);
    for (let node = words.nextNode(); node; node = words.nextNode()) {
      if (!node.textContent.trim() || over.contains(node)) continue;
      const range = document.createRange();
      range.selectNodeContents(node);
      for (const box of range.getClientRects()) {
        const wide = box.width > 2 && box.height > 2;
        if (wide && meets(box, seen) && shown(seen, node)) found.add(node.textContent.trim());
      }
    }
  };
  for (let place = 0; ; place += 40) {
    main.scrollTop = place;
    await new Promise(requestAnimationFrame);
    look();
    if (main.scrollTop < place) break;
  }
  main.scrollTop = 0;
  return [...found];
}"""


def words_under(page: Any, floats: str) -> list[str]:
    """Return the words of the page that ``floats``, a selector, covers at some place of it."""
    return page.evaluate(_UNDER, floats)
