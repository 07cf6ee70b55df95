"""Read opinions of judges from replies and run logs, and keep them as parts of ``opinions``."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any, Final

import polars as pl

from rexview.answer_digest import digests_of
from rexview.errors import RunError, RunRefused
from rexview.judge.subjects import FAILURES, JudgeSubject, OpinionTarget, parse_judge_subject_id
from rexview.models.asking.reply_reader import THINKING_END, THINKING_START, possible_answers
from rexview.models.backend import Prompt
from rexview.models.running.run_folder import JUDGING_FOLDER, RunFolder, list_runs, write_part
from rexview.models.running.run_journal import StoredReply, read_stored_replies
from rexview.models.running.run_spec import read_run_spec
from rexview.schema import ReviewSet
from rexview.vocab import SCORE_MAX, SCORE_MIN

_MOST: Final = 2_000_000
_LONGEST: Final = 10_000
_OUT_OF_FIVE: Final = re.compile(rf"(?<![\d/.])(\d)\s*/\s*{SCORE_MAX}(?![\d/])")
_QUOTES: Final = str.maketrans("\u2018\u2019\u201c\u201d", "''\"\"")
_OUTSIDE: Final = " \"'.\u2026"
_LONGEST_AFTER: Final = 300
_MOST_PARTS: Final = 40
"""Maximum number of possible ends of the reasoning that are tried."""
_TAKEN_BACK: Final = re.compile(
    r"[\d{}]|\b(?:but|no|yes|one|two|three|four|five|rather|wait|cut|side|left|right)\b"
    r"|\b(?:actual|absent|change|contrary|correct|disregard|doubt|error|example|except|execution"
    r"|false|guess|hallucinat|however|ignor|instead|invalid|invent|language|laterality|limit|miss"
    r"|mistake|omission|omit|opposite|placeholder|present|process|reconsider|relied|rely|retract"
    r"|revers|revis|score|second thought|should|sorry|synthesis|template|token|true|uncertain"
    r"|unsure|updat|withdr|wrong)"
)
"""Figures, words and word beginnings after the object that may revoke it."""
_NO_OPINION: Final = re.compile(
    r"\b(?:example|placeholder|template|(?:cannot|can ?not|can['\u2019]t|will not|won['\u2019]t"
    r"|unable to|not able to)\s+(?:answer|assess|assist|comply|do|evaluat|give|help|judge|provide"
    r"|rate|score))"
)
"""Words and word beginnings before an object that is only an example of the form."""
_TRUTH: Final = {"true": True, "false": False, "yes": True, "no": False}


@dataclass(frozen=True)
class Opinion:
    """Opinion on one failure (``present``) or one dimension (``score``), with its reason."""

    name: str
    present: bool | None
    score: int | None
    reason: str | None
    quote: str | None


def read_opinion(text: str, asked: Sequence[str]) -> tuple[Opinion, ...] | str:
    """Parse the JSON object of a judge.

    Returns
    -------
    tuple of Opinion or str
        One for each name in ``asked``. If anything is not as requested, a sentence on what is
        wrong; then nothing of the reply is used.
    """
    value = parse_only_object(text)
    if isinstance(value, str):
        return value
    found = []
    for name in asked:
        group = "failures" if name in FAILURES else "scores"
        within = value.get(group)
        if not isinstance(within, Mapping):
            return f"The answer has no {group}."
        if name not in within:
            return f"The answer says nothing of {name}."
        one = _opinion(name, within[name])
        if isinstance(one, str):
            return f"{name}: {one}"
        found.append(one)
    return tuple(found)


def _opinion(name: str, value: Any) -> Opinion | str:
    if not isinstance(value, Mapping):
        return "it is no object."
    words = {}
    for part in ("reason", "quote"):
        given = value.get(part)
        if not isinstance(given, str | None) or len(given or "") > _LONGEST:
            return f"the {part} is no text of at most {_LONGEST:,} characters."
        words[part] = (given or "").strip() or None
    if name in FAILURES:
        present = _truth(value.get("present"))
        if present is None:
            return f"present is {value.get('present')!r:.60}, neither true nor false."
        if words["quote"] and not present:  # a quote would show the failure
            return "it is said to be absent, and quoted all the same."
        return Opinion(name, present, None, **words)
    score = _score(value.get("score"))
    if score is None:
        return f"the score {value.get('score')!r:.60} is no whole number from 1 to 5."
    stated = {int(one) for one in _OUT_OF_FIVE.findall(words["reason"] or "")}
    if stated - {score}:
        return f"the score is {score}, and by its reason {min(stated - {score})}."
    return Opinion(name, None, score, **words)


def _truth(value: Any) -> bool | None:
    if isinstance(value, str):
        return _TRUTH.get(value.strip().lower())
    return value if isinstance(value, bool) else None


def _score(value: Any) -> int | None:
    if isinstance(value, str):
        figure = re.fullmatch(rf"\s*(\d)\s*(?:/\s*{SCORE_MAX})?\s*", value, re.ASCII)
        value = int(figure[1]) if figure else None
    if isinstance(value, bool) or value not in range(SCORE_MIN, SCORE_MAX + 1):
        return None
    return int(value)


def parse_only_object(text: str) -> Mapping[str, Any] | str:
    """Return the one JSON object of an answer, or a sentence on why there is none.

    Reasoning before the answer, and words before the object, are skipped, except
    :data:`_NO_OPINION`. After the object there may be a few words, such as a note that a
    radiologist must decide. They must not match :data:`_TAKEN_BACK`, since such words could revoke
    the object.
    """
    if len(text) > _MOST:
        return "The answer is too long to be read."
    found: Mapping[str, Any] | str = "The answer does not come to an end of its thinking."
    for part in islice(possible_answers(text), _MOST_PARTS):
        if THINKING_START.search(part.partition("{")[0]):
            continue  # this part is still reasoning
        found, after = _object_in(part)
        if not isinstance(found, str) and not THINKING_END.search(after):
            return found
    return found if isinstance(found, str) else "The answer goes on after its JSON object."


def _object_in(text: str) -> tuple[Mapping[str, Any] | str, str]:
    """Return the object of an answer, or the reason why there is none, and the text after it."""
    start = text.find("{")
    if start < 0:
        return "The answer is no JSON object.", ""
    if _NO_OPINION.search(text[:start].lower()):
        return "By the words before its JSON object the answer is no opinion.", ""
    try:
        value, end = _DECODER.raw_decode(text, start)
    except _Twice as twice:
        return f"{str(twice)[:60]!r} stands twice in the answer.", ""
    except (ValueError, RecursionError):
        return "The answer is no JSON object.", ""
    after = text[end:].strip().strip("`").lower()
    if THINKING_END.search(after) or (
        len(after) <= _LONGEST_AFTER and not _TAKEN_BACK.search(after)
    ):
        return value, after
    return "The answer goes on after its JSON object.", after


class _Twice(Exception):
    """An object has a name twice, so it is unknown which value is meant."""


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Join an object's parts by normalized names: ``Laterality error`` is laterality_error."""
    found: dict[str, Any] = {}
    for given, value in pairs:
        name = re.sub(r"[\W_]+", "_", given.strip().lower())
        if name in found:
            raise _Twice(name)
        found[name] = value
    return found


def _no_number(word: str) -> Any:
    raise ValueError(word)  # NaN and Infinity are not valid JSON


# not strict, because a line may break within a text
_DECODER: Final = json.JSONDecoder(object_pairs_hook=_once, parse_constant=_no_number, strict=False)


def missing_quotes(opinions: Sequence[Opinion], answer: str) -> tuple[str, ...]:
    """Return a sentence for each quote that is not in the answer.

    Blanks, capitals, kinds of quotation marks and characters around a quote are ignored.
    """
    folded = _folded(answer)
    missing = (one.name for one in opinions if one.quote and not _within(one.quote, folded))
    return tuple(missing_quote_note(name) for name in missing)


def missing_quote_note(name: str) -> str:
    """Return the sentence that records that a quote is not in the answer."""
    return f"{name}: what it quotes does not stand in the answer."


def contains_quote(quote: str, answer: str) -> bool:
    r"""Return True if a quote is in an answer, compared as :func:`missing_quotes` does.

    >>> (
    ...     contains_quote("‘No  prior’", "There is no\nprior."),
    ...     contains_quote("...", "There is no prior."),
    ... )
    (True, False)
    """
    return bool(_folded(quote).strip(_OUTSIDE)) and _within(quote, _folded(answer))


def _within(quote: str, folded: str) -> bool:
    return _folded(quote).strip(_OUTSIDE) in folded


def _folded(text: str) -> str:
    return " ".join(text.translate(_QUOTES).casefold().split())


# Opinions from the logs of the judges' runs, kept as parts of ``opinions``.
#
# Each run has its own part, ``opinions/RUN.jsonl``, which is rewritten from the log each time. Of
# several opinions of one judge in one wording on the same thing, the parts contain only one.

OPINIONS: Final = "opinions"
Row = dict[str, Any]
Key = tuple[str, str, str]
"""Key of an opinion: case, model, and the failure or dimension."""


@dataclass(frozen=True)
class JudgeReply:
    """A kept reply of a judge with its subject; ``prompt_hash`` belongs to its wording."""

    about: OpinionTarget
    asked: tuple[str, ...]
    prompt_hash: str
    reply: StoredReply


def _runs(set_folder: Path, judge: str, prompt: Prompt) -> Iterator[tuple[RunFolder, str]]:
    """Yield a judge's runs in the wording of this name, each with the digest of its text."""
    for run in list_runs(set_folder, JUDGING_FOLDER):
        with suppress(RunError):
            spec = read_run_spec(run)
            if (spec.parameters.model, spec.prompt.id) == (judge, prompt.id):
                yield run, spec.prompt.hash


def _said(set_folder: Path, judge: str, prompt: Prompt) -> Iterator[JudgeReply]:
    """Yield all replies of a judge in the wording of this name, edited since or not."""
    for run, prompt_hash in _runs(set_folder, judge, prompt):
        with suppress(RunError):
            for subject, reply in read_stored_replies(run):
                if named := parse_judge_subject_id(subject):
                    yield JudgeReply(*named, prompt_hash, _as_read_now(reply, named[1]))


def _as_read_now(reply: StoredReply, asked: Sequence[str]) -> StoredReply:
    """Mark a reply as malformed if only an earlier version accepted it as an opinion."""
    found = read_opinion(reply.text, asked) if reply.answered else ()
    return replace(reply, outcome="malformed", why=found) if isinstance(found, str) else reply


@dataclass(frozen=True)
class KnownOpinions:
    """Opinions that need not be requested.

    ``said`` maps answer and name to the newest readable reply, or else the newest. ``given`` are
    the keys in other files of the set by the same judge and wording.
    """

    said: Mapping[tuple[OpinionTarget, str], StoredReply]
    given: frozenset[Key]

    def left(self, subject: JudgeSubject, *, again: bool = False) -> JudgeSubject | None:
        """Return the subject with its open names; ``again`` adds those with an unreadable reply."""
        names = []
        for name in subject.asked:
            if (subject.about.case, subject.about.model, name) in self.given:
                continue
            before = self.said.get((subject.about, name))
            if before is None or (again and not before.answered):
                names.append(name)
        return subject.asking(names) if names else None

    def unread(self, subject: JudgeSubject) -> StoredReply | None:
        """Return an unreadable reply on the subject, if it is the newest on one of its names."""
        found = (self.said.get((subject.about, name)) for name in subject.asked)
        return next((one for one in found if one is not None and not one.answered), None)


def read_known_opinions(review_set: ReviewSet, judge: str, prompt: Prompt) -> KnownOpinions:
    """Return a judge's opinions in this wording, and those in other files."""
    said: dict[tuple[OpinionTarget, str], StoredReply] = {}
    for one in _said(review_set.folder, judge, prompt):
        if one.prompt_hash != prompt.hash:
            continue
        for name in one.asked:
            before = said.get((one.about, name))
            if before is None or _rank(one.reply) > _rank(before):
                said[one.about, name] = one.reply
    return KnownOpinions(said, _given_elsewhere(review_set, judge, prompt))


def _rank(one: StoredReply) -> tuple[bool, str]:
    return one.answered, one.created


def _given_elsewhere(review_set: ReviewSet, judge: str, prompt: Prompt) -> frozenset[Key]:
    """Return the keys of opinions in files of the set that are no parts of this judge's runs.

    Those on earlier answers are included, because a key occurs once in all files.
    """
    runs = [run.id for run, _ in _runs(review_set.folder, judge, prompt)]
    rows = pl.concat([review_set.opinions, review_set.stale_opinions]).filter(
        pl.col("judge") == judge,
        pl.col("prompt_id") == prompt.id,
        ~pl.col("run_id").is_in(runs).fill_null(False),
    )
    named = rows.select("case", "model", pl.coalesce("failure", "dimension"))
    return frozenset(named.iter_rows())


def check_opinions_can_be_kept(set_folder: Path) -> None:
    """Check that opinions can be kept in a set, before any are requested.

    Raises
    ------
    RunRefused
        If they cannot.
    """
    folder = set_folder / OPINIONS
    if folder.exists() and not folder.is_dir():
        raise RunRefused(f"{OPINIONS} of the review set is no folder: mend that.")
    if not os.access(folder if folder.exists() else set_folder, os.W_OK):
        raise RunRefused(
            f"{OPINIONS}/ of the review set cannot be written: permit it, or copy the set."
        )


@dataclass(frozen=True)
class OpinionParts:
    """Content of the parts: ``files``, number of opinions, and of answers that they are on.

    ``quotes`` of them have a quote, ``lost`` of these quotes are not in the answer.
    """

    files: tuple[str, ...]
    opinions: int
    answers: int
    quotes: int
    lost: int


def write_opinions(review_set: ReviewSet, judge: str, prompt: Prompt) -> OpinionParts:
    """Rewrite the parts of all runs of a judge in the wording of this name, from their logs.

    If several runs have an opinion on the same thing, one on the current answer comes first, then
    one in the current wording, then the newest. Opinions in other files are not changed.

    Raises
    ------
    RunError
        If they cannot be written.
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
    return OpinionParts(tuple(files), len(rows), len(answers), len(found_of), found_of.count(False))


def _row(one: JudgeReply, opinion: Opinion, judge: str, prompt: Prompt) -> Row:
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
        row["extra"] = {"quote_found": missing_quote_note(opinion.name) not in one.reply.why}
    return row
