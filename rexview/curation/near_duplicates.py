"""Questions that are nearly the same, whichever study they are of.

By default texts are compared by their letters: the cosine between counts of the runs of three to
five letters within words. What two texts have is theirs alone, so that no value changes when
others are proposed. Another way to compare, such as a model of embeddings, is a
:class:`Similarity`.

Two long questions that differ in one word are alike by any such measure, also where the word is a
side: who reads decides.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

ALIKE: Final = 0.9
"""Questions more alike than this are the same question (ReXVQA's paper)."""
_LETTERS: Final = (3, 5)
_COLUMNS: Final = 2**20
_SHORT: Final = 1024
_SEED: Final = 1
_BLOCK: Final = 512
_SLACK: Final = 0.05


class Similarity(Protocol):
    """A way to compare texts: each gets a vector, and the cosine between two says how alike."""

    @property
    def name(self) -> str:
        """What compares, for people and for the record."""
        ...

    def vectors(self, texts: Sequence[str]) -> Any:
        """Return a row for each text, shape (n, k): a numpy array or a sparse matrix of scipy.

        Rows need not have length 1. A row of zeros is like nothing.
        """
        ...


class ByLetters:
    """Texts compared by runs of letters, on this machine; no model is asked."""

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


class AlikePair(NamedTuple):
    """Two texts by their places, the earlier first, and their similarity (cosine)."""

    first: int
    second: int
    similarity: float


def alike_pairs(
    texts: Sequence[str], similarity: Similarity | None = None, *, threshold: float = ALIKE
) -> tuple[AlikePair, ...]:
    """Return all pairs of texts that are more alike than the threshold, in the order of the texts.

    Parameters
    ----------
    similarity : Similarity, optional
        By letters when absent; what was found so is remembered for the last few lists of texts.
    threshold : float
        Above 0, below 1.
    """
    if similarity is None:
        return _by_letters(tuple(texts), threshold)
    return _pairs(similarity.vectors(texts), threshold) if len(texts) > 1 else ()


@lru_cache(maxsize=4)
def _by_letters(texts: tuple[str, ...], threshold: float) -> tuple[AlikePair, ...]:
    return alike_pairs(texts, ByLetters(), threshold=threshold)


def _folded(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()


def _pairs(vectors: Any, threshold: float) -> tuple[AlikePair, ...]:
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
    return tuple(AlikePair(int(a), int(b), min(float(c), 1.0)) for a, b, c in found)


def _shortened(unit: Any) -> NDArray[np.float32]:
    """Project sparse rows on few columns: each column of old is added to one of new, or taken off.

    Cosines near the threshold change by less than 0.01 as a rule (``(1 - c * c) / sqrt(k)``), and
    pairs within :data:`_SLACK` below it are then worked out in full.
    """
    from scipy.sparse import csr_matrix

    drawn = np.random.default_rng(_SEED)
    met, place = np.unique(unit.indices, return_inverse=True)
    into = drawn.integers(_SHORT, size=len(met))[place]
    signs = drawn.choice([-1.0, 1.0], size=len(met))[place]
    short = csr_matrix((unit.data * signs, into, unit.indptr), shape=(unit.shape[0], _SHORT))
    return short.astype(np.float32).toarray()  # type: ignore[no-any-return]
