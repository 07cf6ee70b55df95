"""``python -m rexview run`` and ``calibrate``: ask a model about cases, or about a phantom.

It runs in the foreground, in its own process group, until everything is done. Exit status: 0 every
case has an answer, 1 some have none, 2 the command cannot run with these options.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from dataclasses import asdict, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import parse_qs

from rexview.cli.arguments import (
    BASE_URL_ARGUMENT,
    OWN_SET_ARGUMENT,
    add_engine,
    new_command,
    open_engine,
)
from rexview.cli.output import USAGE_STATUS, reporting_errors
from rexview.cli.results import filtered_case_ids
from rexview.errors import ClusterError, FileRefused, FilterError, RunRefused, SettingsError
from rexview.models.backend import AttemptFailed
from rexview.untrusted_input import printable_text, read_file

if TYPE_CHECKING:
    from rexview.analysis.run_models.run_request import RunRequest as Wanted
    from rexview.analysis.run_models.run_request import RunSubjects as Subjects
    from rexview.models.running.attempts import RunTask
    from rexview.models.running.cost_estimate import CostEstimate
    from rexview.models.running.model_run import RunPlan as Plan
    from rexview.schema import ReviewSet


_MOST_BYTES: Final = 64_000_000


def add_run(commands: Any) -> None:
    """Add the command ``run``."""
    purpose = "ask a model about the cases of a review set"
    parser = new_command(commands, "run", _run, purpose)
    argument = parser.add_argument
    argument("folder", **OWN_SET_ARGUMENT)
    argument("--model", metavar="ID", help="its name on the server, or the folder of a local one")
    argument("--prompt", metavar="ID", help="the wording")
    add_case_options(parser)
    add_model_options(argument)
    argument("--batch", action="store_true", help="send files, answered within a day for less")
    argument("--repeats", type=parse_count, metavar="N", help="how often each case is asked")
    resume = "go on with the newest run that asks the same, or with the one that is named"
    argument("--resume", nargs="?", const=True, metavar="RUN", help=resume)
    add_output_options(argument)
    add_engine(parser)


def add_case_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that select cases."""
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--cases", metavar="IDS", help="a,b,c or @FILE with an id a line")
    which.add_argument("--filter", metavar="QUERY", help="the part of a page's link after ?")


def add_model_options(argument: Callable[..., Any]) -> None:
    """Add the options of asking a model about anything."""
    argument("--base-url", **BASE_URL_ARGUMENT)
    argument("--api", choices=("responses", "chat", "transformers"), help="how it is asked")
    argument(
        "--concurrency",
        type=parse_count,
        metavar="N",
        help="requests under way at once; cases a batch of a local model",
    )
    argument("--max-output-tokens", type=parse_count, metavar="N", help="the longest answer")
    argument("--temperature", type=float, metavar="T", help="of the answers (default: the model's)")
    argument("--seed", type=int, metavar="N", help="for servers that take one")
    argument("--reasoning-effort", metavar="WORD", help="such as low, medium, high")
    argument("--budget", metavar="5USD|200000tokens", help="stop before more than that is spent")
    yes = "load a local model although it is larger than the memory that is free"
    argument("--yes", action="store_true", help=yes)


def add_repeat_options(parser: Any, resume: str, again: str) -> None:
    """Add ``--resume`` and ``--again`` with their help texts."""
    group = parser.add_mutually_exclusive_group()
    group.add_argument("--resume", nargs="?", const=True, metavar="RUN", help=resume)
    group.add_argument("--again", action="store_true", help=again)


def add_output_options(argument: Callable[..., Any]) -> None:
    """Add the options for dry runs, downloads and JSON output."""
    argument("--dry-run", action="store_true", help="say what would be sent, and send nothing")
    argument("--download", action="store_true", help="fetch a local model that is not here yet")
    argument("--json", action="store_true", help="one JSON object; progress on standard error")


def parse_count(text: str) -> int:
    """Parse a whole number from 1."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("it must be 1 or more")
    return number


@reporting_errors(RunRefused, ClusterError)
def _run(options: argparse.Namespace) -> int:
    from rexview.analysis.run_models.run_request import (
        build_run_task,
        plan_run,
    )
    from rexview.models.running.cost_estimate import estimate_cost, expected_output
    from rexview.reviewset import load_review_set
    from rexview.settings import load_settings

    review_set = load_review_set(options.folder)
    plan = plan_run(review_set, _run_request(options, review_set))
    spec = plan.spec
    expected, source = expected_output(review_set, spec.parameters, spec.prompt.id, spec.card)
    asking = build_run_task(review_set, spec, expected, load_settings())
    if options.dry_run:
        return print_dry_run(
            plan, asking, estimate_cost(asking, plan.left, spec.card, source), options
        )
    if options.engine != "local" and spec.parameters.api != "transformers":
        raise RunRefused("--engine is for models on your own machines: --api transformers.")
    from rexview.cli.foreground_run import run_in_foreground as work

    local = {"yes": options.yes, "download": options.download}
    with open_engine(options) as spread:
        return work(review_set, plan, asking, as_json=options.json, spread=spread, **local)


def _run_request(options: argparse.Namespace, review_set: ReviewSet) -> Wanted:
    """Return the run that the options describe."""
    from rexview.analysis.run_models.run_request import RunRequest as Wanted

    named = options.resume if isinstance(options.resume, str) else None
    names = {field.name for field in fields(Wanted)}
    same = {name: value for name, value in vars(options).items() if name in names}
    cases = selected_case_ids(options, review_set)
    changed = {"cases": cases, "query": options.filter, "resume": bool(options.resume)}
    return Wanted(**{**same, **changed, "run": named})


def plan_subject_run(
    review_set: ReviewSet,
    options: argparse.Namespace,
    model: str,
    subjects: Subjects,
    *,
    budget: str | None,
) -> Plan:
    """Plan a run that is not about cases, by the options of :func:`add_model_options`.

    ``--resume`` continues a run only if that asks the same model in the same words. ``budget`` is
    in the form of ``--budget``.

    Raises
    ------
    RunRefused
        The options do not fit the run to resume, or cannot be used.
    """
    from rexview.analysis.run_models.run_request import RunRequest as Wanted
    from rexview.analysis.run_models.run_request import plan_run

    wanted = Wanted(
        model=model,
        api=options.api,
        base_url=options.base_url,
        concurrency=options.concurrency,
        max_output_tokens=options.max_output_tokens,
        temperature=options.temperature,
        seed=options.seed,
        reasoning_effort=options.reasoning_effort,
        budget=budget,
        resume=bool(options.resume),
        run=options.resume if isinstance(options.resume, str) else None,
    )
    plan = plan_run(review_set, wanted, subjects)
    if (plan.spec.parameters.model, plan.spec.prompt.hash) != (model, subjects.prompt.hash):
        raise RunRefused(
            f"The run {plan.spec.id} has another model or wording: leave --resume out."
        )
    return plan


def selected_case_ids(options: argparse.Namespace, review_set: ReviewSet) -> tuple[str, ...] | None:
    """Return the ids selected by ``--cases`` or ``--filter``; None for all cases.

    Raises
    ------
    RunRefused
        No case is selected.
    """
    if options.filter is not None:
        return _filtered(options, review_set)
    return None if options.cases is None else _ids(options.cases, review_set)


def _filtered(options: argparse.Namespace, review_set: ReviewSet) -> tuple[str, ...]:
    query = parse_qs(options.filter.lstrip("?"), keep_blank_values=True)
    try:
        cases = filtered_case_ids(review_set, query)
    except FilterError as error:
        raise RunRefused(f"--filter: {error}") from None
    if not cases:
        raise RunRefused("--filter: no case is left.")
    return cases


def _ids(text: str, review_set: ReviewSet) -> tuple[str, ...]:
    """Parse ids from a list, or from a file with one a line."""
    if text.startswith("@"):
        try:
            ids = read_file(Path(text[1:]), _MOST_BYTES).decode("utf-8-sig").splitlines()
        except (OSError, UnicodeDecodeError, FileRefused) as error:
            reason = error.strerror if isinstance(error, OSError) else error
            raise RunRefused(f"--cases: {text[1:]} cannot be read: {reason}") from None
    else:  # an id may contain a comma
        ids = [text] if review_set.case_row(text) is not None else text.split(",")
    cases = tuple(dict.fromkeys(one.strip() for one in ids if one.strip()))
    if not cases:
        raise RunRefused("--cases: there is no id.")
    return cases


def print_dry_run(
    plan: Plan, asking: RunTask[Any], estimated: CostEstimate, options: argparse.Namespace
) -> int:
    """Print what would be sent."""
    told = dry_run_report(plan, asking, estimated)
    if options.json:
        print(json.dumps(told, indent=1))
        return 0
    if told["first_request"] is None:
        print("Nothing is left that can be asked.")
        return 0
    print(json.dumps(told["first_request"], indent=1))
    if plan.before:
        print(f"Would go on with {plan.spec.id}.")
    print(estimated)
    for figure, source in estimated.sources.items():
        print(printable_text(f"  {figure}: {source}"))
    return 0


def dry_run_report(plan: Plan, asking: RunTask[Any], estimated: CostEstimate) -> dict[str, Any]:
    """Return what would be sent as plain values, with reasons for what cannot be asked."""
    first = None
    for item in plan.left:
        case = asking.case(item.case)
        assert case is not None
        try:
            first = asking.build(case, item.repeat).described()
            break
        except AttemptFailed as failure:
            print(printable_text(f"{item.case} cannot be asked: {failure}"), file=sys.stderr)
    return {
        "continues": plan.spec.id if plan.before else None,
        "cases": len(plan.spec.cases),
        "estimate": estimated.as_json(),
        "first_request": first,
    }


# ``python -m rexview calibrate``: find a model's box coordinates with a phantom.


def add_calibrate(commands: Any) -> None:
    """Add the command ``calibrate``."""
    purpose = "find out how a model counts in boxes: two test pictures are sent"
    parser = new_command(commands, "calibrate", _calibrate, purpose)
    argument = parser.add_argument
    argument("--model", required=True, metavar="ID", help="its name on the server")
    argument("--base-url", **BASE_URL_ARGUMENT)
    argument("--api", choices=("responses", "chat", "transformers"), help="how it is asked")
    argument("--prompt", metavar="ID", help="the wording that it is noted with")
    argument("--json", action="store_true", help="what came of it as one JSON object")


def _calibrate(options: argparse.Namespace) -> int:
    """Calibrate, print the result and store it; return 1 if no convention fits."""
    from rexview.cli.foreground_run import make_backend
    from rexview.models.asking.calibration import (
        MIN_IOU,
        calibrate,
        calibrated_form,
        save_form,
    )
    from rexview.models.asking.model_cards import find_card
    from rexview.models.asking.prompts import WITH_BOXES, find_prompt
    from rexview.models.backend import AttemptFailed, Parameters
    from rexview.models.endpoints.server_addresses import check_base_url
    from rexview.models.running.run_spec import RunSpec

    try:
        card = find_card(options.model)
        prompt = find_prompt(options.prompt or WITH_BOXES, card)
        base_url = check_base_url(options.base_url).url if options.base_url else None
        parameters = Parameters(options.model, options.api or card.api, base_url)
        backend, masked = make_backend(RunSpec("calibrate", parameters, card, prompt, ()))
    except (AttemptFailed, RunRefused, SettingsError) as fault:
        print(printable_text(str(fault)), file=sys.stderr)
        return USAGE_STATUS
    try:
        found = calibrate(backend, card, prompt, parameters)
    except AttemptFailed as failure:
        print(printable_text(masked(str(failure))), file=sys.stderr)
        return 1
    finally:
        backend.close()
    form = calibrated_form(found, prompt, datetime.now(UTC).date())
    written: Path | None = save_form(options.model, form) if form else None
    if options.json:
        tried = [
            {"convention": one, "corners": two, "iou": n} for (one, two), n in found.tried.items()
        ]
        said = {"form": asdict(form) if form else None, "tried": tried, "marked": found.marked}
        print(json.dumps({**said, "squares": found.squares, "texts": found.texts}, indent=1))
    elif form and written:
        words = f"{form.convention}, {form.corners}: mean IoU {found.overlap:.2f}"
        print(printable_text(f"{options.model} counts as {words}. Written to {written}."))
    else:
        print(
            printable_text(
                f"No way of counting fits: the best has a mean IoU of {found.overlap:.2f}, "
                f"{MIN_IOU:.2f} is needed ({found.marked} of {found.squares} squares have a "
                "box). Nothing is written; its boxes stay unsure."
            )
        )
    return 0 if form else 1
