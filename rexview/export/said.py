"""What people said of a case, for exports: comments and decisions, given and written."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Final

import polars as pl

from rexview.analysis.meeting.decisions import Decision, decisions
from rexview.export.records import ExportComment, ExportDecision
from rexview.export.wanted import Source
from rexview.store import Comment
from rexview.vocab import FAILURES

_ON: Final = {"case": "the case", "answer": "the answer", "box": "a box", "span": "words"}


def failure_name(failure: str) -> str:
    """Return the name of a failure for people, also of one that the set brings along."""
    return FAILURES[failure].name if failure in FAILURES else failure.replace("_", " ")


class Said:
    """Comments and decisions by case; ``models`` has the id of each model in the export."""

    def __init__(self, source: Source, models: Mapping[str, str]) -> None:
        self._models = models
        self._comments: dict[str, list[Comment]] = {}
        for comment in source.reviews.comments():
            self._comments.setdefault(comment.case, []).append(comment)
        self._decisions: dict[str, list[Decision]] = {}
        for decision in decisions(source.review_set):
            self._decisions.setdefault(decision.case, []).append(decision)

    def comments(self, case_id: str) -> tuple[ExportComment, ...]:
        """Return the comments on a case, in the order in which they were begun."""
        return tuple(
            ExportComment(
                id=one.id,
                model=self._model(one.model),
                person=one.person_name,
                text=one.text,
                on=_on(one.on),
                at=one.at,
                reply_to=one.reply_to,
                resolved=one.resolved,
            )
            for one in self._comments.get(case_id, ())
        )

    def decisions(self, case_id: str) -> tuple[ExportDecision, ...]:
        """Return what meetings decided about a case and its answers, the newest meeting first."""
        return tuple(
            ExportDecision(
                model=self._model(one.model),
                meeting=one.meeting,
                meeting_name=one.meeting_name,
                held=one.held,
                reader=one.by,
                failure=one.failure,
                failure_name=one.failure_words,
                severity=one.severity,
                decision=one.decision,
                decision_name=one.decision_words,
                owner=one.owner,
                due=one.due,
                done=one.done,
                is_open=one.is_open,
                comment=one.comment,
                created=one.written,
                stale=one.replaced,
            )
            for one in self._decisions.get(case_id, ())
        )

    def _model(self, model: str | None) -> str | None:
        return self._models.get(model, model) if model else None


def models_spoken_of(source: Source, cases: Collection[str]) -> list[str]:
    """Return the models that comments and decisions on some cases name; some may have left."""
    there = source.review_set
    rows = pl.concat([table.select("case", "model") for table in (there.comments, there.decisions)])
    named = rows.filter(pl.col("case").is_in(list(cases)))["model"].drop_nulls()
    return named.unique(maintain_order=True).to_list()


def _on(on: Mapping[str, Any]) -> str:
    quote = on.get("text") or on.get("label")
    words = _ON.get(str(on.get("what")), "the case")
    return f"{words}: {quote}" if quote else words
