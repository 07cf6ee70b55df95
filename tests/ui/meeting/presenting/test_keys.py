"""The keys of a meeting beside those of the Case page: whoever uses both presses them by habit."""

import re

from bench.serving import ROOT

UI = ROOT / "rexview" / "ui"
TOLD = {"u", "N"}
"""Mean something else on Case, which the list of keys says; ``g`` is the viewer's there."""
STREAMLITS = {"r", "c", "R", "C", "Escape"}
WRITES = {"a", "d"}


def keys_of(path, *tables):
    """The keys of some tables of a script."""
    text = (UI / path).read_text(encoding="utf-8")
    found = set()
    for table in tables:
        body = re.search(rf"^const {table} = \{{\n(.*?)^\}};", text, re.MULTILINE | re.DOTALL)[1]
        found |= {
            quoted or plain for quoted, plain in re.findall(r'^  (?:"(.+?)"|(\w+)):', body, re.M)
        }
    return found


def test_no_key_of_case_means_something_else_in_a_meeting_unless_it_is_said():
    case = keys_of("answers/verdicts.js", "KEYS")
    meeting = keys_of("meeting/presenting/assets/keys.js", "LEADS", "ALL")
    assert case >= WRITES | TOLD
    assert {"P", "V", "F", "S", " ", "?"} <= meeting
    assert case & meeting == TOLD
    assert not meeting & STREAMLITS
