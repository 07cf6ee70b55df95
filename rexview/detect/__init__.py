"""Failure detectors: deterministic, from files alone, every flag with its evidence.

A detector implements :class:`Detector` and stands in :func:`detectors`; nothing else has to change.
Flags are something to review, never a verdict. Weaker than a flag is a **hint** (kind ``hint``, or
``bilateral`` for one side of a bilateral finding): shown as possible, counted apart.

======================  =======================================================================
failure                 kinds of the detector's flags
======================  =======================================================================
``laterality_error``    ``report``, ``boxes``, ``reference_boxes``, ``self``, ``choice``;
                        ``bilateral``
``token_limit``         ``finish_reason``, ``usage``, ``no_answer``, ``empty``,
                        ``truncated_suspected``, ``repetition``
``execution_gap``       ``scores``
``boxes_missing``       ``text``
``box_misplaced``       ``reference_boxes``, ``outside``, ``scores``
``box_unrelated``       ``text``, ``scores``
``failed_extraction``   ``no_choice``, ``no_option``
``disagreement``        ``scores``
``hallucination``, ``omission``, ``wrong_type``, ``overconfident``, ``verbose``, ``terse``: ``hint``
===============================================================================================

In a notebook::

    from rexview.detect import find_flags, flag_rows, text_ending
    from rexview.reviewset import load

    review_set = load("my-review")
    find_flags(review_set)            # one row a flag, a polars frame
    flag_rows(review_set)             # with message and evidence, as `rexview failures --json`
    text_ending("There is a left eff")  # how a text ends
"""

from rexview.detect.answer_length import AnswerLength
from rexview.detect.answer_text.ending import TextEnding, text_ending
from rexview.detect.answer_text.token_limit import TokenLimit
from rexview.detect.boxes.misplaced import BoxMisplaced
from rexview.detect.boxes.missing import (
    BoxesMissing,
    box_request,
    cases_asking_for_boxes,
    models_without_boxes,
)
from rexview.detect.boxes.side_labels import Claim, claim_of, finding_of
from rexview.detect.boxes.unrelated import BoxUnrelated
from rexview.detect.certainty import Overconfident
from rexview.detect.choices import FailedExtraction
from rexview.detect.core.detector import ComparingDetector, Detector
from rexview.detect.core.flag_findings import finding_name, finding_region
from rexview.detect.core.flags import (
    DETECTORS,
    FLAG_TABLE,
    Survey,
    detectors,
    find_flags,
    flag_rows,
    flags_for,
    read_word_lists,
    survey,
)
from rexview.detect.core.judgeable import judged_answers
from rexview.detect.core.reader_verdicts import with_words
from rexview.detect.disagreement import DISAGREEMENT_THRESHOLD, Disagreement
from rexview.detect.finding_hints import InventedFinding, MissedFinding, WrongAbnormality
from rexview.detect.gap import GAP_THRESHOLD, ExecutionGap
from rexview.detect.laterality.detector import Laterality

__all__ = [
    "DETECTORS",
    "DISAGREEMENT_THRESHOLD",
    "FLAG_TABLE",
    "GAP_THRESHOLD",
    "AnswerLength",
    "BoxMisplaced",
    "BoxUnrelated",
    "BoxesMissing",
    "Claim",
    "ComparingDetector",
    "Detector",
    "Disagreement",
    "ExecutionGap",
    "FailedExtraction",
    "InventedFinding",
    "Laterality",
    "MissedFinding",
    "Overconfident",
    "Survey",
    "TextEnding",
    "TokenLimit",
    "WrongAbnormality",
    "box_request",
    "cases_asking_for_boxes",
    "claim_of",
    "detectors",
    "find_flags",
    "finding_name",
    "finding_of",
    "finding_region",
    "flag_rows",
    "flags_for",
    "judged_answers",
    "models_without_boxes",
    "read_word_lists",
    "survey",
    "text_ending",
    "with_words",
]
