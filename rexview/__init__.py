"""See where chest X-ray models go wrong, case by case.

The packages import one way only (``tests/test_architecture.py`` enforces it)::

    errors, vocab < schema, frames, rubric < settings < geometry < imaging, stats
        < reviewset, detect < analysis < ui < pages

``cli`` and ``bench`` may import all of them.
"""

__version__ = "0.2.0"
