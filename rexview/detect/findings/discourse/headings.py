"""Headings, labels and questions that say what the sentences behind them are about."""

from __future__ import annotations

import re
from typing import Final

from rexview.detect.findings.clauses import Clause
from rexview.detect.findings.discourse.context import Context
from rexview.detect.findings.discourse.layout import stands_alone
from rexview.detect.findings.sentence_alone import Reading, read_alone
from rexview.detect.findings.sentences import Sentence
from rexview.detect.findings.tokens import Tokens
from rexview.detect.phrases import either, word_set

_WEIGHED: Final = re.compile(either("heading", "weighed"))
_ASKED: Final = re.compile(f"{either('heading', 'weighed')}|{either('heading', 'asked')}")
_SECTION: Final = re.compile(either("heading", "section"))
_BODY: Final = word_set("sentence", "body")
_SOON: Final = 120
"""Tokens that a request or history may take before its findings."""
SHORT: Final = 7
"""Tokens of the longest sentence that counts as a fragment, such as "Left side."."""
_ALL_WELL: Final = frozenset(("normal", "clear", "unremarkable", "fine", "ok"))


def read_label(tokens: Tokens, sentence: Sentence, context: Context) -> int:
    """Take in a heading or label; return the token at which the rest of the sentence starts."""
    end = sentence.i + sentence.label if sentence.label else sentence.j
    heading = sentence.kind == "heading"
    said, first = read_alone(tokens, sentence.i, end, begin=sentence.i)
    text = " ".join(tokens.words[sentence.i : end]).strip(" :")
    places = Clause(said.terms).side_spans(tokens, first)
    if (
        said.named
    ):  # as a heading it tells what follows about; as a label it is part of the sentence
        if not heading:
            return sentence.i
        _read_finding_heading(tokens, first, sentence, said, context)
        return end
    if {place[0] for place in places} == {places[0][0]} if places else False:
        context.topic = places[0]
        context.topic_line = None if heading else sentence.line
        return end if heading else sentence.i
    if _SECTION.search(text) or _ASKED.search(text):
        context.section = text
        context.status = "hypothetical" if _ASKED.search(text) else None
        # "Request: effusion? Findings: ..." on one line: the request goes up to the next label
        context.status_line = None if heading or _goes_on_to_findings(tokens, end) else sentence.i
        context.topic, context.topic_line = None, None
        return end
    context.status = None
    if heading:
        context.topic, context.topic_line = None, None
        return end
    return sentence.i


def _goes_on_to_findings(tokens: Tokens, k: int) -> bool:
    """Whether a label for the findings comes soon, so that all before it is the request."""
    words = tokens.words
    return any(
        words[n] == ":" and words[n - 1] in _BODY for n in range(k + 1, min(len(words), k + _SOON))
    )


def _read_finding_heading(
    tokens: Tokens, first: int, sentence: Sentence, said: Reading, context: Context
) -> None:
    """Take in a heading that names a finding: what follows says whether and where it is."""
    span = (tokens.starts[sentence.i], tokens.ends[sentence.j - 1])
    drafts = [draft for clause in said.clauses for draft in clause.drafts(tokens, first, span)]
    context.topic, context.topic_line = None, None
    context.last, context.last_line = drafts, sentence.line
    context.drafts += drafts
    for draft in drafts:
        draft.section = context.section


def heads_what_is_weighed(tokens: Tokens, sentence: Sentence) -> bool:
    """Whether a question stands alone on its line, above what is only weighed: "Why not ...?"."""
    words = " ".join(tokens.words[sentence.i : sentence.j])
    return stands_alone(tokens, sentence) and _WEIGHED.search(words) is not None


def called_normal_next(tokens: Tokens, sentence: Sentence) -> bool:
    """Whether a side only heads that all is well there: "Left side. Normal.", "Left: clear."."""
    word = next((one for one in tokens.words[sentence.j : sentence.j + 3] if one.isalpha()), "")
    return sentence.j - sentence.i <= SHORT and word in _ALL_WELL
