"""A filter's matches among the cases in ClickHouse, as SQL.

These are the unreviewed cases only: people have written about all others, which are in the engine
in memory. So none of them matches a condition on scores, corrections, comparisons,
comments or decisions.

Values of a filter are never part of the SQL; they are sent as parameters. The SQL contains only
names of columns, and numbers that were computed here.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

from rexview.analysis.query.clickhouse.database import QueryParameter
from rexview.analysis.query.clickhouse.loaded_set import SetManifest
from rexview.analysis.query.clickhouse.table_layout import CASES_TABLE
from rexview.analysis.query.filter.case_filter import ANSWER_STATUSES, CaseFilter
from rexview.analysis.query.filter.conditions import (
    UNKNOWN_FINDING,
    FindingCondition,
    group_outcomes,
)
from rexview.analysis.query.filter.finding_search import is_finding_search, parse_search
from rexview.analysis.query.memory.failure_index import source_bits
from rexview.analysis.query.memory.selection import (
    CASE_FACETS,
    MISSING_DATE,
    group_tags,
    outcome_condition_name,
)
from rexview.detect import FAILURE_BITS
from rexview.errors import EngineError

REVIEWED_TABLE: Final = "reviewed"
"""Table that is sent with queries: ``case_row`` of the reviewed cases."""
_OF_PEOPLE: Final = (
    *("weakest", "reader_scores", "reader_pairs", "model_pairs", "edits", "edit_kinds", "compared"),
    "marked",
)
_OF_PEOPLE_BY_CASE: Final = ("comments", "decisions")
_REPORT_TEXTS: Final = ("question", "findings", "impression")
_TRUE_SQL: Final = "1"
_FALSE_SQL: Final = "0"


@dataclass(eq=False)
class SqlConditions:
    """SQL for each condition of a filter, by the names of the engine in memory.

    ``rows`` has SQL of masks of a case's answers (Array(UInt8)), ``cases`` has SQL that is 1 for
    matching cases (UInt8). Both use columns of :attr:`source`.
    """

    manifest: SetManifest
    case_filter: CaseFilter
    parameters: dict[str, QueryParameter] = field(default_factory=dict)
    rows: dict[str, str] = field(default_factory=dict)
    cases: dict[str, str] = field(default_factory=dict)
    _first: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.parameters["version"] = self.manifest.version
        self._of_answers()
        self._of_flags()
        self._of_cases()
        if self.case_filter.search:
            self.rows["search"] = self.found_by(self.case_filter.search, self.case_filter.mention)

    def parameter(self, value: QueryParameter, kind: str) -> str:
        """Add a parameter, and return its placeholder in the SQL."""
        name = f"p{len(self.parameters)}"
        self.parameters[name] = value
        return f"{{{name}:{kind}}}"

    def words(self, values: Iterable[str]) -> str:
        """Add a parameter of several words, and return its placeholder in the SQL."""
        return self.parameter(list(values), "Array(String)")

    # matches

    def met(self, but: Collection[str] = ()) -> str | None:
        """Return SQL of the answers that meet the conditions on answers, minus some; None: all."""
        masks = [sql for name, sql in self.rows.items() if name not in but]
        if len(masks) < 2:
            return masks[0] if masks else None
        names = [f"m{place}" for place in range(len(masks))]
        return f"arrayMap(({', '.join(names)}) -> {' AND '.join(names)}, {', '.join(masks)})"

    def left(self, but: Collection[str] = ()) -> str:
        """Return SQL that is true for cases that match, without some conditions."""
        met = self.met(but)
        conditions = [sql for name, sql in self.cases.items() if name not in but]
        conditions += [] if met is None else [f"has({met}, 1)"]
        return " AND ".join(f"({one})" for one in conditions) or _TRUE_SQL

    @property
    def source(self) -> str:
        """SQL of the unreviewed cases, for FROM."""
        more = "".join(f", {sql} AS {name}" for name, sql in self._first.items())
        return (
            f"(SELECT *{more} FROM {CASES_TABLE} WHERE version = {{version:String}} "
            f"AND case_row GLOBAL NOT IN (SELECT case_row FROM {REVIEWED_TABLE}))"
        )

    def from_left(self) -> str:
        """Return SQL of the matching cases, for FROM; ``met`` is a mask of their answers."""
        met = self.met() or answers_sql(_TRUE_SQL, "model")
        return f"(SELECT *, {met} AS met FROM {self.source} WHERE {self.left()})"

    # the conditions

    def _of_answers(self) -> None:
        asked = self.case_filter
        if asked.models:
            self.rows["models"] = one_of_codes_sql(
                "model", indices_of(asked.models, self.manifest.models)
            )
        if asked.statuses:
            self.rows["statuses"] = one_of_codes_sql(
                "status", indices_of(asked.statuses, list(ANSWER_STATUSES))
            )
        if asked.repeats:
            self.rows["repeats"] = answers_sql(
                f"hasAny(x_again, {self.words(asked.repeats)})", "again"
            )
        if asked.opinions:
            said = self.words(asked.opinions)
            self.rows["opinions"] = answers_sql(f"hasAll(x_opinions, {said})", "opinions")
        if asked.written:
            raise EngineError(
                "What a language model found of failures in words is not on ClickHouse.",
                "Take that condition away, or open the set on a server without REXVIEW_ENGINE.",
            )
        limited = [name for name in _OF_PEOPLE if getattr(asked, name)]
        for name in (*limited, *asked.ranges):
            self.rows[name] = answers_sql(_FALSE_SQL, "model")

    def _of_flags(self) -> None:
        asked = self.case_filter
        if asked.failures:
            self.rows["failures"] = failures_sql(asked.failures, asked.sources)
        if asked.sources:
            self.rows["sources"] = failures_sql(
                asked.failures or tuple(FAILURE_BITS), asked.sources
            )
        if asked.findings:
            self.rows["findings"] = self.about(asked.failures, asked.sources, asked.findings)
        if asked.judged:
            self.rows["judged"] = has_bits_sql("judged", failure_bits(asked.judged))
        if asked.passing:
            self.cases["passing"] = self._passing()

    def _passing(self) -> str:
        """Say in which cases some models can be judged for what is asked for, and have none."""
        asked = self.case_filter
        failures = asked.failures or tuple(FAILURE_BITS)
        passes = (
            f"bitAnd(j, toUInt64({failure_bits(failures)})) != 0 "
            f"AND bitAnd(s, toUInt64({int(source_bits(failures, asked.sources))})) = 0"
        )
        known = self.manifest.models
        return " AND ".join(
            f"arrayExists((m, j, s) -> m = {known.index(model)} AND {passes}, "
            "model, judged, by_source)"
            if model in known
            else _FALSE_SQL
            for model in asked.passing
        )

    def about(
        self, failures: Sequence[str], sources: Sequence[str], findings: Sequence[str]
    ) -> str:
        """Return SQL of the answers with a failure from some sources, about one of some findings.

        Empty ``failures`` means any; empty ``sources`` means all but hints. All are values of the
        filter's conditions.
        """
        failures = failures or tuple(FAILURE_BITS)
        by_rule = [one for one in sources or ("detector",) if one in ("detector", "hint")]
        ids = [one for word in findings for one in FindingCondition.parse(word).ids]
        words = [
            f"{failure}|{source}|{one}" for failure in failures for source in by_rule for one in ids
        ]
        found = [f"hasAny(x_about, {self.words(words)})"] if words else []
        if UNKNOWN_FINDING in findings:
            for failure in failures:
                bits = int(source_bits((failure,), sources))
                flagged = f"bitAnd(x_by_source, toUInt64({bits})) != 0"
                unnamed = f"bitAnd(x_named, toUInt32({FAILURE_BITS[failure]})) = 0"
                found.append(f"({flagged} AND {unnamed})")
        return answers_sql(" OR ".join(found) or _FALSE_SQL, "about", "by_source", "named")

    def _of_cases(self) -> None:
        asked = self.case_filter
        for name, column in CASE_FACETS.items():
            if chosen := [value for value in getattr(asked, name) if value]:
                self.cases[name] = f"has({self.words(chosen)}, {column})"
            elif getattr(asked, name):
                self.cases[name] = _FALSE_SQL
        for name, values in group_tags(asked.tags).items():
            self.cases[f"tags:{name}"] = f"hasAny(tags, {self.words(values)})"
        for group, outcomes in group_outcomes(asked.outcomes).items():
            words = self.words(map(str, outcomes))
            self.cases[outcome_condition_name(group)] = f"hasAny(outcomes, {words})"
        for name in _OF_PEOPLE_BY_CASE:
            if getattr(asked, name):
                self.cases[name] = _FALSE_SQL

    def found_by(self, search: str, mention: str) -> str:
        """Return SQL of the answers that a search finds, in them or their cases' reports."""
        if not is_finding_search(search, mention):
            return self._all_of([self._containing(word) for word in search.split()])
        terms = parse_search(search)
        found = [self._containing(word) for word in terms.words]
        for term in terms.findings:
            codes = [
                place
                for place, phrase in enumerate(self.manifest.phrases)
                if term.met_by(phrase, mention)
            ]
            listed = self.parameter(codes, "Array(UInt32)")
            reported = self._once(f"hasAny(phrases_of_report, {listed})")
            found.append(
                answers_sql(f"{reported} OR hasAny(x_phrases, {listed})", "phrases")
                if codes
                else answers_sql(_FALSE_SQL, "model")
            )
        return self._all_of(found)

    def _containing(self, word: str) -> str:
        # ignores upper and lower case like the engine in memory, by the same kind of pattern
        pattern = self.parameter(f"(?i){re.escape(word)}", "String")
        in_case = " OR ".join(f"match({text}, {pattern})" for text in _REPORT_TEXTS)
        return answers_sql(
            f"{self._once(in_case)} OR match(x_answer_text, {pattern})", "answer_text"
        )

    def _once(self, sql: str) -> str:
        """Add an expression that is computed once a case, not once an answer; return its name."""
        name = f"s{len(self._first)}"
        self._first[name] = f"toUInt8({sql})"
        return name

    @staticmethod
    def _all_of(found: Sequence[str]) -> str:
        if not found:
            return answers_sql(_TRUE_SQL, "model")
        if len(found) == 1:
            return found[0]
        names = [f"w{place}" for place in range(len(found))]
        return f"arrayMap(({', '.join(names)}) -> {' AND '.join(names)}, {', '.join(found)})"

    # the order

    @cached_property
    def order(self) -> str:
        """SQL of a case's sort number (Float64), the largest first.

        It is for rows of :meth:`from_left`, and equals :func:`.list_sort_numbers` for cases in
        memory.
        """
        sort = self.case_filter.sort
        if sort == "severity":
            return "toFloat64(arrayMax((x, m) -> if(m, x, -1), severity, met))"
        if sort == "newest":
            dated = f"if(m, x, toInt64({MISSING_DATE}))"
            return f"toFloat64(arrayMax((x, m) -> {dated}, created, met))"
        order = self.case_filter.metric_order
        if order is None:
            return "toFloat64(0)" if sort == "order" else "-inf"
        if order.metric not in self.manifest.metrics:
            return "-inf"
        place = self.manifest.metrics.index(order.metric) + 1
        sign = "" if order.largest_first else "-"
        value = f"{sign}v[{place}]"
        counts = f"m AND NOT isNaN(v[{place}])"
        return f"arrayMax((v, m) -> if({counts}, {value}, -inf), metric_values, met)"


def answers_sql(sql: str, *columns: str) -> str:
    """Return SQL of a mask of answers; in ``sql``, ``x_COLUMN`` is an answer's value."""
    names = ", ".join(f"x_{column}" for column in columns)
    return f"arrayMap(({names}) -> toUInt8({sql}), {', '.join(columns)})"


def one_of_codes_sql(column: str, codes: Sequence[int]) -> str:
    """Return SQL of the answers with one of some codes in a column."""
    return answers_sql(
        f"x_{column} IN ({', '.join(map(str, codes))})" if codes else _FALSE_SQL, column
    )


def has_bits_sql(column: str, bits: int) -> str:
    """Return SQL of the answers with any of some bits in a column."""
    return answers_sql(f"bitAnd(x_{column}, toUInt64({bits})) != 0", column)


def failures_sql(failures: Iterable[str], sources: Sequence[str]) -> str:
    """Return SQL of the answers with one of some failures from one of some sources."""
    return has_bits_sql("by_source", int(source_bits(failures, sources)))


def failure_bits(failures: Iterable[str]) -> int:
    """Return the bits of some failures."""
    return sum(FAILURE_BITS[failure] for failure in failures)


def indices_of(chosen: Sequence[str], known: Sequence[str]) -> list[int]:
    """Return the indices in ``known`` of the chosen words."""
    return [place for place, word in enumerate(known) if word in chosen]
