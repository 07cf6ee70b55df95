"""The word lists that stand outside the lexicon."""

import re
from pathlib import Path

from support import ROOT
from support.rows import each_row

from rexview.text import phrases

LISTS = [(part, name) for part, lists in phrases._parts().items() for name in lists]
SOURCE = "\n".join(
    path.read_text("utf-8")
    for room in ("detect", "text")
    for path in Path(ROOT / "rexview" / room).rglob("*.py")
)


@each_row(("part", "name"), LISTS)
def test_every_list_is_of_words_none_twice(part, name):
    items = phrases._parts()[part][name]
    assert items
    assert all(isinstance(item, str) and item == item.strip() for item in items)
    assert len(set(items)) == len(items)
    if part != "sentence":  # single words as they are
        re.compile(phrases.list_alternatives(part, name))


@each_row(("part", "name"), LISTS)
def test_no_list_is_there_that_no_detector_reads(part, name):
    whole_part = f'list_names("{part}")' in SOURCE or f'"{part}", name' in SOURCE
    by_name = re.search(rf"""["']{part}["'], ["']{name}["']""", SOURCE) or f'("{name}")' in SOURCE
    assert whole_part or by_name
