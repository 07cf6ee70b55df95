"""What a reader gives on the Score page, made into entries for the database.

Letters and dimensions must be those of the case, and the rules of the study must allow it. A score
and the comment beside it are sent apart, so that two windows that each change one do not undo each
other.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from rexview.analysis.reader_exposure import REPORT, UNBLINDED
from rexview.analysis.study import ScoreItem
from rexview.store import Entry, Stored
from rexview.ui.saving.entries import CHANGED, Refused, SentEntry, reveals, text_of, whole
from rexview.ui.saving.reader_study import Study, items_to_score
from rexview.vocab import FAILURES, SCORE_MAX, SCORE_MIN
from rexview.words import tr

LONGEST_COMMENT: Final = 4000
LONGEST_REASON: Final = 400
_FIELDS: Final[Mapping[str, tuple[str | None, ...]]] = {
    "score": ("score", "comment"),
    "verdict": ("verdict",),
    "skip": ("reason",),
    "reveal": (None,),
}
_Score = tuple[int | None, str, str | None]  # score, comment, digest of the answer


class ScoreEntries:
    """Makes entries that are written together, each on top of those before it."""

    def __init__(self, study: Study) -> None:
        self.study = study
        self._scores: dict[tuple[str, str, str, int | None], _Score] = {}
        self._changed: set[tuple[str, ...]] = set()

    def make(self, sent: SentEntry) -> list[Entry]:
        """Make the entries of one thing that the reader did; of several cases when all are shown.

        Raises
        ------
        Refused, Overtaken
        """
        if not self.study.has(sent.case):
            raise Refused(tr("This case is not on your list."))
        if sent.field not in _FIELDS.get(sent.kind, ()):
            raise Refused(tr("This is not something that the score pad sends."))
        if sent.kind == "reveal":
            return self._reveal(sent)
        if self.study.given.was_shown(sent.case, "models"):
            raise Refused(
                tr("The models of this case have been named; it can no longer be changed.")
            )
        return [
            {"score": self._score, "verdict": self._verdict, "skip": self._skip}[sent.kind](sent)
        ]

    def _model(self, sent: SentEntry) -> str:
        """Return the model behind the letter, if the reader saw its answer as it is now."""
        model = self.study.slots(sent.case).get(sent.slot or "")
        if model is None or sent.shown != self.study.shown(sent.case)[sent.slot or ""]:
            raise Refused(CHANGED)
        return model

    def _check_unseen(
        self, sent: SentEntry, row: Stored | None, value: Any, stands: Mapping[str, Any]
    ) -> None:
        """As :meth:`SentEntry.check_unseen`, for what no entry before this one changes."""
        thing = (sent.kind, sent.case, sent.slot or "", sent.subject or "", str(sent.picture))
        if thing not in self._changed:
            sent.check_unseen(row, value, stands)
        self._changed.add(thing)

    def _score(self, sent: SentEntry) -> Entry:
        model, item = self._model(sent), ScoreItem(sent.subject or "", sent.picture)
        if item not in items_to_score(self.study.review_set, sent.case).get(model, ()):
            raise Refused(tr("This is not scored on this answer."))
        about = sent.case, model, item.dimension, item.picture
        row = self.study.given.of("score").get(about)
        stored = (row.value if row else None) or {}
        score, comment = stored.get("score"), stored.get("comment") or ""
        digest = row.answer_digest if row else None
        shown = None if row and self.study.is_stale(row) else score
        stands = {"score": shown, "comment": comment}
        self._check_unseen(sent, row, stands[sent.field or ""], stands)
        score, comment, digest = self._scores.get(about) or (score, comment, digest)
        if sent.field == "score":
            given = whole(sent.value)
            if sent.value is not None and (given is None or not SCORE_MIN <= given <= SCORE_MAX):
                raise Refused(tr("A score is a whole number from 1 to 5."))
            score, digest = given, None
        else:
            comment = text_of(sent.value, LONGEST_COMMENT)
        if digest is None or score is None:  # no earlier score is confirmed by a comment
            digest = self.study.digests(sent.case)[model]
        self._scores[about] = score, comment, digest
        value = {"score": score, "comment": comment or None}
        return Entry("score", *about, value, sent.token, sent.page, answer_digest=digest)

    def _verdict(self, sent: SentEntry) -> Entry:
        if sent.subject not in FAILURES or not isinstance(sent.value, bool):
            raise Refused(tr("There is no such failure."))
        model = self._model(sent)
        row = self.study.given.of("verdict").get((sent.case, model, sent.subject, None))
        stored = (row.value if row and not self.study.is_stale(row) else None) or {}
        self._check_unseen(sent, row, stored.get("verdict") == "confirmed", stored)
        return Entry(
            "verdict",
            sent.case,
            model,
            sent.subject,
            value={"verdict": "confirmed" if sent.value else None},
            token=sent.token,
            via=sent.page,
            answer_digest=self.study.digests(sent.case)[model],
        )

    def _skip(self, sent: SentEntry) -> Entry:
        row = self.study.given.of("skip").get((sent.case, None, None, None))
        value = None if sent.value is None else {"reason": text_of(sent.value, LONGEST_REASON)}
        reason = self.study.given.skips.get(sent.case)
        self._check_unseen(sent, row, reason, {"reason": reason})
        return Entry("skip", sent.case, value=value, token=sent.token, via=sent.page)

    def _reveal(self, sent: SentEntry) -> list[Entry]:
        value: dict[str, Any] = {"what": sent.subject}
        cases: tuple[str, ...] = (sent.case,)
        given = self.study.given
        if sent.subject == REPORT:
            if self.study.review_set.info.protocol.report == "never":
                raise Refused(tr("In this study the report is not shown."))
        elif sent.subject == UNBLINDED:
            if not given.was_shown(sent.case, UNBLINDED):
                raise Refused(tr("There is nothing to confirm."))
            value["accepted"] = True
        elif sent.subject in ("models", "all models"):
            every = sent.subject == "all models"
            if not self.study.may_name_models(None if every else sent.case):
                raise Refused(tr("The models are named when the cases are scored or skipped."))
            value["what"] = "models"
            cases = tuple(
                case
                for case in (self.study.in_order(self.study.states) if every else cases)
                if not given.was_shown(case, "models")
            )
        else:
            raise Refused(tr("There is nothing of that kind to show."))
        return reveals(sent, cases, value)
