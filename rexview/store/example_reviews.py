"""What people wrote in the demonstration, laid out for a user who opens it for the first time.

The demonstration comes with a file of example entries: a study that two readers have finished, and
a prepared meeting. It is a SQLite backup (:mod:`rexview.store.backup`), which is copied to where
the user's own entries are then written. No other review set has one.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from typing import Final

from rexview.schema import ReviewSet
from rexview.settings import DEMO_FOLDER, Settings
from rexview.store.database.sqlite_file import Watermark
from rexview.store.database_location import data_folder, data_folder_files, own_file

EXAMPLES: Final = DEMO_FOLDER / "example_reviews.sqlite"


def lay_out_examples(review_set: ReviewSet, settings: Settings) -> bool:
    """Copy the example entries into the user's data folder; return whether that was done.

    Only for the embedded demonstration, and only where nothing was ever written about it: what a
    user changed or removed stays as it is. Not into a database server, which is not one user's.
    Where nothing can be copied, the demonstration opens without examples.
    """
    is_demo = review_set.folder.resolve() == DEMO_FOLDER and not settings.database_url
    if not is_demo or data_folder_files(review_set) or not EXAMPLES.exists():
        return False
    file = own_file(review_set)
    if Watermark(file).read() is not None:
        return False  # entries were written here once, and their file is missing
    try:
        data_folder().mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=data_folder()) as beside:
            whole = Path(shutil.copyfile(EXAMPLES, Path(beside) / EXAMPLES.name))
            os.link(whole, file)  # never in place of a file that another process has just made
    except OSError:
        return False
    return True
