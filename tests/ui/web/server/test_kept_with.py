"""What is kept with an object goes when the object does."""

import gc
import weakref

from rexview.ui.web.server.shared_work import cache_on_first_argument


class Thing:
    """Something that outcomes are kept with."""


def test_it_is_worked_out_once_for_each_object_and_arguments():
    asked = []

    @cache_on_first_argument(2)
    def answer(thing, word, *, loud=False):
        asked.append((thing, word, loud))
        return f"{word}!" if loud else word

    one, other = Thing(), Thing()
    assert [answer(one, "a"), answer(one, "a"), answer(one, "a", loud=True)] == ["a", "a", "a!"]
    assert answer(other, "a") == "a"
    assert asked == [(one, "a", False), (one, "a", True), (other, "a", False)]
    answer(one, "b")  # of three only the latest two are kept
    answer(one, "a")
    assert len(asked) == 5


def test_an_outcome_that_holds_its_object_does_not_keep_it():
    @cache_on_first_argument(4)
    def holder(thing, word):
        return lambda: (thing, word)

    thing = Thing()
    assert holder(thing, "a")() == (thing, "a")
    gone = weakref.ref(thing)
    del thing
    gc.collect()
    assert gone() is None
