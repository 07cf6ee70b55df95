"""axe-core on a page: what it finds that hinders people, and what of it is Streamlit's own."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import pytest

from tools.javascript.packages import axe_script

HINDERS = ("critical", "serious")
_RUN = """(rules) => {
  const options = { resultTypes: ["violations"], elementRef: false };
  if (rules) options.runOnly = rules;
  return axe.run(document, options).then(({ violations }) => violations.flatMap(
    ({ id, impact, nodes }) => nodes.map(({ target, html, any, all, none }) => ({
      rule: id,
      impact,
      selector: target.flat().join(" >>> "),
      html: html.slice(0, 200),
      why: [...any, ...all, ...none][0]?.message ?? "",
    }))));
}"""


class Allowed(NamedTuple):
    """A finding in what is not ours: the rule, words of its selector or HTML, why it stays."""

    rule: str
    has: str
    why: str


class Axe:
    """Looks at pages; what is allowed and was met is noted in ``met``."""

    def __init__(self, allowed: Iterable[Allowed]) -> None:
        script = axe_script()
        if script is None:
            pytest.skip("axe-core is not installed: python -m tools.javascript.check gets it")
        self._script = script.read_text(encoding="utf-8")
        self.allowed = tuple(allowed)
        self.met: set[Allowed] = set()

    def findings(self, page: Any, *rules: str) -> list[str]:
        """Return what hinders people on the page as it stands, one line each.

        All rules are asked, or only those that are named.
        """
        if not page.evaluate("'axe' in window"):
            page.evaluate(self._script)
        found = page.evaluate(_RUN, list(rules) or None)
        return [
            "{impact} {rule}: {selector} | {html} | {why}".format(**one)
            for one in found
            if one["impact"] in HINDERS and not self._is_allowed(one)
        ]

    def _is_allowed(self, one: dict[str, str]) -> bool:
        for allowed in self.allowed:
            if allowed.rule == one["rule"] and allowed.has in one["selector"] + one["html"]:
                self.met.add(allowed)
                return True
        return False

    @property
    def stale(self) -> list[Allowed]:
        """What is allowed and occurs no more."""
        return [one for one in self.allowed if one not in self.met]
