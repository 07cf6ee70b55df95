"""A sentence that was read before is not read again, and nobody can tell."""

from __future__ import annotations

import random

import pytest

from bench.corpus import laterality_pairs
from rexview.text.findings import clauses, find_mentions, mention_finder
from rexview.text.findings.mention_finder import clear_caches


@pytest.fixture(scope="module")
def texts() -> list[str]:
    """Answers of the corpus, each with parts of two others, so that sentences meet others."""
    given = [pair.answer.text or "" for pair in laterality_pairs()]
    chance = random.Random(13)
    between = (" ", "\n", "\n- ", ", ")
    return [
        chance.choice(between).join(part[: chance.randrange(20, 200)] for part in parts)
        for parts in zip(given, given[1:], given[7:], strict=False)
    ]


def test_words_around_a_sentence_are_shown_as_far_as_rules_ask_for_them(texts, monkeypatch):
    clear_caches()
    shown = [find_mentions(text) for text in texts]
    monkeypatch.setattr(clauses, "_before", lambda words, i: words[:i])
    monkeypatch.setattr(clauses, "_after", lambda words, j: words[j:])
    clear_caches()
    assert [find_mentions(text) for text in texts] == shown
    clear_caches()


def test_what_was_read_before_changes_nothing(texts):
    alone = []
    for text in texts[:300]:
        clear_caches()
        alone.append(find_mentions(text))
    clear_caches()
    for text in reversed(texts):
        find_mentions(text)
    mention_finder._remembered.cache_clear()
    assert [find_mentions(text) for text in texts[:300]] == alone
    assert clauses._read.cache_info().hits


def test_an_equal_sentence_is_found_where_it_stands():
    text = "Small left effusion.\nThe heart is normal.\nSmall left effusion."
    first, second = find_mentions(text)
    assert first.side == second.side == "left"
    assert text.rindex("effusion") == second.start
    assert text.rindex("left") == second.side_start
    assert second.sentence == (text.rindex("Small"), len(text) - 1)


def test_sentences_that_differ_in_numbers_only_are_read_once():
    clear_caches()
    find_mentions("There is a scar. A 4 cm nodule in the right base.")
    text = "There is a mass. A 12 cm nodule in the right base."
    missed = clauses._read.cache_info().misses
    nodule = find_mentions(text)[-1]
    assert text[nodule.start : nodule.end] == "nodule"
    assert nodule.side == "right"
    assert clauses._read.cache_info().misses == missed + 1, "the mass"


def test_the_side_of_an_earlier_sentence_is_no_part_of_what_is_remembered():
    clear_caches()
    for side in ("left", "right", "left"):
        mentions = find_mentions(f"The {side} lung is clear. Effusion on the same side.")
        assert [mention.side for mention in mentions] == [side]


def test_memory_of_sentences_is_bounded():
    assert clauses._read.cache_info().maxsize == clauses._REMEMBERED
