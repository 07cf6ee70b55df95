"""What ``python -m rexview run`` takes, and how it begins."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import parse_qs

from rexview.bounded import printable, read_file
from rexview.errors import FileRefused, FilterError, RunRefused
from rexview.models.reply import AttemptFailed

if TYPE_CHECKING:
    from rexview.analysis.run_models.wanted import Wanted
    from rexview.models.running.attempts import Asking
    from rexview.models.running.estimate import Estimate
    from rexview.models.running.plan import Plan
    from rexview.schema import ReviewSet

CasesOf = Callable[["ReviewSet", Mapping[str, list[str]]], tuple[str, ...]]
"""Gives the ids of the cases that a link's query leaves, in its order."""
USAGE: Final = 2
_MOST_BYTES: Final = 64_000_000


def add_run(commands: Any, path: Callable[[str], Path], cases_of: CasesOf) -> None:
    """Add the command ``run``; ``path`` reads a path of the command line."""
    purpose = "ask a model about the cases of a review set"
    parser = commands.add_parser("run", help=purpose, description=purpose)
    parser.set_defaults(run=_run, cases_of=cases_of)
    argument = parser.add_argument
    argument("folder", type=path, metavar="SET")
    argument("--model", metavar="ID", help="its name on the server, or the folder of a local one")
    argument("--base-url", metavar="URL", help="of the server; OpenAI's where none is given")
    argument("--api", choices=("responses", "chat", "transformers"), help="how it is asked")
    argument("--prompt", metavar="ID", help="the wording")
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--cases", metavar="IDS", help="a,b,c or @FILE with an id a line")
    which.add_argument("--filter", metavar="QUERY", help="the part of a page's link after ?")
    argument(
        "--concurrency",
        type=_count,
        metavar="N",
        help="requests under way at once; cases a batch of a local model",
    )
    argument("--max-output-tokens", type=_count, metavar="N", help="the longest answer")
    argument("--temperature", type=float, metavar="T")
    argument("--seed", type=int, metavar="N")
    argument("--reasoning-effort", metavar="WORD", help="such as low, medium, high")
    argument("--budget", metavar="5USD|200000tokens", help="stop before more than that is spent")
    argument("--batch", action="store_true", help="send files, answered within a day for less")
    argument("--repeats", type=_count, metavar="N", help="how often each case is asked")
    resume = "go on with the newest run that asks the same, or with the one that is named"
    argument("--resume", nargs="?", const=True, metavar="RUN", help=resume)
    argument("--dry-run", action="store_true", help="say what would be sent, and send nothing")
    yes = "load a local model although it is larger than the memory that is free"
    argument("--yes", action="store_true", help=yes)
    argument("--download", action="store_true", help="fetch a local model that is not here yet")
    argument("--json", action="store_true", help="one JSON object; progress on standard error")


def _count(text: str) -> int:
    """Read a whole number from 1."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("it must be 1 or more")
    return number


def _run(options: argparse.Namespace) -> int:
    from rexview.analysis.run_models.wanted import asking_of, plan_of
    from rexview.models.running.estimate import estimate, expected_output
    from rexview.reviewset import load
    from rexview.settings import load_settings

    try:
        review_set = load(options.folder)
        plan = plan_of(review_set, _wanted(options, review_set))
        spec = plan.spec
        expected, source = expected_output(review_set, spec.parameters, spec.prompt.id, spec.card)
        asking = asking_of(review_set, spec, expected, load_settings())
        if options.dry_run:
            return _dry_run(options, plan, asking, estimate(asking, plan.left, spec.card, source))
        from rexview.cli_run.work import work

        local = {"yes": options.yes, "download": options.download}
        return work(review_set, plan, asking, as_json=options.json, **local)
    except RunRefused as error:
        print(printable(str(error)), file=sys.stderr)
        return USAGE


def _wanted(options: argparse.Namespace, review_set: ReviewSet) -> Wanted:
    """Read what was asked for."""
    from rexview.analysis.run_models.wanted import Wanted

    named = options.resume if isinstance(options.resume, str) else None
    names = {field.name for field in fields(Wanted)}
    same = {name: value for name, value in vars(options).items() if name in names}
    if options.filter is not None:
        cases: tuple[str, ...] | None = _filtered(options, review_set)
    else:
        cases = None if options.cases is None else _ids(options.cases, review_set)
    changed = {"cases": cases, "query": options.filter, "resume": bool(options.resume)}
    return Wanted(**{**same, **changed, "run": named})


def _filtered(options: argparse.Namespace, review_set: ReviewSet) -> tuple[str, ...]:
    query = parse_qs(options.filter.lstrip("?"), keep_blank_values=True)
    try:
        cases: tuple[str, ...] = options.cases_of(review_set, query)
    except FilterError as error:
        raise RunRefused(f"--filter: {error}") from None
    if not cases:
        raise RunRefused("--filter: no case is left.")
    return cases


def _ids(text: str, review_set: ReviewSet) -> tuple[str, ...]:
    """Read ids from a list, or from a file with one a line."""
    if text.startswith("@"):
        try:
            ids = read_file(Path(text[1:]), _MOST_BYTES).decode("utf-8-sig").splitlines()
        except (OSError, UnicodeDecodeError, FileRefused) as error:
            reason = error.strerror if isinstance(error, OSError) else error
            raise RunRefused(f"--cases: {text[1:]} cannot be read: {reason}") from None
    else:  # an id may have a comma
        ids = [text] if review_set.case_row(text) is not None else text.split(",")
    cases = tuple(dict.fromkeys(one.strip() for one in ids if one.strip()))
    if not cases:
        raise RunRefused("--cases: there is no id.")
    return cases


def _dry_run(options: argparse.Namespace, plan: Plan, asking: Asking, estimated: Estimate) -> int:
    """Print what would be sent."""
    first = None
    for item in plan.left:
        case = asking.case(item.case)
        assert case is not None
        try:
            first = asking.build(case, item.repeat).described()
            break
        except AttemptFailed as failure:
            print(printable(f"{item.case} cannot be asked: {failure}"), file=sys.stderr)
    if options.json:
        told = {
            "continues": plan.spec.id if plan.before else None,
            "cases": len(plan.spec.cases),
            "estimate": estimated.as_json(),
            "first_request": first,
        }
        print(json.dumps(told, indent=1))
        return 0
    if first is None:
        print("Nothing is left that can be asked.")
        return 0
    print(json.dumps(first, indent=1))
    if plan.before:
        print(f"Would go on with {plan.spec.id}.")
    print(estimated)
    for figure, source in estimated.sources.items():
        print(printable(f"  {figure}: {source}"))
    return 0
