"""Reviews of a review set: an append-only history in a database.

A review set holds what was imported and never changes. What readers write is added to the history,
a table whose rows are never changed or removed. The current state is a query over it::

    from rexview.store import Entry, open_reviews

    reviews = open_reviews(review_set, settings)
    reviews.record([Entry("score", "c1", "model-a", "process", value={"score": 4})], person)
    merged(review_set, reviews).scores   # given and written
"""

from rexview.store.backup import BackupReport, restore_backup, write_backup
from rexview.store.current_state import Assignment, Comment
from rexview.store.entry import Entry, StoredEntry, new_token
from rexview.store.kinds import ENTRY_KINDS, may_write_kind
from rexview.store.merge_databases import MergeReport, merge_databases, other_databases
from rexview.store.merged_set import merge_reviews
from rexview.store.notices import Notice, find_notices, foreign_set_id, known_damage
from rexview.store.reviews import Reviews, open_best_reviews, open_reviews

__all__ = [
    "ENTRY_KINDS",
    "Assignment",
    "BackupReport",
    "Comment",
    "Entry",
    "MergeReport",
    "Notice",
    "Reviews",
    "StoredEntry",
    "find_notices",
    "foreign_set_id",
    "known_damage",
    "may_write_kind",
    "merge_databases",
    "merge_reviews",
    "new_token",
    "open_best_reviews",
    "open_reviews",
    "other_databases",
    "restore_backup",
    "write_backup",
]
