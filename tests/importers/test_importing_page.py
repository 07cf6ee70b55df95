import re
import shlex

from support import ROOT
from support.rows import each_row

from rexview.cli.main import _parser
from rexview.importers import IMPORT_FORMATS

PAGE = (ROOT / "docs" / "importing.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"^    python -m rexview (import .*)$", PAGE, re.MULTILINE)
ARCHIVE = "dicomweb"
"""Asked, not read: an importer without files."""


@each_row("importer", IMPORT_FORMATS.values(), ids=IMPORT_FORMATS)
def test_every_format_and_option_is_described(importer):
    assert f"\n## {importer.id}: " in PAGE
    missing = [option.flag for option in importer.options if f"{option.flag}" not in PAGE]
    assert missing == []


@each_row("example", [one for one in EXAMPLES if "--show-mapping" not in one])
def test_examples_are_understood_by_the_command_line(example):
    options = _parser().parse_args(shlex.split(example))
    importer = vars(options).get("importer")
    assert (importer.id if importer else ARCHIVE) == shlex.split(example)[1]


def test_there_are_examples_for_every_format():
    assert {example.split()[1] for example in EXAMPLES} == {*IMPORT_FORMATS, ARCHIVE}
