"""The review set on disk: load, check, write. ``FORMAT.md`` describes the files."""

from rexview.reviewset.images import image_path
from rexview.reviewset.load import check, checked, load, without_cases
from rexview.reviewset.sources import fingerprint
from rexview.reviewset.write import write, write_csv

__all__ = [
    "check",
    "checked",
    "fingerprint",
    "image_path",
    "load",
    "without_cases",
    "write",
    "write_csv",
]
