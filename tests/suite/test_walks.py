"""The lists of tests that the normal check runs, and leaves out, name tests that exist."""

import re

from support import ROOT
from support.browser.walks import WALKS, is_walk
from support.slow import SLOW


def test_every_walk_is_a_test():
    gone = []
    for file, names in WALKS.items():
        text = (ROOT / "tests" / "browser" / file).read_text(encoding="utf-8")
        kinds = (re.escape(name.partition("[")[0]) for name in names)
        gone += [f"{file} {one}" for one in kinds if not re.search(rf"(def|class) {one}", text)]
    assert gone == []


def test_only_browser_tests_are_left_to_the_whole_check():
    assert is_walk("tests/test_readme.py::test_any")
    assert is_walk("tests/browser/test_people.py::test_a_sign_in_ends")
    assert not is_walk("tests/browser/test_app.py::test_a_phone_lists_every_page")
    assert not is_walk("tests/browser/team/test_two_servers.py::test_any")


def test_everything_that_is_slow_is_a_test():
    gone = []
    for one in SLOW:
        file, _, name = one.partition("::")
        path = ROOT / file
        kind = name.rpartition("::")[2].partition("[")[0]
        if not path.exists() or (kind and f"def {kind}" not in path.read_text(encoding="utf-8")):
            gone.append(one)
    assert gone == []
