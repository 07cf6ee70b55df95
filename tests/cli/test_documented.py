"""Every command line that a document shows is one that the program takes, and all of it is told."""

import argparse
import re
import shlex
from functools import cache

from support import ROOT
from support.rows import each_row

from rexview.cli.main import _parser

DOCUMENTS = (
    ROOT / "README.md",
    *sorted((ROOT / "docs").rglob("*.md")),
    *sorted((ROOT / "assets" / "guides").glob("*.md")),
    *sorted((ROOT / "rexview").rglob("*.md")),
)
_LINE = re.compile(r"python -m rexview ((?:[^\n`#\\]|\\\n)+)")
_LEFT_OPEN = re.compile(r"[…|$]|\.\.\.|\[|\bbench NAME\b")
"""What stands for something: such a line is a pattern, no command."""


def shown():
    """Return every command line that a document shows, with the document's name."""
    lines = []
    for file in DOCUMENTS:
        for line in _LINE.findall(file.read_text(encoding="utf-8")):
            line = line.replace("\\\n", " ").split(" > ")[0].split(";")[0].strip()
            # what shows a mapping reads its files while it reads the command line
            if not _LEFT_OPEN.search(line) and "--show-mapping" not in line:
                lines.append((file.name, line))
    return lines


@cache
def documents():
    return "\n".join(file.read_text(encoding="utf-8") for file in DOCUMENTS)


def commands(parser=None, name=""):
    """Yield every command with its name, commands of commands as well."""
    parser = parser or _parser()
    inside = [one for one in parser._actions if isinstance(one, argparse._SubParsersAction)]
    for action in inside:
        for word, command in action.choices.items():
            yield from commands(command, f"{name} {word}".strip())
    if name and not inside:
        yield name, parser


@each_row(("document", "line"), shown())
def test_a_command_line_that_a_document_shows_is_taken(document, line, capsys):
    words = shlex.split(line)
    # A sentence may name a command alone, as in "what `python -m rexview run` asks".
    named = len(words) <= 2 and not any(word.startswith("-") for word in words)
    try:
        _parser().parse_args(words)
        taken = True
    except SystemExit as ended:
        taken = ended.code == 0
    told = capsys.readouterr().err
    assert taken or (named and "are required" in told), f"{document}: {told}"


def test_enough_of_them_were_found():
    assert len(shown()) > 100


@each_row(("name", "command"), list(commands()))
def test_help_says_what_every_word_of_a_command_is(name, command):
    assert command.format_help()  # a lone per cent sign would raise
    silent = [
        one.dest
        for one in command._actions
        if one.help in (None, "") and not isinstance(one, argparse._SubParsersAction)
    ]
    assert not silent


@each_row(("name", "command"), list(commands()))
def test_every_command_and_option_stands_in_a_document(name, command):
    told = documents()
    assert re.search(rf"\brexview {name}\b|`{name}`|`{name} ", told)
    options = {word for one in command._actions for word in one.option_strings}
    untold = {
        word
        for word in options
        if word.startswith("--") and not re.search(rf"{re.escape(word)}\b", told)
    }
    assert not untold - {"--help"}
