"""What judges said, read from the logs of their runs and kept as parts of ``opinions``.

Each run has a part of its own, ``opinions/RUN.jsonl``, made anew from the log each time. Of several
opinions of one judge in one wording on the same thing only one stands in the parts.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import polars as pl

from rexview.answer_digest import digests_of
from rexview.errors import RunError, RunRefused
from rexview.judge.reading import Opinion, no_quote, read_opinion
from rexview.judge.subjects import FAILURES, About, Subject, read_id
from rexview.models.backend import Prompt
from rexview.models.running.folder import JUDGING, RunFolder, runs_of, write_part
from rexview.models.running.journal import KeptReply, replies_of
from rexview.models.running.spec import read_spec
from rexview.schema import ReviewSet

OPINIONS: Final = "opinions"
Row = dict[str, Any]
Key = tuple[str, str, str]
"""Of what an opinion is: case, model, and the failure or dimension."""


@dataclass(frozen=True)
class Judged:
    """A reply of a judge as it was kept, with what it is of; ``prompt_hash`` is of its wording."""

    about: About
    asked: tuple[str, ...]
    prompt_hash: str
    reply: KeptReply


def _runs(set_folder: Path, judge: str, prompt: Prompt) -> Iterator[tuple[RunFolder, str]]:
    """Yield the runs of a judge in the wording of this name, each with the digest of its words."""
    for run in runs_of(set_folder, JUDGING):
        with suppress(RunError):
            spec = read_spec(run)
            if (spec.parameters.model, spec.prompt.id) == (judge, prompt.id):
                yield run, spec.prompt.hash


def _said(set_folder: Path, judge: str, prompt: Prompt) -> Iterator[Judged]:
    """Yield all replies of a judge in the wording of this name, edited since or not."""
    for run, prompt_hash in _runs(set_folder, judge, prompt):
        with suppress(RunError):
            for subject, reply in replies_of(run):
                if named := read_id(subject):
                    yield Judged(*named, prompt_hash, _as_read_now(reply, named[1]))


def _as_read_now(reply: KeptReply, asked: Sequence[str]) -> KeptReply:
    """Return a reply as malformed that an earlier version took for an opinion, and this one not."""
    found = read_opinion(reply.text, asked) if reply.answered else ()
    return replace(reply, outcome="malformed", why=found) if isinstance(found, str) else reply


@dataclass(frozen=True)
class Known:
    """What need not be asked.

    ``said`` has by answer and name the newest reply that can be read, else the newest; ``given``
    is what other files of the set say of the same judge and wording.
    """

    said: Mapping[tuple[About, str], KeptReply]
    given: frozenset[Key]

    def left(self, subject: Subject, *, again: bool = False) -> Subject | None:
        """Return the subject with what of it is to be asked; ``again`` where no reply was read."""
        names = []
        for name in subject.asked:
            if (subject.about.case, subject.about.model, name) in self.given:
                continue
            before = self.said.get((subject.about, name))
            if before is None or (again and not before.answered):
                names.append(name)
        return subject.asking(names) if names else None

    def unread(self, subject: Subject) -> KeptReply | None:
        """Return a reply about it that could not be read, if that is the last word on something."""
        found = (self.said.get((subject.about, name)) for name in subject.asked)
        return next((one for one in found if one is not None and not one.answered), None)


def known_of(review_set: ReviewSet, judge: str, prompt: Prompt) -> Known:
    """Return what a judge has said in these words, and what other files give."""
    said: dict[tuple[About, str], KeptReply] = {}
    for one in _said(review_set.folder, judge, prompt):
        if one.prompt_hash != prompt.hash:
            continue
        for name in one.asked:
            before = said.get((one.about, name))
            if before is None or _rank(one.reply) > _rank(before):
                said[one.about, name] = one.reply
    return Known(said, _given_elsewhere(review_set, judge, prompt))


def _rank(one: KeptReply) -> tuple[bool, str]:
    return one.answered, one.created


def _given_elsewhere(review_set: ReviewSet, judge: str, prompt: Prompt) -> frozenset[Key]:
    """Return what files of the set say that are no parts of this judge's runs.

    Those of earlier answers, too: a key stands once in all files.
    """
    runs = [run.id for run, _ in _runs(review_set.folder, judge, prompt)]
    rows = pl.concat([review_set.opinions, review_set.stale_opinions]).filter(
        pl.col("judge") == judge,
        pl.col("prompt_id") == prompt.id,
        ~pl.col("run_id").is_in(runs).fill_null(False),
    )
    named = rows.select("case", "model", pl.coalesce("failure", "dimension"))
    return frozenset(named.iter_rows())


def check_set(set_folder: Path) -> None:
    """Look whether opinions may be kept in a set, before anybody is asked.

    Raises
    ------
    RunRefused
    """
    folder = set_folder / OPINIONS
    if folder.exists() and not folder.is_dir():
        raise RunRefused(f"{OPINIONS} of the review set is no folder: mend that.")
    if not os.access(folder if folder.exists() else set_folder, os.W_OK):
        raise RunRefused(
            f"{OPINIONS}/ of the review set cannot be written: permit it, or copy the set."
        )


@dataclass(frozen=True)
class Written:
    """What stands in the parts now: ``files``, how many opinions, on how many answers.

    ``quotes`` have words, ``lost`` of them stand not in the answer.
    """

    files: tuple[str, ...]
    opinions: int
    answers: int
    quotes: int
    lost: int


def write_opinions(review_set: ReviewSet, judge: str, prompt: Prompt) -> Written:
    """Write the parts of all runs of a judge in the wording of this name anew, from their logs.

    Where several runs say something of the same, that of the answer as it is now stands, before
    that in the words as they are now, before the newest. What other files give is left as it is.

    Raises
    ------
    RunError
        They cannot be written.
    """
    given = _given_elsewhere(review_set, judge, prompt)
    said = [
        one
        for one in _said(review_set.folder, judge, prompt)
        if one.reply.answered and review_set.case_row(one.about.case) is not None
    ]
    digests = digests_of(review_set).of_all({(one.about.case, one.about.model) for one in said})
    best: dict[Key, tuple[tuple[bool, bool, str], Row]] = {}
    for one in said:
        found = read_opinion(one.reply.text, one.asked)
        if isinstance(found, str):
            continue
        now = digests.get((one.about.case, one.about.model)) == one.about.answer_digest
        rank = (now, one.prompt_hash == prompt.hash, one.reply.created)
        for opinion in found:
            key = (one.about.case, one.about.model, opinion.name)
            if key not in given and (key not in best or rank > best[key][0]):
                best[key] = rank, _row(one, opinion, judge, prompt)
    rows = [row for _, row in best.values()]
    files = []
    for run, _ in _runs(review_set.folder, judge, prompt):
        of_run = [row for row in rows if row["run_id"] == run.id]
        write_part(review_set.folder / OPINIONS, run.id, of_run)
        files += [f"{OPINIONS}/{run.id}.jsonl"] if of_run else []
    found_of = [row["extra"]["quote_found"] for row in rows if "extra" in row]
    answers = {(row["case"], row["model"]) for row in rows}
    return Written(tuple(files), len(rows), len(answers), len(found_of), found_of.count(False))


def _row(one: Judged, opinion: Opinion, judge: str, prompt: Prompt) -> Row:
    """Return a row of ``opinions``."""
    kind = "failure" if opinion.name in FAILURES else "dimension"
    row: Row = {
        "case": one.about.case,
        "model": one.about.model,
        "judge": judge,
        "prompt_id": prompt.id,
        "prompt_hash": one.prompt_hash,
        kind: opinion.name,
        "present": opinion.present,
        "score": opinion.score,
        "reason": opinion.reason,
        "quote": opinion.quote,
        "run_id": one.reply.run,
        "created": one.reply.created,
        "answer_digest": one.about.answer_digest,
    }
    if opinion.quote:
        row["extra"] = {"quote_found": no_quote(opinion.name) not in one.reply.why}
    return row
