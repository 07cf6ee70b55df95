"""Find failures with deterministic detectors that read only files and give evidence for every flag.

A detector implements :class:`rexview.detect.detector.Detector` and is listed in
:mod:`rexview.detect.registry`; nothing else has to change. A flag is something to review, never a
verdict. A **hint** (kind ``hint``) is weaker than a flag: it is shown as possible and counted
apart.

======================  =======================================================================
failure                 kinds of the detector's flags
======================  =======================================================================
``laterality_error``    ``report``, ``predominance``, ``boxes``, ``reference_boxes``, ``self``,
                        ``choice``
``token_limit``         ``finish_reason``, ``usage``, ``no_answer``, ``empty``,
                        ``truncated_suspected``, ``repetition``
``execution_gap``       ``scores``
``boxes_missing``       ``text``
``box_misplaced``       ``reference_boxes``, ``outside``, ``scores``
``box_unrelated``       ``text``, ``scores``
``failed_extraction``   ``no_choice``, ``no_option``
``disagreement``        ``scores``
``omission``            ``contradiction``, ``hint``
``hallucination``, ``wrong_type``, ``side_incomplete``, ``overconfident``,
``verbose``, ``terse``: ``hint``
``wrong_explanation``   none: only readers find it
===============================================================================================

In a notebook::

    from rexview.detect import find_flags, flag_rows, text_ending
    from rexview.reviewset import load_review_set

    review_set = load_review_set("my-review")
    find_flags(review_set)            # one row a flag, a polars frame
    flag_rows(review_set)             # with message and evidence, as `rexview failures --json`
    text_ending("There is a left eff")  # how a text ends
"""

from rexview.detect.box_failures import (
    box_request,
    cases_asking_for_boxes,
    models_with_boxes,
    models_without_boxes,
)
from rexview.detect.registry import DETECTORS, create_detectors, read_word_lists
from rexview.detect.scan.survey import (
    FAILURE_BITS,
    FLAG_TABLE,
    Survey,
    find_flags,
    find_flags_for_answers,
    flag_rows,
    iterate_flag_rows,
    join_verdicts,
    judged_answers,
    name_flags,
    survey,
    survey_scan,
)
from rexview.detect.score_failures import DISAGREEMENT_THRESHOLD, GAP_THRESHOLD
from rexview.detect.unsupported_language import explain_unsupported_language, list_unsupported_texts
from rexview.text.answer_ending import text_ending
from rexview.text.findings import finding_name, finding_region

__all__ = [
    "DETECTORS",
    "DISAGREEMENT_THRESHOLD",
    "FAILURE_BITS",
    "FLAG_TABLE",
    "GAP_THRESHOLD",
    "Survey",
    "box_request",
    "cases_asking_for_boxes",
    "create_detectors",
    "explain_unsupported_language",
    "find_flags",
    "find_flags_for_answers",
    "finding_name",
    "finding_region",
    "flag_rows",
    "iterate_flag_rows",
    "join_verdicts",
    "judged_answers",
    "list_unsupported_texts",
    "models_with_boxes",
    "models_without_boxes",
    "name_flags",
    "read_word_lists",
    "survey",
    "survey_scan",
    "text_ending",
]
