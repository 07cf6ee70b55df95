"""Final scores made by hand, without readers."""

import polars as pl

from rexview.stats import Finals
from rexview.vocab import TEXT_DIMENSIONS

NUMBERS = (*TEXT_DIMENSIONS, "content", "gap")
PICTURES = pl.Schema(
    {
        "case": pl.String(),
        "model": pl.String(),
        "image": pl.Int64(),
        "image_content": pl.Float64(),
        "image_style": pl.Float64(),
    }
)
ANSWERS = pl.Schema(
    {"case": pl.String(), "model": pl.String()} | {name: pl.Float64() for name in NUMBERS}
)


def pictures(*rows):
    """Rows (case, model, image, image content, image style)."""
    return pl.DataFrame(list(rows), schema=PICTURES, orient="row")


def made_finals(returned=None, /, **models):
    """``model={"process": [of case 0, of case 1, ...]}``; None is missing."""
    rows = []
    for model, scores in models.items():
        for case in range(max(map(len, scores.values()), default=0)):
            row = {name: values[case] for name, values in scores.items() if case < len(values)}
            rows.append(
                {"case": f"c{case}", "model": model}
                | {name: None if row.get(name) is None else float(row[name]) for name in NUMBERS}
            )
    answers = pl.DataFrame(rows, schema=ANSWERS)
    return Finals(answers, pictures() if returned is None else returned)
