"""Find questions that ask for a comparison with an earlier study that is not available.

Words and tag of time decide whether a question asks for one. Comparisons within one image (sides,
apices, the heart with the thorax) need no earlier study.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Final

from rexview.addresses import is_address
from rexview.errors import ImageError, PathEscape
from rexview.reviewset.image_paths import find_image_file
from rexview.schema import Case, ReviewSet, StudyImage

_LONGEST: Final = 5_000
"""Characters of a question that are read."""
_IMAGES: Final = (
    r"(?:(?:chest|frontal|lateral|portable|ap|pa)\s+)*(?:radiographs?|x-?\s?rays?|films?|images?"
    r"|imaging|stud(?:y|ies)|exam(?:s|inations?)?|scans?|cts?|cxrs?|comparisons?)"
)
_EARLIER: Final = r"(?:prior|previous|earlier|last|old|older|preceding|former|past|baseline)"
_CHANGED: Final = (
    r"(?:increased?|decreased?|progress(?:ed)?|regress(?:ed)?|improved?|worsen(?:ed)?"
    r"|deteriorat(?:ed?)|resolved?|clear(?:ed)?|chang(?:ed?)|mov(?:ed?)|migrat(?:ed?)|evolved?"
    r"|enlarged?|grow[n]?|grew|shrunk|shrink|diminish(?:ed)?|develop(?:ed)?|appear(?:ed)?"
    r"|disappear(?:ed)?|re-?accumulated?|recur(?:red)?|repositioned|re-?expand(?:ed)?|remained)"
)
_TURNS: Final = r"(?:change|increase|decrease|development|improvement|worsening|progression)"
_MEASURED: Final = (
    r"(?:size|extent|position|appearance|number|volumes?|severity|degree|aeration|density|width"
    r"|configuration|heart|cardiothoracic|lung)"
)
_ASKING: Final = tuple(
    re.compile(words, re.I)
    for words in (
        rf"\b{_EARLIER}\s+{_IMAGES}\b",
        rf"\b(?:since|from|than|with|to)\s+(?:the\s+)?(?:{_EARLIER}\s+\w+|baseline\b|yesterday)",
        rf"\b{_IMAGES}\s+(?:of|from)\s+[^?.;]{{0,30}}\b(?:ago|yesterday|last|earlier)\b",
        rf"\binterval\s+(?:{_TURNS}|resolution|growth|enlargement|removal|placement|new)\b",
        r"\bin\s+the\s+(?:interval|interim|meantime|meanwhile)\b",
        r"\bover\s+(?:time|the\s+(?:last|past)\b)|\btemporal\s+(?:evolution|change|course)",
        r"\bbetween\s+(?:the\s+)?(?:two|both|serial|successive|consecutive)\s+"
        rf"(?:{_IMAGES}|time\s?points|dates)\b",
        rf"\b(?:has|have|had|did|was|were)\b[^?.;]{{1,100}}?\b{_CHANGED}\b",
        r"\b(?:new(?:er)?|recent)\s+or\s+(?:old|older|known|pre-?existing|chronic)\b",
        r"\bnew\b(?!\s*-?\s*(?:onset|symptoms?|cough|fever|dyspnoea|dyspnea|pain|patients?)\b)",
        r"\bnewly\s+(?:developed|appeared|visible|seen)\b|\bde\s+novo\b",
        r"\b(?:is|are|remains?|appears?|whether|as|and)\b[^?.;]{0,100}?"
        r"(?<!haemodynamically )(?<!hemodynamically )(?<!clinically )(?<!mechanically )"
        r"\b(?:stable|persist(?:ent|s|ed)|static)\b",
        r"\bunchanged\b|\bstability\s+of\b",
        r"\b(?:worsening|resolving|improving|progressing|regressing)\b|\bprogression\s+of\b",
        r"\b(?:better|worse|larger|smaller|more|less)\b[^?.;]{0,40}\bthan\s+(?:before|previously)\b",
        r"\b(?:better|worse|larger|smaller)\s+or\s+(?:better|worse|larger|smaller|unchanged)\b",
        r"\bpreviously\s+(?:seen|noted|described|reported|identified|visible|present)\b",
        rf"\b(?:any|the|describe|quantify|assess|what)\s+changes?\s+in\s+(?:the\s+)?{_MEASURED}\b",
        rf"\b{_TURNS}\s+(?:of|in)\b[^?.;]{{0,60}}\bsince\b",
    )
)
_ONLY_IF: Final = re.compile(
    rf"\b(?:would|could|might|may)\s+[^?.;]{{0,20}}{_EARLIER}\s+{_IMAGES}"
    rf"|\bwithout\s+[^?.;]{{0,20}}{_EARLIER}\s+{_IMAGES}",
    re.I,
)
"""Mentions of earlier images that do not ask for them."""
_TIME_TAG: Final = "temporal_context"
_TAG_ASKS: Final = re.compile(
    r"compar|prior|previous|interval|follow|longitudinal|serial|progress|chang|evol", re.I
)
_TAG_DENIES: Final = re.compile(r"\b(?:no|non|none|not|without|single|current)\b", re.I)


def asks_for_comparison(
    question: str, tags: Mapping[str, Sequence[str]] | None = None
) -> str | None:
    """Return the words by which a question asks for an earlier study; None if it does not.

    >>> asks_for_comparison("Is the effusion larger than on the last film?")
    'last film'
    >>> asks_for_comparison("Is the left lung hyperlucent compared with the right side?")

    ``tags`` are those of the question; its ``temporal_context`` counts like its words.
    """
    for value in (tags or {}).get(_TIME_TAG, ()):
        if _TAG_ASKS.search(value) and not _TAG_DENIES.search(value):
            return value
    return _asking_words(question)


@lru_cache(maxsize=50_000)
def _asking_words(question: str) -> str | None:
    text = _ONLY_IF.sub(" ", question[:_LONGEST])
    found = (pattern.search(text) for pattern in _ASKING)
    return next((" ".join(match.group().split()) for match in found if match), None)


def explain_block(
    review_set: ReviewSet,
    case: Case,
    question: str,
    tags: Mapping[str, Sequence[str]] | None = None,
) -> str | None:
    """Return a sentence on why a question of a study cannot be chosen; None if it can.

    ``question`` is the text as it would be asked, so after edits.
    """
    words = asks_for_comparison(question, tags)
    if words is None or has_readable_prior(review_set, case):
        return None
    return (
        f"Asks for a comparison (“{words}”), and this study has no earlier frontal image that "
        "can be read."
    )


def has_readable_prior(review_set: ReviewSet, case: Case) -> bool:
    """True if a study has an earlier frontal image whose file exists and is a picture.

    If the images are at an address, nothing is fetched, and the name of an image is enough.
    """
    earlier = [one for one in case.images if one.prior and one.frontal]
    if is_address(review_set.info.images):
        return bool(earlier)
    return any(_readable(review_set, one) for one in earlier)


def _readable(review_set: ReviewSet, image: StudyImage) -> bool:
    try:
        path = find_image_file(review_set, image.path)
        state = path.stat()
    except (OSError, ValueError, PathEscape):
        return False
    return _is_picture(path, state.st_mtime_ns, state.st_size)


@lru_cache(maxsize=10_000)
def _is_picture(path: Path, modified: int, size: int) -> bool:
    """True if the file in this state can be read as a picture, by its header."""
    from rexview.imaging import read_facts  # the decoders are slow to import

    try:
        read_facts(path)
    except ImageError:
        return False
    return True
