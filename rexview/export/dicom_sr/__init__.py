"""Answers, boxes, scores and decisions as DICOM: structured reports and presentation states.

Files of one case begin alike. :mod:`.images` has its images: references to the originals, or
Secondary Captures; :mod:`.reports` the structured reports, :mod:`.presentation` the boxes and
windows that viewers draw, :mod:`.selection` the list of it all; :mod:`.codes` what stands for
words. The parts of DICOM that are meant are named where they are used; ``docs/exports.md`` says
what is where.
"""

from rexview.export.dicom_sr.writing import write

__all__ = ["write"]
