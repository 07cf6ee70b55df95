"""People and entries that the tests of the reviews database write."""

from rexview.people import Person
from rexview.store import Entry

ANN = Person("ann", "Ann A.", "lead")
BOB = Person("bob", "Bob B.", "reader")
EVE = Person("eve", "Eve E.", "adjudicator")
VIC = Person("vic", "Vic V.", "viewer")


def score(value=4, *, case="c1", model="m", dimension="process", comment=None, **more):
    """An entry that scores one dimension of an answer."""
    return Entry(
        "score", case, model, dimension, value={"score": value, "comment": comment}, **more
    )


def verdict(value="confirmed", *, case="c1", model="m", failure="laterality_error", comment=None):
    """An entry that confirms or rejects a failure."""
    return Entry("verdict", case, model, failure, value={"verdict": value, "comment": comment})


def comment(name, text="Look here.", *, case="c1", model=None, on=None, reply_to=None):
    """An entry that comments on a case or an answer."""
    on = on or {"what": "answer" if model else "case"}
    return Entry("comment", case, model, name, value={"text": text, "on": on, "reply_to": reply_to})
