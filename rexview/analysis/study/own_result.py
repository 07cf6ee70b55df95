"""How a reader answered choice questions, and who chose the same, once the rules show it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np
import polars as pl

from rexview.stats.multiple_choice.kappa import kappa_of
from rexview.words import tr

YOU: Final = tr("You")


def own_result(
    own: Mapping[str, int],
    right: Mapping[str, int],
    chosen: pl.DataFrame,
    names: Mapping[str, str],
) -> pl.DataFrame:
    """Set a reader's choices beside those of the models, over the questions the reader answered.

    Parameters
    ----------
    own, right : mapping of str to int
        The reader's option and the right one, from 0, by question; questions without a right
        option count for agreement only.
    chosen : polars.DataFrame
        ``case``, ``model`` and ``choice`` (null: none that can be used) of the models.
    names : mapping of str to str
        Names of the models, in the order of the rows.

    Returns
    -------
    polars.DataFrame
        ``Who``, ``Right``, ``Of`` and ``Accuracy`` (0 to 1; no usable choice is wrong), ``Same as
        you`` and ``Kappa`` (null where it is undefined).
    """
    by_model = {
        model: dict(rows.select("case", "choice").iter_rows())
        for (model,), rows in chosen.partition_by("model", as_dict=True).items()
    }
    judged = [case for case in own if case in right]
    raters = [(names[model], by_model[model]) for model in names if model in by_model]
    rows = []
    for place, (name, given) in enumerate([(YOU, own), *raters]):
        asked = [case for case in judged if case in given]
        hits = sum(given[case] == right[case] for case in asked)
        both = [(own[case], given[case]) for case in own if given.get(case) is not None]
        table = np.zeros((2 + max(map(max, both), default=0),) * 2, np.int64)
        for cell in both:
            table[cell] += 1
        agreed = kappa_of(None, 0, 1, table)
        rows.append(
            {
                "Who": name,
                "Right": hits,
                "Of": len(asked),
                "Accuracy": hits / len(asked) if asked else None,
                "Same as you": agreed.same if place else None,
                "Kappa": agreed.kappa if place else None,
            }
        )
    return pl.DataFrame(rows)
