"""A failure in words on a set that a judge has looked through, asked over real HTTP."""

from rexview.analysis import written_failures
from rexview.cli import main
from rexview.people import Person
from rexview.reviewset import load_review_set
from rexview.settings import load_settings
from rexview.store import Entry, open_reviews
from support import model_server
from support.judge.set_to_judge import write_judged

JUDGE, NAME = "judge <b>x</b>", "left-effusion"
WORDS = {"name": "Left effusion", "counts": "It sees an effusion on the left."}
QUOTE = "left pleural effusion"
REASON = "Reasonwords <i>of</i> the judge."
RULES = [
    {
        "match": "I see a LEFT",
        "turns": [{"json": {"has_it": "yes", "reason": REASON, "quote": QUOTE}}],
    },
    {"turns": [{"json": {"has_it": "no", "reason": REASON, "quote": ""}}]},
]
ADA = Person("ada", "Ada A.", "lead")


def write_looked_through(folder, monkeypatch):
    """Write the set, the words and what the judge said of four answers: one has the failure."""
    monkeypatch.setenv("OPENAI_API_KEY", "a-key-of-a-test")
    write_judged(folder)
    reviews = open_reviews(load_review_set(folder), load_settings())
    reviews.record([Entry(written_failures.WRITTEN_FAILURE_KIND, subject=NAME, value=WORDS)], ADA)
    with model_server.started(RULES) as server:
        arguments = ["judge", str(folder), "--judge", JUDGE, "--base-url", server.base_url]
        assert main([*arguments, "--written", NAME]) == 0
    return folder
