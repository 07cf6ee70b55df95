"""A clinician's word on an answer of the sample, made into an entry."""

from __future__ import annotations

from dataclasses import replace

from rexview.analysis.written_results import VALIDATION_KIND
from rexview.judge.written import name_of
from rexview.people import Person
from rexview.schema import ReviewSet
from rexview.store import Entry, Reviews
from rexview.ui.saving.entries import CHANGED, Refused, SentEntry
from rexview.ui.written.round import WrittenRound, written_round
from rexview.words import tr

GONE = tr(
    "This answer is no longer in the sample: answers were judged or changed "
    "since. Continue with the next one."
)


def round_sent(
    review_set: ReviewSet, reviews: Reviews, person: Person, sent: SentEntry
) -> WrittenRound | None:
    """Return the round that an entry is of: failure, version and judge are named by it."""
    about = (sent.field or "", sent.subject or "", sent.slot or "")
    return written_round(review_set, reviews, person, about)


def validation_entry(
    review_set: ReviewSet, reviews: Reviews, person: Person, sent: SentEntry
) -> Entry:
    """Make the entry of one word: ``yes``, ``no``, ``unsure``, or null to take it back.

    Raises
    ------
    Refused
        The answer is not in the sample, or was changed since it was read.
    Overtaken
        Another window saved another word that the writer has not seen.
    """
    now = round_sent(review_set, reviews, person, sent)
    if now is None or sent.case not in now.items:
        raise Refused(GONE)
    about, found = now.items[sent.case].about, now.found
    if sent.shown != about.answer_digest:
        raise Refused(CHANGED)
    value = None
    if sent.value is not None:
        value = {
            "said": sent.value,
            "failure": name_of(found.prompt),
            "version": found.prompt.hash,
            "judge": found.judge,
        }
    row = now.state.of(VALIDATION_KIND, person.id).get(
        (about.case, about.model, now.history_subject, None)
    )
    stands = now.said(sent.case)
    sent.check_unseen(row, stands, {"said": stands})
    # the page names neither: it tells not which answer is read
    answer = replace(sent, case=about.case, slot=about.model, subject=now.history_subject)
    return answer.on_shown(value)
