"""What people and programs said of answers."""

from pathlib import Path

from support.shapes.shape import QUESTION, answer, put_csv, shape

COLUMNS = "case|question|model|answer"
ANSWERS = [[f"c{n}", QUESTION, "GPT-4o", answer(n, "GPT-4o")] for n in (1, 2)]


@shape("scores-long", "table", cases=2, models={"GPT-4o": 2}, scores=8, rows_in=10)
def _(folder: Path) -> None:
    put_csv(folder / "answers.csv", COLUMNS, *ANSWERS)
    rows = [
        [f"c{n}", "GPT-4o", reader, dimension, 4]
        for n in (1, 2)
        for reader in ("Dr A", "Dr B")
        for dimension in ("process", "execution")
    ]
    put_csv(folder / "scores.csv", "case|model|reader|dimension|score", *rows)


@shape("scores-wide", "table", cases=2, models={"GPT-4o": 2}, scores=7, rows_in=2)
def _(folder: Path) -> None:
    rows = [[*row, 4, 3, 5, "n/a" if row[0] == "c2" else 2] for row in ANSWERS]
    more = "process_reader1|execution_reader1|process_reader2|execution_reader2"
    put_csv(folder / "ratings.csv", f"{COLUMNS}|{more}", *rows)


@shape(
    "scores-on-another-scale",
    "table",
    cases=2,
    models={"GPT-4o": 2},
    scores=4,
    rows_in=6,
    options={"scale": "0-10", "dimension": ["accuracy=execution"]},
)
def _(folder: Path) -> None:
    put_csv(folder / "answers.csv", COLUMNS, *ANSWERS)
    rows = [
        [f"c{n}", "GPT-4o", reader, "accuracy", score]
        for n in (1, 2)
        for reader, score in (("Dr A", 0), ("Dr B", 10))
    ]
    put_csv(folder / "scores.csv", "case|model|reader|dimension|score", *rows)


LIKERT = "Strongly disagree, Disagree, Neutral, Agree, Strongly agree"


@shape(
    "scores-in-words",
    "table",
    cases=2,
    models={"GPT-4o": 2},
    scores=3,
    rows_in=2,
    options={"scale": LIKERT, "dimension": ["clinically accurate=execution"]},
)
def _(folder: Path) -> None:
    words = {"c1": ("Agree", "Strongly agree"), "c2": ("N/A", "Neutral")}
    rows = [[*row, *words[row[0]]] for row in ANSWERS]
    more = "Reader 1 - clinically accurate|Reader 2 - clinically accurate"
    put_csv(folder / "likert.csv", f"{COLUMNS}|{more}", *rows)


@shape(
    "scores-not-told",
    "table",
    cases=2,
    models={"GPT-4o": 2},
    rows_in=2,
    kept={"Quality (1-7)"},
)
def _(folder: Path) -> None:
    rows = [[*row, 6] for row in ANSWERS]
    put_csv(folder / "quality.csv", f"{COLUMNS}|Quality (1-7)", *rows)
