"""The review set on disk: load, check, write. ``FORMAT.md`` describes the files."""

from rexview.reviewset.image_paths import find_image_file
from rexview.reviewset.load import (
    check_review_set,
    load_info_only,
    load_review_set,
    load_with_problems,
)
from rexview.reviewset.set_files import fingerprint
from rexview.reviewset.write import save_review_set, write_csv

__all__ = [
    "check_review_set",
    "find_image_file",
    "fingerprint",
    "load_info_only",
    "load_review_set",
    "load_with_problems",
    "save_review_set",
    "write_csv",
]
