"""What can be said of anything that becomes a table."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any, Final

from rexview.errors import ImportSourceError
from rexview.reviewset.importers.core.importer import Option
from rexview.reviewset.importers.table.column_guess import propose_mapping


class _ShowMapping(argparse.Action):
    """Prints the proposed mapping of a file and ends the program, as ``--version`` does."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        try:
            mapping = propose_mapping(Path(values), sheet=getattr(namespace, "option_sheet", None))
        except ImportSourceError as error:
            reasons = "".join(f"\n{problem}" for problem in error.problems)
            parser.exit(1, f"{error}{reasons}\n")
        print(mapping.to_json())
        parser.exit(0)


def table_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what the command line alone has for tables."""
    parser.add_argument(
        "--show-mapping",
        action=_ShowMapping,
        metavar="FILE",
        help="print the proposed meaning of the columns of FILE as JSON, and stop",
    )


TABLE_OPTIONS: Final = (
    Option(
        "scale",
        "text",
        "Scale of scores",
        "What scores go from and to, worst first, where it is not 1 to 5: such as 0-10, or words "
        "apart by commas. They are converted to 1 to 5, and the given ones kept.",
    ),
    Option(
        "dimension",
        "texts",
        "Dimension of scores",
        "What scores are of that name no dimension (DIMENSION), or another one (NAME=DIMENSION, "
        "once for each name).",
    ),
    Option(
        "empty",
        "choice",
        "An empty answer",
        "What an empty cell means: the model was not run, or its answer came empty.",
        default="not-run",
        choices=("not-run", "answer"),
    ),
    Option(
        "second_answers",
        "choice",
        "Another answer of a model",
        "What becomes of another text of the same model to the same case: a further run, or left "
        "out.",
        default="run",
        choices=("run", "first"),
    ),
    Option(
        "index_from",
        "choice",
        "Options count from",
        "What the first option is counted as, where options are given as numbers.",
        choices=("0", "1"),
    ),
)
"""Options of everything that becomes a table."""
