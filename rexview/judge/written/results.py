"""What judges said of written failures, read from the logs of their runs.

The words, the judge and all replies lie in the run's folder in ``judging/``: a result belongs to
one version of the words and one text of the answer, and to no other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from rexview.judge.subjects import WRITTEN, About, Subject, read_id
from rexview.judge.written.reading import Found, read_found
from rexview.models.backend import Prompt
from rexview.models.running.folder import JUDGING
from rexview.models.running.journal import KeptReply, kept_replies
from rexview.schema import ReviewSet


@dataclass(frozen=True)
class Candidate:
    """What was said of one answer: ``quote_found`` None where nothing is quoted."""

    about: About
    found: Found
    quote_found: bool | None
    run: str
    created: str


@dataclass(frozen=True)
class WrittenResults:
    """What one judge said of the answers asked about, in one version of the words.

    ``unread`` are answers whose last reply could not be read, ``unasked`` those without any.
    """

    said: tuple[Candidate, ...]
    unread: tuple[tuple[About, KeptReply], ...]
    unasked: tuple[About, ...]

    def count(self, said: str) -> int:
        """Return of how many answers this was said."""
        return sum(one.found.said == said for one in self.said)


def replies_about(review_set: ReviewSet, judge: str, prompt: Prompt) -> dict[About, KeptReply]:
    """Return the newest readable reply of a judge on each answer, else the newest.

    Only of the very words that the wording has, and kept by an answer's digest and that of all
    that was shown beside it.
    """
    kept = kept_replies(review_set.folder, JUDGING, judge, prompt)
    named = ((read_id(subject), reply) for subject, reply in kept.items())
    return {one[0]: _as_read_now(reply) for one, reply in named if one and one[1] == (WRITTEN,)}


def left_to_ask(
    subjects: Sequence[Subject], known: Mapping[About, KeptReply], *, again: bool
) -> list[Subject]:
    """Return what has not been asked yet; ``again`` also those whose reply could not be read."""
    return [
        one
        for one in subjects
        if (before := known.get(one.about)) is None or (again and not before.answered)
    ]


def results_of(subjects: Sequence[Subject], known: Mapping[About, KeptReply]) -> WrittenResults:
    """Return what was said of these answers, what could not be read, and what was not asked."""
    said, unread, unasked = [], [], []
    for one in subjects:
        reply = known.get(one.about)
        if reply is None:
            unasked.append(one.about)
            continue
        found = read_found(reply.text) if reply.answered else ""
        if isinstance(found, str):
            unread.append((one.about, reply))
            continue
        stands = found.quote_stands(one.text)
        said.append(Candidate(one.about, found, stands, reply.run, reply.created))
    return WrittenResults(tuple(said), tuple(unread), tuple(unasked))


def _as_read_now(reply: KeptReply) -> KeptReply:
    """Return a reply as malformed that an earlier version could read, and this one cannot."""
    found = read_found(reply.text) if reply.answered else None
    return replace(reply, outcome="malformed", why=found) if isinstance(found, str) else reply
