"""Reviews of a review set: an append-only history in a database.

A review set holds what was imported and never changes. What readers write is added to the history,
a table whose rows are never changed or removed. The current state is a query over it::

    from rexview.store import Entry, open_reviews

    reviews = open_reviews(review_set, settings)
    reviews.record([Entry("score", "c1", "model-a", "process", value={"score": 4})], person)
    merged(review_set, reviews).scores   # given and written
"""

from rexview.store.backup import BackupReport, backup, restore
from rexview.store.current_state import Assignment, Comment
from rexview.store.entry import Entry, Stored, new_token
from rexview.store.kinds import KINDS, may
from rexview.store.merge_databases import MergeReport, merge_databases, other_databases
from rexview.store.merged_set import merged
from rexview.store.notices import Notice, damage_seen, notices, other_set
from rexview.store.reviews import Reviews, open_best, open_reviews

__all__ = [
    "KINDS",
    "Assignment",
    "BackupReport",
    "Comment",
    "Entry",
    "MergeReport",
    "Notice",
    "Reviews",
    "Stored",
    "backup",
    "damage_seen",
    "may",
    "merge_databases",
    "merged",
    "new_token",
    "notices",
    "open_best",
    "open_reviews",
    "other_databases",
    "other_set",
    "restore",
]
