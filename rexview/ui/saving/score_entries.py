"""What a browser says a reader did, made into entries for the database.

A browser is not trusted: every field is checked, letters and dimensions must be those of the case,
and the rules of the study must allow it. What is said of an answer carries the name of what stood
under the letter (:meth:`Study.shown`): the set may have been changed since the page was made, and
then the letter can stand for another answer. An entry changes one field only (a score, or the
comment beside it), so that two windows that each change one do not undo each other.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final
from uuid import NAMESPACE_URL, UUID, uuid5

from rexview.analysis.study.exposure import UNBLINDED
from rexview.analysis.study.worklist import Item
from rexview.errors import RexviewError
from rexview.store import Entry
from rexview.ui.saving.reader_state import OwnScore, ScoreOf
from rexview.ui.saving.reader_study import Study, items_to_score
from rexview.vocab import FAILURES, SCORE_MAX, SCORE_MIN

LONGEST_COMMENT: Final = 4000
LONGEST_REASON: Final = 400
VIA: Final = "score page"
_FIELDS: Final = {
    "score": ("score", "comment"),
    "verdict": ("verdict",),
    "skip": ("reason",),
    "reveal": (None,),
}
_REVEALS: Final = ("report", "models", "all models", UNBLINDED)
_TEXTS: Final = ("slot", "shown", "subject", "field")
_CHANGED: Final = (
    "The answers to this case, or where reviews are kept, were changed after you gave this. "
    "Look at the answers as they are now, and give it again."
)


class Refused(RexviewError):
    """An entry that cannot be taken: the reason, for the reader."""


@dataclass(frozen=True)
class Said:
    """One thing that a reader did, in the pad's words.

    ``shown`` names the answer that stood under the letter. ``was`` is what the reader saw before
    they changed it, ``seen`` the newest row of the history that the browser knew of then: what is
    newer the reader had not seen. Clocks of browsers are not asked.
    """

    token: str
    case: str
    kind: str
    slot: str | None
    shown: str | None
    subject: str | None
    picture: int | None
    field: str | None
    value: Any
    was: Any
    seen: int


def read_said(raw: Any) -> Said:
    """Read one entry as the pad sends it.

    Raises
    ------
    ValueError
        It has no token or no case, or is something else altogether.
    """
    if not isinstance(raw, Mapping) or not isinstance(raw.get("case"), str):
        raise ValueError("This is not an entry of the score pad.")
    try:
        token = str(UUID(str(raw.get("token"))))
    except ValueError:
        raise ValueError("An entry has no token.") from None
    if token != raw.get("token"):
        raise ValueError("A token is not in its usual spelling.")
    seen = raw.get("seen")
    texts = {name: raw[name] if isinstance(raw.get(name), str) else None for name in _TEXTS}
    picture = raw.get("picture")
    return Said(
        token=token,
        case=raw["case"],
        kind=raw["kind"] if isinstance(raw.get("kind"), str) else "",
        picture=picture if isinstance(picture, int) and not isinstance(picture, bool) else None,
        value=raw.get("value"),
        was=raw.get("was"),
        seen=seen if isinstance(seen, int) and not isinstance(seen, bool) else 0,
        **texts,
    )


class Saying:
    """Gathers what a reader did into entries that are written together, in their order."""

    def __init__(self, study: Study) -> None:
        self.study = study
        self.entries: list[Entry] = []
        self.tokens: list[str] = []
        self._of_token: dict[str, str] = {}
        self._scores: dict[ScoreOf, _State] = {}

    def by_token(self) -> dict[str, list[Entry]]:
        """Return the entries by the token that the browser gave."""
        found: dict[str, list[Entry]] = {token: [] for token in self.tokens}
        for entry in self.entries:
            found[self._of_token[entry.token]].append(entry)
        return found

    def is_outdated(self, said: Said) -> bool:
        """Whether the same was changed elsewhere without the reader having seen it.

        An entry that was on its way for long must not undo what another window saved meanwhile.
        """
        if said.kind != "score" or said.field not in ("score", "comment"):
            return False
        where = self._score_of(said)
        own = self.study.words.scores.get(where)
        if own is None or where in self._scores or own.written.id <= said.seen:
            return False
        return self.standing(said)[said.field] not in (said.was, said.value)

    def standing(self, said: Said) -> dict[str, Any]:
        """Return the score that stands where an entry would have gone."""
        own = self.study.words.scores[self._score_of(said)]
        score = None if self.study.is_stale(own.written) else own.score
        return {"score": score, "comment": own.comment}

    def add(self, said: Said) -> None:
        """Add one thing.

        Raises
        ------
        Refused
        """
        if said.case not in self.study.places:
            raise Refused("This case is not on your list.")
        if said.field not in _FIELDS.get(said.kind, ()):
            raise Refused("This is not something that the score pad sends.")
        if said.kind == "reveal":
            self._reveal(said)
            return
        if self.study.words.is_revealed(said.case):
            raise Refused("The models of this case have been named; it can no longer be changed.")
        entry = {"score": self._score, "verdict": self._verdict, "skip": self._skip}[said.kind]
        self._keep(said, entry(said))

    def _keep(self, said: Said, *entries: Entry) -> None:
        for entry in entries:
            self.entries.append(replace(entry, via=VIA))
            self._of_token[entry.token] = said.token
        self.tokens.append(said.token)

    def _model(self, said: Said) -> str:
        """Return the model behind the letter, if the reader saw its answer as it is now."""
        model = self.study.slots(said.case).get(said.slot or "")
        if model is None or said.shown != self.study.shown(said.case)[said.slot or ""]:
            raise Refused(_CHANGED)
        return model

    def _score_of(self, said: Said) -> ScoreOf:
        if said.case not in self.study.places:
            raise Refused("This case is not on your list.")
        model = self._model(said)
        item = Item(said.subject or "", said.picture)
        if item not in items_to_score(self.study.review_set, said.case).get(model, ()):
            raise Refused("This is not scored on this answer.")
        return said.case, model, item.dimension, item.picture

    def _score(self, said: Said) -> Entry:
        where = self._score_of(said)
        before = self.study.words.scores.get(where)
        score, comment, digest = self._scores.get(where) or _state(before)
        if said.field == "score":
            whole = isinstance(said.value, int) and not isinstance(said.value, bool)
            if said.value is not None and not (whole and SCORE_MIN <= said.value <= SCORE_MAX):
                raise Refused("A score is a whole number from 1 to 5.")
            score, digest = said.value, None
        else:
            comment = _text(said.value, LONGEST_COMMENT)
        case, model, dimension, picture = where
        if (
            digest is None or score is None
        ):  # words alone do not confirm a score of an earlier answer
            digest = self.study.digests(case)[model]
        self._scores[where] = score, comment, digest
        value = {"score": score, "comment": comment or None}
        return Entry(
            "score", case, model, dimension, picture, value, said.token, answer_digest=digest
        )

    def _verdict(self, said: Said) -> Entry:
        if said.subject not in FAILURES or not isinstance(said.value, bool):
            raise Refused("There is no such failure.")
        value = {"verdict": "confirmed" if said.value else None}
        model = self._model(said)
        digest = self.study.digests(said.case)[model]
        return Entry(
            "verdict",
            said.case,
            model,
            said.subject,
            value=value,
            token=said.token,
            answer_digest=digest,
        )

    def _skip(self, said: Said) -> Entry:
        value = None
        if said.value is not None:
            value = {"reason": _text(said.value, LONGEST_REASON)}
        return Entry("skip", said.case, value=value, token=said.token)

    def _reveal(self, said: Said) -> None:
        if said.subject not in _REVEALS:
            raise Refused("There is nothing of that kind to show.")
        if said.subject == "report":
            if self.study.review_set.info.protocol.report == "never":
                raise Refused("In this study the report is not shown.")
            entry = Entry("reveal", said.case, value={"what": "report"}, token=said.token)
            self._keep(said, entry)
            return
        if said.subject == UNBLINDED:
            if self.study.words.exposures.of(self.study.person.id, said.case, UNBLINDED) is None:
                raise Refused("There is nothing to confirm.")
            value = {"what": UNBLINDED, "accepted": True}
            self._keep(said, Entry("reveal", said.case, value=value, token=said.token))
            return
        all_cases = said.subject == "all models"
        if not self.study.may_name_models(None if all_cases else said.case):
            raise Refused("The models are named when the cases are scored or skipped.")
        cases = self.study.worklist if all_cases else (said.case,)
        seed = uuid5(NAMESPACE_URL, said.token)
        self._keep(
            said,
            *(
                Entry(
                    "reveal",
                    case,
                    value={"what": "models"},
                    token=said.token if case == said.case else str(uuid5(seed, case)),
                )
                for case in cases
                if not self.study.words.is_revealed(case)
            ),
        )


_State = tuple[int | None, str, str | None]  # score, comment, digest of the answer


def _state(own: OwnScore | None) -> _State:
    return (own.score, own.comment, own.written.answer_digest) if own else (None, "", None)


def _text(value: Any, longest: int) -> str:
    if not isinstance(value, str) or len(value) > longest:
        raise Refused(f"A text has at most {longest:,} characters.")
    return value
