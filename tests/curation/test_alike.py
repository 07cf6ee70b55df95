"""Near-duplicates: all that a comparison of every two texts finds, and nothing else."""

import random

import numpy as np
import pytest

from rexview.curation.near_duplicates import (
    SIMILARITY_THRESHOLD,
    LetterSimilarity,
    find_similar_pairs,
)

WORDS = [
    *("effusion", "pneumothorax", "opacity", "left", "right", "lower", "upper", "lobe", "apex"),
    *("heart", "border", "silhouette", "enlarged", "blunted", "angle", "catheter", "tip", "rib"),
    *("fracture", "nodule", "hilum", "density", "margin"),
]


def texts_of(n):
    drawn = random.Random(4)
    base = [" ".join(drawn.choices(WORDS, k=drawn.randint(4, 18))) for _ in range(n)]
    changed = [text.replace("left", "right", 1) for text in base[: n // 2]]
    return [*base, *changed, *base[: n // 10]]


class Given:
    """Vectors as they are given."""

    name = "given"

    def __init__(self, rows):
        self.rows = np.asarray(rows, dtype=float)

    def vectors(self, texts):
        return self.rows[: len(texts)]


def test_it_finds_what_comparing_every_two_texts_finds():
    from sklearn.metrics.pairwise import cosine_similarity

    texts = texts_of(600)
    cosines = np.triu(cosine_similarity(LetterSimilarity().vectors(texts)), 1)
    expected = {(a, b) for a, b in np.argwhere(cosines > SIMILARITY_THRESHOLD).tolist()}
    found = find_similar_pairs(texts)
    assert len(expected) > 100
    assert {(pair.first, pair.second) for pair in found} == expected
    for pair in found:
        assert pair.similarity == pytest.approx(cosines[pair.first, pair.second])


def test_case_and_width_of_letters_make_no_other_text():
    pairs = find_similar_pairs(
        ["Is there an effusion?", "IS THERE AN EFFUSION？", "Where is the tube?"]
    )
    assert [(pair.first, pair.second, round(pair.similarity, 6)) for pair in pairs] == [(0, 1, 1.0)]


@pytest.mark.parametrize("texts", [[], ["One question?"], ["", ""], ["?", ""]])
def test_nothing_is_like_nothing(texts):
    assert find_similar_pairs(texts) == ()


def test_any_vectors_can_be_compared():
    rows = [[2, 0, 0], [0, 0, 0], [0.1, 3, 0], [5, 0.1, 0], [0, 0, 0]]
    (pair,) = find_similar_pairs("abcde", Given(rows))
    assert (pair.first, pair.second) == (0, 3)
    assert pair.similarity == pytest.approx(0.9998, abs=1e-4)
    assert find_similar_pairs("abcde", Given(rows), threshold=0.99999) == ()
