"""One object for each key, whatever else is asked for meanwhile."""

import gc
from threading import Lock
from weakref import ref

from rexview.ui.saving import reader_state
from rexview.ui.saving import route as saving_route
from rexview.ui.server.one_per_key import OnePerKey


def test_what_is_in_use_is_never_made_twice():
    lock_of = OnePerKey(Lock, 2)
    held = lock_of("study", "ann")
    for number in range(10):
        lock_of("study", f"reader-{number}")
    assert lock_of("study", "ann") is held


def test_what_nobody_uses_is_let_go():
    class Thing:
        pass

    thing_of = OnePerKey(Thing, 2)
    gone, kept = ref(thing_of("a")), ref(thing_of("b"))
    thing_of("c")
    gc.collect()
    assert gone() is None
    assert kept() is thing_of("b")


def test_locks_and_keepers_of_readers_are_never_dropped_while_in_use():
    for of in (saving_route._lock, reader_state._keeper):
        held = of("study", "set", "ann")
        for number in range(600):
            of("study", "set", f"reader-{number}")
        assert of("study", "set", "ann") is held
