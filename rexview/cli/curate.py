"""``python -m rexview curate``: let a model propose, score and tag questions.

Exit status: 0 every request has a readable answer, 1 some have none, 2 the command cannot run with
these options.
"""

from __future__ import annotations

import argparse
from typing import Any, Final

from rexview.cli.arguments import OWN_SET_ARGUMENT, new_command
from rexview.cli.output import reporting_errors
from rexview.cli.run import add_model_options, add_output_options, add_repeat_options, parse_count
from rexview.errors import RunRefused

STEPS: Final = ("propose", "rate", "tag")


def add_curate(commands: Any) -> None:
    """Add the command ``curate``."""
    purpose = "ask a model for questions about the studies of a set, for their scores and tags"
    parser = new_command(commands, "curate", _curate, purpose)
    argument = parser.add_argument
    argument("folder", **OWN_SET_ARGUMENT)
    argument("--model", metavar="ID", help="its name on the server")
    argument("--step", type=_steps, default=STEPS, metavar="propose,rate,tag", help="which; all")
    told = "what is told of a study; the findings, else the indication"
    argument("--from", dest="told_from", choices=("findings", "indication"), help=told)
    many = "questions for a study; 5"
    argument("--candidates", type=parse_count, default=5, metavar="N", help=many)
    edited = "score and tag questions as people edited them, too"
    argument("--edited", action="store_true", help=edited)
    add_choice_options(parser)
    add_model_options(argument)
    resume = "go on with the newest runs of this model, or with the one that is named"
    again = "ask again where the model refused, or gave no readable answer"
    add_repeat_options(parser, resume, again)
    add_output_options(argument)


def add_choice_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of multiple choice questions."""
    group = parser.add_argument_group("multiple choice questions, made from reports")
    argument = group.add_argument
    argument("--choice", action="store_true", help="make these, and check them")
    argument("--validator", metavar="ID", help="the model that checks them, beside the rules")
    embeddings = "the model by which alike questions are found; by their letters without"
    argument("--embeddings", metavar="ID", help=embeddings)
    only = "check the multiple choice questions of SET, a set or a file, by rules; write nothing"
    argument("--validate-only", action="store_true", help=only)


def _steps(text: str) -> tuple[str, ...]:
    """Parse names of steps; each runs once, in the fixed order."""
    wanted = [one.strip() for one in text.split(",") if one.strip()]
    unknown = [one for one in wanted if one not in STEPS]
    if unknown or not wanted:
        raise argparse.ArgumentTypeError(f"write some of {', '.join(STEPS)}")
    return tuple(one for one in STEPS if one in wanted)


@reporting_errors(RunRefused)
def _curate(options: argparse.Namespace) -> int:
    from rexview.cli.curation_steps import (
        check_choice_questions,
        run_choice_curation,
        run_curation,
    )

    if options.validate_only:
        return check_choice_questions(options)
    if not options.model:
        raise RunRefused("Say which model: --model ID.")
    return run_choice_curation(options) if options.choice else run_curation(options)
