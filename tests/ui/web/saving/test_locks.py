"""A person's entries from two tabs come one after the other."""

from rexview.ui.web.saving import route as saving_route


def test_the_lock_of_a_reader_is_the_same_whoever_else_asks():
    held = saving_route._lock("study", "ann")
    for number in range(600):
        saving_route._lock("study", f"reader-{number}")
    assert saving_route._lock("study", "ann") is held
