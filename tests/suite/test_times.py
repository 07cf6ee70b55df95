"""Which test files the check begins with."""

import json

from support import ROOT

from tools import test_times

RESULTS = """<testsuites><testsuite>
<testcase classname="tests.test_geometry" name="test_one" time="1.5" />
<testcase classname="tests.models.asking.boxes.test_phantom.TestCommand" name="test" time="2" />
<testcase classname="tests.models.asking.boxes.test_phantom" name="test_two" time="0.25" />
</testsuite></testsuites>"""


def test_seconds_are_those_of_files(tmp_path):
    (tmp_path / "results.xml").write_text(RESULTS)
    taken = test_times.seconds_of([tmp_path / "results.xml"])
    phantom = "tests/models/asking/boxes/test_phantom.py"
    assert taken == {"tests/test_geometry.py": 1.5, phantom: 2.25}


def test_what_is_kept_names_files_that_are_there():
    named = json.loads(test_times.KEPT.read_text(encoding="utf-8"))
    assert [one for one in named if not (ROOT / one).is_file()] == []
    assert list(named.values()) == sorted(named.values(), reverse=True)
