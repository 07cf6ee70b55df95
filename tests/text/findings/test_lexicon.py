"""Phrases of the lexicon are found word by word, the longest that is there."""

from __future__ import annotations

import random

from bench.corpus import laterality_pairs
from rexview.text.findings.lexicon import Meaning, PhraseNode, find_terms, lexicon
from rexview.text.findings.sentences import Tokens


def phrases() -> dict[tuple[str, ...], Meaning]:
    """All phrases by their words, without the tree."""
    found: dict[tuple[str, ...], Meaning] = {}
    waiting: list[tuple[tuple[str, ...], PhraseNode]] = [
        ((word,), opening) for word, opening in lexicon().phrases.items()
    ]
    for words, opening in waiting:
        if opening.alone is not None:
            found[words] = opening.alone
        waiting += [((*words, word), longer) for word, longer in opening.longer.items()]
    return found


def test_the_longest_phrase_at_a_place_is_found():
    known = phrases()
    longest = max(map(len, known))
    chance = random.Random(3)
    texts = [pair.answer.text or "" for pair in laterality_pairs()]
    words = [word for text in chance.sample(texts, 300) for word in Tokens(text).words]
    # parts of phrases, so that many are begun and not finished
    words += [word for phrase in chance.sample(sorted(known), 1500) for word in phrase[:3]]
    expected = []
    i = 0
    while i < len(words):
        left = min(longest, len(words) - i)
        sizes = [n for n in range(1, left + 1) if tuple(words[i : i + n]) in known]
        size = max(sizes, default=0)
        if size:
            expected.append((i, i + size, known[tuple(words[i : i + size])]))
        i += size or 1
    found = find_terms(words, 0, len(words), {})
    assert [(term.i, term.j, term.meaning) for term in found if not term.mark] == expected
    assert any(j - i > 2 for i, j, _ in expected)


def test_a_phrase_that_is_begun_and_not_finished_leaves_its_words_free():
    known = phrases()
    assert ("costophrenic", "angle") in known
    assert ("costophrenic", "left") not in known
    for text, spans in (("costophrenic angle", [(0, 2)]), ("costophrenic left", [(1, 2)])):
        words = Tokens(text).words
        found = find_terms(words, 0, len(words), {})
        assert [(term.i, term.j) for term in found if term.side or term.j - term.i == 2] == spans
