"""Metric values of reports, as programs that compute them write them. All invented."""

from __future__ import annotations

from pathlib import Path

from support.shapes.shape import put_csv, put_json, put_lines, shape

STUDIES = ("s1", "s2", "s3")


def put_reports(folder: Path, *models: str) -> None:
    """Write cases with reports, and an answer of each model."""
    put_lines(
        folder / "reports.jsonl",
        [
            {
                "study_id": study,
                "section_findings": f"Clear lungs ({study}).",
                "section_impression": "None",
                "model": model,
                "model_prediction": f"Findings: The lungs are clear ({study}, {model}).",
            }
            for study in STUDIES
            for model in models
        ],
    )


@shape(
    "metrics-long",
    *("table", "metrics"),
    cases=3,
    models={"medversa": 3, "rgrg": 3},
    metrics=5,
    rows_in=13,
    unused=2,
)
def _(folder: Path) -> None:
    put_reports(folder, "medversa", "rgrg")
    put_csv(
        folder / "values.csv",
        "study|model|metric|value|implementation|version|scope|n",
        ["s1", "medversa", "RadCliQ-v1", 1.25, "radeval", "2.2.1", "findings", 3],
        ["s1", "medversa", "BLEU", 0.31, "radeval", "2.2.1", "findings", ""],
        ["s1", "rgrg", "my own", 0.5, "", "", "", ""],
        ["s2", "rgrg", "BertScore", 0.4, "", "", "", ""],
        ["s2", "rgrg", "GREEN", 0.25, "GREEN", "", "", ""],
        ["s3", "rgrg", "1/RadCliQ-v1", 0.8, "", "", "", ""],
        ["s3", "rgrg", "GREEN", "nan", "", "", "", ""],
    )


@shape(
    "metrics-wide",
    *("table", "metrics"),
    cases=3,
    models={"medversa": 3},
    metrics=11,
    rows_in=6,
    columns_unused={"column 1"},
)
def _(folder: Path) -> None:
    put_reports(folder, "medversa")
    # CXR-Report-Metric writes so, with the row's number first
    put_csv(
        folder / "cxr_metrics_medversa.csv",
        "|study_id|report|bleu_score|bertscore|semb_score|radgraph_combined",
        *(
            [i, study, f"Clear ({study}).", 0.1, 0.2, 0.3, 0.4]
            for i, study in enumerate(STUDIES[:2])
        ),
        [2, "s3", "Clear.", 0.1, 0.2, 0.3, ""],
    )


@shape(
    "metrics-radeval",
    *("table", "metrics"),
    cases=3,
    models={"medversa": 3},
    metrics=9,
    rows_in=6,
    columns_unused={"bleu_2"},
)
def _(folder: Path) -> None:
    put_reports(folder, "medversa")
    put_json(
        folder / "radeval_medversa.json",
        {
            "study_ids": STUDIES,
            "version": "2.2.1",
            "implementation": "radeval",
            "bleu": [0.1, 0.2, 0.3],
            "radcliq_v1": [1.5, 0.5, -0.25],
            "rougeL": [0.4, 0.4, 0.4],
            "bleu_2": 0.41,
        },
    )


@shape(
    "metrics-without-ids",
    *("table", "metrics"),
    cases=3,
    models={"medversa": 3},
    rows_in=6,
    unused=3,
    columns_unused={"radcliq_v1"},
)
def _(folder: Path) -> None:
    put_reports(folder, "medversa")
    put_json(folder / "radeval_medversa.json", {"bleu": [0.1, 0.2, 0.3], "radcliq_v1": 0.8})


@shape(
    "metrics-board",
    *("table", "metrics"),
    cases=3,
    models={"medversa": 3},
    rows_in=5,
    unused=2,
)
def _(folder: Path) -> None:
    put_reports(folder, "medversa")
    put_csv(
        folder / "result_iu_xray.csv",
        "Rank|Date|Model Name|Institution|BLEU|BertScore|SembScore|RadGraph|RadCliQ-v0|RadCliQ-v1",
        [1, 2024, "MedVersa", "H", 0.195, 0.518, 0.601, 0.244, 2.581, 0.692],
        [2, 2023, "RGRG", "T", 0.24, 0.447, 0.603, 0.248, 2.818, 0.803],
    )
