"""The harm that a failure of an answer can do to a patient, as data: 0 (none) to 4 (grave).

``harm.yaml`` in the same folder has the meaning of each level, the harm of each failure and of each
finding, and the reasons. A review set may bring a file of its own that replaces some of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Final

from rexview.errors import FileRefused
from rexview.untrusted_input import read_untrusted_yaml
from rexview.vocab import FAILURES
from rexview.words import mid_sentence, tr, tr_file_text

_BUILT_IN: Final = Path(__file__).with_name("harm.yaml")
MAX_HARM: Final = 4
NO_ANSWER_HARM: Final = "no_answer"
"""Takes the place of a failure if an answer never came and no failure gives the reason."""
_BY_HARM, _BY_READER, _BY_HINT, _BY_HINT_ALONE = 100.0, 10.0, 0.001, 20.0
"""Far enough apart that no number of a later step outweighs one of an earlier step."""
_PARTS: Final = ("levels", "failures", "findings", NO_ANSWER_HARM)


class HarmTableError(FileRefused):
    """A table of harm is invalid; the message gives the place, the reason and the remedy."""


@dataclass(frozen=True)
class FailureHarm:
    """The harm of one failure.

    ``harm`` counts if the finding is unknown. With ``by_finding`` the harm is that of the finding,
    ``less`` points lower. ``words`` names it on the page, with ``{finding}`` for the name of the
    finding.
    """

    harm: int
    words: str
    by_finding: bool = False
    less: int = 0


@dataclass(frozen=True)
class HarmTable:
    """The harm of failures and findings, and the meaning of the levels."""

    levels: Mapping[int, str]
    failures: Mapping[str, FailureHarm]
    findings: Mapping[str, int]

    def of(self, failure: str, finding: str | None = None) -> int:
        """Return the harm of a failure, 0 to 4; ``finding`` is None if unknown.

        A failure whose harm depends on its finding does at least 1, unless the finding itself does
        none.
        """
        entry = self.failures[failure]
        known = self.findings.get(finding) if finding and entry.by_finding else None
        return entry.harm if known is None else max(known - entry.less, min(known, 1))

    def name_of(self, level: int) -> str:
        """Return a level in a word or two: its meaning up to the first full stop.

        >>> load_harm().name_of(3)
        'Serious'
        """
        return self.levels[level].partition(". ")[0].removesuffix(".")

    def meaning_of(self, level: int) -> str:
        """Return a level's meaning, with its place on the scale; empty for an unknown level."""
        if level not in self.levels:
            return ""
        words = tr("{meaning} (harm {level} on a scale from 0 to {most})")
        return words.format(meaning=self.levels[level], level=level, most=MAX_HARM)

    def describe(self, failure: str, finding_name: str | None = None) -> str:
        """Describe a failure in a few words: ``pneumothorax on the wrong side``.

        Without a finding this is the failure's name: ``laterality error``.
        """
        words = tr_file_text(self.failures[failure].words)
        if "{finding}" in words and not finding_name:
            return mid_sentence(FAILURES[failure].name)
        return words.replace("{finding}", finding_name or "")


def severity_sort_value(harm: Any, confirmed: Any, suggested: Any) -> Any:
    """Return a number to sort answers by: the larger, the more severe their failure.

    Parameters
    ----------
    harm : int, or array
        Of the worst failure, 0 to 4.
    confirmed : bool, or array
        True if a reader confirmed that failure.
    suggested : int, or array
        Harm of the worst failure that a rule only suggests, 1 to 4, 0 without any.

    Returns
    -------
    float, or array
        Points of Content that an answer lost, at most 4, may be added.
    """
    by_hint = (harm == 0) * _BY_HINT_ALONE + (harm > 0) * _BY_HINT
    return _BY_HARM * harm + _BY_READER * confirmed + by_hint * suggested


def load_harm(path: Path | None = None) -> HarmTable:
    """Read a table of harm: the built-in one, or a file that replaces some of its entries.

    The YAML file has ``failures``, ``findings``, ``levels`` or ``no_answer``; an entry is a number
    from 0 to 4, or keys as in the built-in file.

    Raises
    ------
    HarmTableError
        An entry is invalid; the message gives the entry, its fault and the remedy.
    FileRefused
        The file is not YAML, or exceeds the limits of :mod:`rexview.untrusted_input`.
    OSError
        The file cannot be read.
    """
    return _built_in() if path is None else _read(path, _built_in())


@cache
def _built_in() -> HarmTable:
    return _read(_BUILT_IN, None)


def _read(path: Path, usual: HarmTable | None) -> HarmTable:
    raw = read_untrusted_yaml(path) or {}
    if not isinstance(raw, Mapping):
        raise HarmTableError("The file has no keys. Write failures: or findings: with entries.")
    for part in raw:
        if part not in _PARTS:
            raise HarmTableError(f"There is no part {part!r:.60}. There are {', '.join(_PARTS)}.")
    failures = dict(usual.failures) if usual else {}
    known = set(failures) if usual else {*FAILURES, NO_ANSWER_HARM}
    given = dict(_part(raw, "failures"))
    if raw.get(NO_ANSWER_HARM) is not None:
        given[NO_ANSWER_HARM] = raw[NO_ANSWER_HARM]
    for name, entry in given.items():
        if name not in known:
            raise HarmTableError(f"failures: there is no failure {name!r:.60}. See FORMAT.md.")
        failures[name] = _failure(str(name), entry, failures.get(name))
    findings = dict(usual.findings) if usual else {}
    for name, entry in _part(raw, "findings").items():
        if usual is not None and name not in findings:
            raise HarmTableError(
                f"findings: {name!r:.60} is no finding that the rules know. harm.yaml in rexview "
                "has all of them."
            )
        level = entry.get("harm") if isinstance(entry, Mapping) else entry
        findings[str(name)] = _level(level, f"findings: {name}")
    levels = dict(usual.levels) if usual else {}
    for number, meaning in _part(raw, "levels").items():
        levels[_level(number, "levels")] = tr_file_text(str(meaning))
    return HarmTable(levels, failures, findings)


def _part(raw: Mapping[Any, Any], name: str) -> Mapping[Any, Any]:
    part = raw.get(name)
    if part is not None and not isinstance(part, Mapping):
        raise HarmTableError(f"{name}: entries are expected. Write them as name: level.")
    return part or {}


def _failure(name: str, entry: Any, usual: FailureHarm | None) -> FailureHarm:
    where = f"failures: {name}"
    if not isinstance(entry, Mapping):
        if usual is None:
            raise HarmTableError(f"{where} has no words.")
        # a plain number applies to that failure for any finding
        return replace(usual, harm=_level(entry, where), by_finding=False, less=0)
    base = usual or FailureHarm(0, FAILURES[name].name if name in FAILURES else name)
    unknown = set(entry) - {"harm", "by_finding", "less", "words", "why"}
    if unknown:
        names = ", ".join(sorted(map(str, unknown)))
        raise HarmTableError(
            f"{where}: there is no {names:.60}. There are harm, by_finding, less, words, why."
        )
    by_finding = entry.get("by_finding", base.by_finding)
    if not isinstance(by_finding, bool):
        raise HarmTableError(f"{where}: by_finding is true or false, not {by_finding!r:.60}.")
    return FailureHarm(
        _level(entry.get("harm", base.harm), where),
        str(entry.get("words", base.words)),
        by_finding,
        _level(entry.get("less", base.less), f"{where}, less"),
    )


def _level(value: Any, where: str) -> int:
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MAX_HARM:
        return value
    raise HarmTableError(
        f"{where}: {value!r:.60} is no harm. Write a whole number from 0 (none) to {MAX_HARM}."
    )
