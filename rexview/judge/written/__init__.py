"""Failures that clinicians describe in words, and judges' verdicts on which answers have them.

Subjects and blinding are the same as for other opinions (:mod:`rexview.judge.subjects`).
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Final, Literal

from rexview.errors import SettingsError
from rexview.judge.opinions import contains_quote, parse_only_object
from rexview.judge.request import build_judge_asking, build_judge_request, create_request_builder
from rexview.judge.subjects import (
    WRITTEN,
    JudgeSubject,
    OpinionTarget,
    join_report_sections,
    parse_judge_subject_id,
)
from rexview.models.asking.prompts import (
    PROMPTS_FOLDER,
    fence_values,
    fill_template,
    is_prompt_name,
    prompt_file,
    with_hash,
)
from rexview.models.asking.request_builder import context_lines, context_texts, question_values
from rexview.models.asking.yaml_values import raise_problems, read_entry, read_mapping
from rexview.models.backend import ModelRequest, Prompt, Reply, SentImage, closed_object_schema
from rexview.models.running.attempts import RunTask, UnreadReply
from rexview.models.running.run_folder import JUDGING_FOLDER
from rexview.models.running.run_journal import StoredReply, newest_stored_replies
from rexview.models.running.run_spec import RunSpec
from rexview.schema import ReviewSet
from rexview.settings import Settings
from rexview.untrusted_input import read_untrusted_yaml

# Wordings from the words of a failure that a clinician described.
#
# The words were written on a page and are kept with the reviews, or they are in a file of the
# review set.

_FRAME: Final = Path(__file__).with_name("written-1.yaml")
OWN: Final = "failures"
"""Folder in a set's folder ``prompts`` with failures described in words."""
FIELD: Final = "written"
"""Field of a wording for these words; no other kind of wording has it."""
LONGEST_NAME: Final = 200
LONGEST: Final = 4_000
LONGEST_EXAMPLE: Final = 1_000
EXAMPLES: Final = 20
NEEDED: Final = ("name", "counts")
_LONGEST_START: Final = 60


@cache
def load_written_frame() -> Prompt:
    """Return the common wording for any written failure, without its words."""
    values: Any = read_untrusted_yaml(_FRAME)
    return with_hash(Prompt(id=_FRAME.stem, **values))


def find_written(name: str, folder: Path) -> Prompt:
    """Return the failure that ``prompts/failures/NAME.yaml`` of a review set describes.

    Raises
    ------
    SettingsError
        If there is none with that name, or its file cannot be used; every problem is listed.
    """
    path = prompt_file(name, folder)
    path = path.parent / OWN / path.name
    label = f"{PROMPTS_FOLDER}/{OWN}/{path.name}"
    raw = read_mapping(path, label)
    if raw is None:
        raise SettingsError(
            f"There is no written failure {name!r:.80}: write it on the page Failures, or into "
            f"{label} of the review set, with {' and '.join(NEEDED)}."
        )
    return build_written_wording(name, raw, label)


def list_failure_files(folder: Path) -> list[str]:
    """Return the names of the failures that files of a review set describe."""
    return sorted(
        path.stem
        for path in (folder / PROMPTS_FOLDER / OWN).glob("*.yaml")
        if is_prompt_name(path.stem)
    )


def build_written_wording(name: str, raw: Mapping[str, Any], label: str) -> Prompt:
    """Return words as a wording; ``label`` is their location, for messages.

    The wording's ``hash`` covers its words too. Edited words are another version, to which no
    verdict on an earlier version applies. The same words in a file and on a page are one version.

    Raises
    ------
    SettingsError
        If they cannot be used; every problem is listed.
    """
    readers = {
        "name": _said(LONGEST_NAME),
        "counts": _said(LONGEST),
        "does_not_count": _said(LONGEST),
        "examples": _examples,
        "counterexamples": _examples,
    }
    problems: list[str] = []
    found = read_entry(raw, readers, label, problems)
    problems += [f"{label}, {one}: it is missing. Write it." for one in NEEDED if one not in raw]
    raise_problems(problems)
    words = {one: found[one] for one in readers if found.get(one)}
    return with_hash(
        replace(
            load_written_frame(), id=f"{FIELD}:{name}", name=found["name"], fields={FIELD: words}
        )
    )


def find_unused_name(title: str, taken: Iterable[str]) -> str:
    """Return an unused name, made from a title, that links and the command line accept.

    >>> find_unused_name("Comparison that doesn't exist", ["comparison-that-doesn-t-exist"])
    'comparison-that-doesn-t-exist-2'
    """
    plain = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode().lower()
    start = "-".join(re.findall("[a-z0-9]+", plain))[:_LONGEST_START].strip("-") or "failure"
    known, number, name = set(taken), 1, start
    while name in known:
        number += 1
        name = f"{start}-{number}"
    return name


def find_written_name(prompt: Prompt) -> str:
    """Return the name of a written failure: ``NAME`` of its file."""
    return prompt.id.partition(":")[2]


def format_written_words(prompt: Prompt) -> str:
    r"""Return the words of a written failure as one text, as a judge receives them.

    >>> format_written_words(Prompt("w", "n", 1, "", {}, {"written": {"name": "Invented",
    ...     "counts": "A"}}))
    'Name: Invented\nCounts: A'
    """
    given = prompt.fields[FIELD]
    titles = {
        "name": "Name",
        "counts": "Counts",
        "does_not_count": "Does not count",
        "examples": "Examples that count",
        "counterexamples": "Examples that do not count",
    }
    return "\n".join(f"{title}: {given[one]}" for one, title in titles.items() if one in given)


def is_written(prompt: Prompt) -> bool:
    """True if a wording is that of a written failure."""
    return FIELD in prompt.fields


def _said(most: int) -> Callable[[Any], str]:
    def read(value: Any) -> str:
        if not isinstance(value, str) or not value.strip() or len(value) > most:
            raise ValueError(f"a text of 1 to {most:,} characters")
        return value.strip()

    return read


def _examples(value: Any) -> str:
    if not isinstance(value, list) or not 0 < len(value) <= EXAMPLES:
        raise ValueError(f"a list of 1 to {EXAMPLES} texts")
    each = [_said(LONGEST_EXAMPLE)(one) for one in value]
    return "".join(f"\n- {one}" for one in each)


# Verdicts of judges on a written failure, or the reason why they are invalid. Nothing is guessed.

JudgeReply = Literal["yes", "no", "unsure"]
JUDGE_REPLIES: Final[tuple[JudgeReply, ...]] = ("yes", "no", "unsure")
_LONGEST: Final = 10_000


@dataclass(frozen=True)
class WrittenVerdict:
    """Verdict on whether an answer has the failure, with reason and quote by the judge."""

    said: JudgeReply
    reason: str | None
    quote: str | None

    def quote_stands(self, answer: str) -> bool | None:
        """Return True if the quote is in the answer; None without a quote."""
        return contains_quote(self.quote, answer) if self.quote else None


def parse_written_verdict(text: str) -> WrittenVerdict | str:
    """Parse the JSON object of a judge; a sentence on what is wrong if it is not as requested."""
    value = parse_only_object(text)
    if isinstance(value, str):
        return value
    given = value.get("has_it")
    word = given.strip().lower() if isinstance(given, str) else given
    said = next((one for one in JUDGE_REPLIES if one == word), None)
    if said is None:
        return f"has_it is {given!r:.60}, none of {', '.join(JUDGE_REPLIES)}."
    words: dict[str, str | None] = {}
    for part in ("reason", "quote"):
        words[part] = _text(value, part)
        if words[part] is None:
            return f"The {part} is no text of at most {_LONGEST:,} characters."
    if said == "no" and words["quote"]:  # a quote would show the failure
        return "It says no, and quotes the failure all the same."
    return WrittenVerdict(said, words["reason"] or None, words["quote"] or None)


def _text(value: Mapping[str, object], part: str) -> str | None:
    given = value.get(part)
    given = "" if given is None else given
    return given.strip() if isinstance(given, str) and len(given) <= _LONGEST else None


# The request about one answer and one written failure, and the reading of its reply.

OUTPUT_TOKENS: Final = 100
"""Estimated tokens of a reply until the first ones arrive: a word, a sentence, a quote."""
NO_QUOTE: Final = "What it quotes does not stand in the answer."


def build_written_asking(
    review_set: ReviewSet, subjects: Iterable[JudgeSubject], spec: RunSpec, settings: Settings
) -> RunTask[JudgeSubject]:
    """Return how a run makes requests for subjects and reads the replies."""
    shown = create_request_builder(review_set, spec, settings, build_written_request)
    return build_judge_asking(subjects, spec, shown, read_written_reply, OUTPUT_TOKENS)


def build_written_request(
    subject: JudgeSubject,
    pictures: Sequence[SentImage],
    spec: RunSpec,
    repeat: int = 1,
    notes: tuple[str, ...] = (),
) -> ModelRequest:
    """Build the request for one answer.

    Unlike a second opinion it needs neither picture nor report, because the words may define
    something visible in the answer alone.

    Raises
    ------
    AttemptFailed
        Of kind ``request``, if the question cannot be written.
    """
    case, report, asked = (
        subject.case,
        join_report_sections(subject.case.report),
        question_values(subject.case),
    )
    given = {
        "question": asked["question"],
        "options": asked.get("options", ""),
        "report": report,
        "answer": subject.text,
        "failure": format_written_words(spec.prompt),
    }
    texts = fence_values(spec.prompt.texts, {**given, "lines": context_lines(case)})
    prompt = replace(spec.prompt, texts=texts)
    form = json.dumps({"has_it": " | ".join(JUDGE_REPLIES), "reason": "...", "quote": "..."})
    parts = [
        *([] if pictures else [texts["no_picture"]]),
        *context_texts(case, prompt),
        fill_template(texts["question"], given),
        *([fill_template(texts["options"], given)] if given["options"] else []),
        fill_template(texts["reference"], given) if report else texts["no_reference"],
        fill_template(texts["answer"], given),
        fill_template(texts["failure"], given),
        fill_template(texts["json"], {"form": form}),
    ]
    text = {"type": "string"}
    schema = closed_object_schema(
        {"has_it": {**text, "enum": list(JUDGE_REPLIES)}, "reason": text, "quote": text}
    )
    return build_judge_request(subject, pictures, spec, parts, schema, repeat=repeat, notes=notes)


def read_written_reply(request: ModelRequest, reply: Reply, subject: JudgeSubject) -> UnreadReply:
    """Return a reply as received; if it is not as requested, it is malformed, with the reason."""
    if reply.outcome != "answered":
        return UnreadReply(reply.text, reply.outcome, request.notes)
    found = parse_written_verdict(reply.text)
    if isinstance(found, str):
        return UnreadReply(reply.text, "malformed", (*request.notes, found))
    lost = (NO_QUOTE,) if found.quote_stands(subject.text) is False else ()
    return UnreadReply(reply.text, "answered", (*request.notes, *lost))


# Verdicts on written failures, from the logs of the judges' runs.
#
# The words, the judge and all replies are in the run's folder in ``judging/``. A result belongs to
# one version of the words and one text of the answer.


@dataclass(frozen=True)
class JudgedAnswer:
    """The verdict on one answer; ``quote_found`` is None without a quote."""

    about: OpinionTarget
    found: WrittenVerdict
    quote_found: bool | None
    run: str
    created: str


@dataclass(frozen=True)
class WrittenResults:
    """Verdicts of one judge on the selected answers, for one version of the words.

    ``unread`` are answers whose last reply could not be read, ``unasked`` those without a reply.
    """

    said: tuple[JudgedAnswer, ...]
    unread: tuple[tuple[OpinionTarget, StoredReply], ...]
    unasked: tuple[OpinionTarget, ...]

    def count(self, said: str) -> int:
        """Return the number of answers with this verdict."""
        return sum(one.found.said == said for one in self.said)


def find_written_replies(
    review_set: ReviewSet, judge: str, prompt: Prompt
) -> dict[OpinionTarget, StoredReply]:
    """Return a judge's newest readable reply on each answer, or else the newest.

    Only replies to exactly these words count. The key includes digests of the answer and of
    everything shown with it.
    """
    kept = newest_stored_replies(review_set.folder, JUDGING_FOLDER, judge, prompt)
    named = ((parse_judge_subject_id(subject), reply) for subject, reply in kept.items())
    return {one[0]: _as_read_now(reply) for one, reply in named if one and one[1] == (WRITTEN,)}


def select_open_subjects(
    subjects: Sequence[JudgeSubject], known: Mapping[OpinionTarget, StoredReply], *, again: bool
) -> list[JudgeSubject]:
    """Return the subjects without a reply; with ``again``, also those with an unreadable one."""
    return [
        one
        for one in subjects
        if (before := known.get(one.about)) is None or (again and not before.answered)
    ]


def collect_written_results(
    subjects: Sequence[JudgeSubject], known: Mapping[OpinionTarget, StoredReply]
) -> WrittenResults:
    """Return the verdicts on these answers, the unreadable replies, and the answers without one."""
    said, unread, unasked = [], [], []
    for one in subjects:
        reply = known.get(one.about)
        if reply is None:
            unasked.append(one.about)
            continue
        found = parse_written_verdict(reply.text) if reply.answered else ""
        if isinstance(found, str):
            unread.append((one.about, reply))
            continue
        stands = found.quote_stands(one.text)
        said.append(JudgedAnswer(one.about, found, stands, reply.run, reply.created))
    return WrittenResults(tuple(said), tuple(unread), tuple(unasked))


def _as_read_now(reply: StoredReply) -> StoredReply:
    """Mark a reply as malformed if only an earlier version could read it."""
    found = parse_written_verdict(reply.text) if reply.answered else None
    return replace(reply, outcome="malformed", why=found) if isinstance(found, str) else reply
