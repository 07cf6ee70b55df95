"""The records of a review set: frozen dataclasses in the words of ``reviewset/FORMAT.md``.

A :class:`ReviewSet` keeps its tables as polars frames (columns: :mod:`rexview.frames`); one case at
a time becomes records through its methods. Nothing here reads or writes a file.
"""

from rexview.schema.records import (
    Answer,
    AnswerBox,
    Case,
    Context,
    Evidence,
    Flag,
    Model,
    Protocol,
    Reader,
    ReaderChoice,
    ReaderFlag,
    ReferenceBox,
    Report,
    Score,
    SetInfo,
    StudyImage,
    answer_from_row,
    case_from_row,
    reader_choice_from_row,
    reader_flag_from_row,
    score_from_row,
)
from rexview.schema.report_records import (
    CorrectedReference,
    Edit,
    Mark,
    MetricValue,
    WrittenFailure,
    corrected_reference_from_row,
    edit_from_row,
    metric_value_from_row,
)
from rexview.schema.review_set import ReviewSet

__all__ = [
    "Answer",
    "AnswerBox",
    "Case",
    "Context",
    "CorrectedReference",
    "Edit",
    "Evidence",
    "Flag",
    "Mark",
    "MetricValue",
    "Model",
    "Protocol",
    "Reader",
    "ReaderChoice",
    "ReaderFlag",
    "ReferenceBox",
    "Report",
    "ReviewSet",
    "Score",
    "SetInfo",
    "StudyImage",
    "WrittenFailure",
    "answer_from_row",
    "case_from_row",
    "corrected_reference_from_row",
    "edit_from_row",
    "metric_value_from_row",
    "reader_choice_from_row",
    "reader_flag_from_row",
    "score_from_row",
]
