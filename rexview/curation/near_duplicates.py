"""Find questions that are nearly the same, in any study.

By default texts are compared by their letters: the cosine between counts of the runs of three to
five letters within words. The similarity of two texts depends only on them, so no value changes
when others are proposed. Another comparison, such as a model of embeddings, is a
:class:`Similarity`.

Two long questions that differ in one word are similar by any such measure, even if the word is a
side. The reader decides.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

SIMILARITY_THRESHOLD: Final = 0.9
"""Questions more similar than this count as the same (ReXVQA's paper)."""
_LETTERS: Final = (3, 5)
_COLUMNS: Final = 2**20
_SHORT: Final = 1024
_SEED: Final = 1
_BLOCK: Final = 512
_SLACK: Final = 0.05


class Similarity(Protocol):
    """A comparison of texts: each gets a vector, and the cosine of two is their similarity."""

    @property
    def name(self) -> str:
        """Name of the comparison, for people and for the record."""
        ...

    def vectors(self, texts: Sequence[str]) -> Any:
        """Return a row for each text, shape (n, k): a numpy array or a sparse matrix of scipy.

        Rows need not have length 1. A row of zeros is similar to nothing.
        """
        ...


class LetterSimilarity:
    """Compares texts by runs of letters on this machine, without a model."""

    name = "letters"

    def vectors(self, texts: Sequence[str]) -> Any:
        """Return counts of runs of letters, shape (n, 2**20), sparse."""
        from sklearn.feature_extraction.text import HashingVectorizer  # slow to import

        counts = HashingVectorizer(
            analyzer="char_wb",
            ngram_range=_LETTERS,
            n_features=_COLUMNS,
            alternate_sign=False,
            norm=None,
            preprocessor=_folded,
        )
        return counts.transform(texts)


class SimilarPair(NamedTuple):
    """Two texts by their positions, the earlier first, and their similarity (cosine)."""

    first: int
    second: int
    similarity: float


def find_similar_pairs(
    texts: Sequence[str],
    similarity: Similarity | None = None,
    *,
    threshold: float = SIMILARITY_THRESHOLD,
) -> tuple[SimilarPair, ...]:
    """Return all pairs of texts more similar than the threshold, in the order of the texts.

    Parameters
    ----------
    similarity : Similarity, optional
        By letters if absent; those results are cached for the last few lists of texts.
    threshold : float
        Above 0, below 1.
    """
    if similarity is None:
        return _by_letters(tuple(texts), threshold)
    return _pairs(similarity.vectors(texts), threshold) if len(texts) > 1 else ()


@lru_cache(maxsize=4)
def _by_letters(texts: tuple[str, ...], threshold: float) -> tuple[SimilarPair, ...]:
    return find_similar_pairs(texts, LetterSimilarity(), threshold=threshold)


def _folded(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()


def _pairs(vectors: Any, threshold: float) -> tuple[SimilarPair, ...]:
    from scipy.sparse import issparse  # slow to import
    from sklearn.preprocessing import normalize

    unit = normalize(vectors.astype(np.float64))
    sparse = issparse(unit)
    near = normalize(_shortened(unit)) if sparse else unit.astype(np.float32)
    found: list[tuple[int, int, float]] = []
    for start in range(0, len(near), _BLOCK):
        about = near[start : start + _BLOCK] @ near[start:].T
        first, second = np.nonzero(np.triu(about > threshold - _SLACK, 1))
        one, other = unit[first + start], unit[second + start]
        products = one.multiply(other).sum(axis=1) if sparse else (one * other).sum(axis=1)
        cosines = np.asarray(products).ravel()
        kept = cosines > threshold
        found += zip(first[kept] + start, second[kept] + start, cosines[kept], strict=True)
    return tuple(SimilarPair(int(a), int(b), min(float(c), 1.0)) for a, b, c in found)


def _shortened(unit: Any) -> NDArray[np.float32]:
    """Project sparse rows onto few columns; each old column is added to a new one or subtracted.

    Cosines near the threshold usually change by less than 0.01 (``(1 - c * c) / sqrt(k)``). Pairs
    within :data:`_SLACK` below it are then computed in full.
    """
    from scipy.sparse import csr_matrix

    drawn = np.random.default_rng(_SEED)
    met, place = np.unique(unit.indices, return_inverse=True)
    into = drawn.integers(_SHORT, size=len(met))[place]
    signs = drawn.choice([-1.0, 1.0], size=len(met))[place]
    short = csr_matrix((unit.data * signs, into, unit.indptr), shape=(unit.shape[0], _SHORT))
    return short.astype(np.float32).toarray()  # type: ignore[no-any-return]
