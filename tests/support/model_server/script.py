"""What the server is told to do: rules, each with turns.

A script is plain JSON or YAML, a list of rules. A rule is
``{"match": text, "turns": [turn, ...]}``, optionally with ``model`` and ``api`` (``responses``,
``chat``). The first rule whose ``match`` stands in the request's text counts; without ``match`` it
is for all. The turns are gone through by how often the same request came (``count: request``, the
default) or any request of the rule (``count: rule``); the last one stays. ``times`` repeats a turn.

A turn is any of these; what is not said is as a server usually does it:

=================  ==============================================================================
``text``           the answer; ``json`` the same as a value; without either, an answer is made up
``boxes``          drawn boxes: ``{"at": [[x, y, width, height], ...]}`` in pixels of a picture as
                   it was sent (``picture``, from 0), written as ``convention``
                   (``pixels_sent``, ``normalised_1000``, ``normalised_1``), ``corners``
                   (``xyxy``, ``yxyx``, ``xywh``, ``cxcywh``) and ``key`` say, after ``before``
                   (a text), with ``labels``
``reasoning``      tokens spent on reasoning before the answer
``silent_limit``   an answer cut at the limit is told as complete
``refusal``        the words of a refusal
``filtered``       the answer was stopped by a content filter
``incomplete``     another reason that a response is incomplete for
``messages``       several messages, ``[{"phase": ..., "text": ...}]`` (chat: joined)
``pictures``       how many pictures come back (responses: ``image_generation_call``)
``failed``         a response with status ``failed``: ``{"code": ..., "message": ...}``
``done_reason``    as Ollama says it, in place of ``finish_reason``
``no_usage``       no counts of tokens come back
``served_as``      the name of the model in the answer
``huge``           an answer of so many bytes
``error``          an HTTP error: ``{"status": 429, "code": ..., "type": ..., "message": ...,
                   "retry_after": seconds, "headers": {...}}``; ``{key}`` in the message is the
                   key that came
``garbage``        HTTP 200 with a body that is no JSON; ``html`` a page of a proxy, with ``status``
``body``           the whole body, as a value
``cut``            the connection ends ``before`` or in the ``middle`` of the body
``delay_s``        silent for so long first; ``trickle_s`` the body comes over so many seconds
``cached``         how many of the input's tokens count as cached
=================  ==============================================================================
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

TURN = frozenset(
    (
        *("text", "json", "boxes", "reasoning", "silent_limit", "refusal", "filtered"),
        *("incomplete", "messages", "pictures", "failed", "done_reason", "no_usage", "served_as"),
        *("huge", "error", "garbage", "html", "body", "cut", "delay_s", "trickle_s", "cached"),
        *("times", "status"),
    )
)
RULE = frozenset(("match", "model", "api", "turns", "count"))
Turn = Mapping[str, Any]


class Script:
    """Rules, and how often each request came."""

    def __init__(self, rules: Sequence[Mapping[str, Any]] = ()) -> None:
        for rule in rules:
            unknown = rule.keys() - RULE
            unknown |= {key for turn in rule["turns"] for key in turn} - TURN
            if unknown:
                raise ValueError(f"a script has no {', '.join(sorted(unknown))}")
        self._rules = [
            {**rule, "turns": [turn for turn in rule["turns"] for _ in range(turn.get("times", 1))]}
            for rule in rules
        ]
        self._came: Counter[tuple[int, str]] = Counter()
        self._lock = threading.Lock()

    def turn(self, api: str, model: str, text: str) -> tuple[int | None, int, Turn]:
        """Return the number of the rule, how often it came before, and what to do."""
        for number, rule in enumerate(self._rules):
            if rule.get("match", "") not in text:
                continue
            if rule.get("model", model) != model or rule.get("api", api) != api:
                continue
            with self._lock:
                key = (number, text if rule.get("count", "request") == "request" else "")
                before = self._came[key]
                self._came[key] += 1
            turns = rule["turns"]
            return number, before, turns[min(before, len(turns) - 1)]
        return None, 0, {}
