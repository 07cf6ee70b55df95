"""A review set with every kind of gap, and a plain reading of its files.

The reading knows pandas, dicts and sets, and nothing of the engine. What detectors say is taken
from their survey, which has tests of its own; everything else is read from the files.
"""

from __future__ import annotations

import json
import random
from collections import defaultdict
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd

from rexview.analysis.case.comments import CommentCount
from rexview.analysis.query.filter.case_filter import RANGES, CaseFilter, NumberRange
from rexview.analysis.query.filter.conditions import FindingCondition
from rexview.analysis.query.memory.memory_engine import MemoryEngine, build_memory_engine
from rexview.detect import judged_answers, name_flags
from rexview.detect.scan.batch import add_case_and_model
from rexview.harm import load_harm
from rexview.reviewset import load_review_set
from rexview.vocab import DIMENSIONS, FAILURES

MODELS, READERS = ("g", "m", "x:1"), ("r1", "r2", "z:%")
SITES, DIFFICULTIES, TYPES = ("A", "B", "b"), ("easy", "hard"), ("open", "report")
CATEGORIES = ("broad_abnormality", "diagnostic_reasoning", "own words")
TAGS = {"region": ("pleura", "lung", "heart"), "sign": ("air", "fluid")}
TEXTS = (
    "There is a right pleural effusion.",
    "Left pneumothorax. No effusion.",
    "The heart is large (see box).",
    "Possible left nodule",
    "",
    None,
)
REPORTS = ("Left pleural effusion.", "Right pneumothorax. Heart normal.", "Normal.", None)
PARTS = ("process", "execution", "synthesis")
LOST = ("token_limit", "error", "refused", "empty")


# --- the files ---------------------------------------------------------------------------------


def write_set(folder: Path) -> dict[str, CommentCount]:
    """Write a review set with every kind of gap; return the comments on its cases."""
    rng = random.Random(11)
    models = [{"id": name, "name": f"Model {name}"} for name in MODELS]
    readers = [{"id": name, "name": f"Dr {name}"} for name in READERS]
    info = {"format": 1, "name": "All", "models": models, "readers": readers}
    (folder / "reviewset.yaml").write_text(json.dumps(info), encoding="utf-8")
    (folder / "a.png").write_bytes(next(Path("assets/demo/images").glob("*.png")).read_bytes())
    cases, answers, scores, flags = [], [], [], []
    for number in range(60):
        case = f"c{number:02d}"
        row = {
            "id": case,
            "question": rng.choice(("Any effusion?", "What is wrong with the heart?")),
            "question_type": rng.choice(TYPES),
            "category": rng.choice((*CATEGORIES, None)),
            "difficulty": rng.choice((*DIFFICULTIES, None)),
            "site": rng.choice((*SITES, None)),
            "normal": rng.choice((True, False, None)),
            "patient_id": rng.choice(("p1", "p2", "p3", None)),
            "report": {"findings": rng.choice(REPORTS), "impression": rng.choice(REPORTS)},
            "tags": {
                name: rng.sample(values, rng.randint(1, len(values)))
                for name, values in TAGS.items()
                if rng.random() < 0.6
            },
        }
        cases.append({key: value for key, value in row.items() if value is not None})
        for model in rng.sample(MODELS, rng.randint(0, 3)):
            for run in range(rng.choice((1, 1, 2))):
                day = rng.randint(1, 28)
                answer = {
                    "case": case,
                    "model": model,
                    "run_id": f"run {run}",
                    "text": rng.choice(TEXTS),
                    "finish_reason": rng.choice(("stop",) * 5 + ("length", "error")),
                    "created": f"2026-0{run + 1}-{day:02d}T08:00:00+00:00",
                    "images": ["a.png", "a.png"] if rng.random() < 0.4 else None,
                }
                answers.append({key: value for key, value in answer.items() if value is not None})
            for reader in rng.sample(READERS, rng.randint(0, 3)):
                given = {"case": case, "model": model, "reader": reader}
                when = rng.choice((None, f"2026-03-{rng.randint(1, 9):02d}T23:30:00+00:00"))
                for dimension in ("process", "execution", "synthesis", "language"):
                    if rng.random() < 0.8:
                        mark = rng.randint(1, 5)
                        scores.append(
                            {**given, "dimension": dimension, "score": mark, "created": when}
                        )
                pictures = (0, 1) if answers[-1].get("images") else ()
                scores += [
                    {**given, "dimension": name, "image": at, "score": rng.randint(1, 5)}
                    for name in ("image_content", "image_style")
                    for at in pictures
                    if rng.random() < 0.8
                ]
            for failure in rng.sample(tuple(FAILURES)[:9], rng.randint(0, 2)):
                verdict = rng.choice(("confirmed", "confirmed", "rejected"))
                word = {"reader": rng.choice(READERS), "failure": failure, "verdict": verdict}
                flags.append({"case": case, "model": model, **word})
    for name, rows in (("cases", cases), ("answers", answers)):
        text = "".join(f"{json.dumps(row)}\n" for row in rows)
        (folder / f"{name}.jsonl").write_text(text, encoding="utf-8")
    for name, rows in (("scores", scores), ("flags", flags)):
        frame = pd.DataFrame(rows)
        if "image" in frame:
            frame["image"] = frame["image"].astype("Int64")
        frame.to_csv(folder / f"{name}.csv", index=False)
    return {
        f"c{number:02d}": CommentCount(rng.randint(1, 3), rng.randint(0, 1))
        for number in rng.sample(range(60), 20)
    }


# --- the plain reading --------------------------------------------------------------------------


def mean(values: list[float]) -> float | None:
    return sum(values) / len(values) if values else None


def text(value: Any) -> str:
    return value if isinstance(value, str) else ""


class Reading:
    """Rows as dicts: one for each newest answer, and one for each case without any."""

    def __init__(self, folder: Path, flags: Any, judged: Any, findings: Any, comments: Any) -> None:
        cases = pd.read_json(folder / "cases.jsonl", lines=True).to_dict("records")
        answers = pd.read_json(folder / "answers.jsonl", lines=True, dtype=False)
        newest = answers.sort_values("created", kind="stable").groupby(["case", "model"]).tail(1)
        by_case: dict[str, list[dict[str, Any]]] = defaultdict(list)
        for answer in newest.to_dict("records"):
            by_case[answer["case"]].append(answer)
        self.comments = comments
        self.cases = {case["id"]: self._case(case) for case in cases}
        self.order = {case: place for place, case in enumerate(self.cases)}
        self.scores: dict[Any, list[dict[str, Any]]] = defaultdict(list)
        for score in pd.read_csv(folder / "scores.csv").to_dict("records"):
            self.scores[score["case"], score["model"]].append(score)
        self.flags, self.judged, self.findings = (
            defaultdict(list),
            defaultdict(set),
            defaultdict(list),
        )
        for flag in flags:
            if flag["stands"]:
                self.flags[flag["case"], flag["model"], flag["failure"]].append(flag)
        for one in judged:
            self.judged[one["case"], one["model"]].add(one["failure"])
        for one in findings:
            self.findings[one["case"], one["model"], one["failure"]].append(one)
        self.harm = load_harm()
        self.rows = []
        for case in self.cases:
            answered = sorted(by_case[case], key=lambda one: MODELS.index(one["model"]))
            for answer in answered or [{"case": case, "model": None}]:
                self.rows.append(self._row(answer))

    def _case(self, case: dict[str, Any]) -> dict[str, Any]:
        report = case["report"]
        known = {name: text(case.get(name)) for name in ("category", "difficulty", "site")}
        normal = {True: "normal", False: "abnormal"}.get(case.get("normal"))
        if normal is None and case.get("normal") in (0.0, 1.0):
            normal = "normal" if case["normal"] else "abnormal"
        return {
            **known,
            "question_type": case["question_type"],
            "study": normal,
            "patient": text(case.get("patient_id")) or f"of {case['id']} only",
            "tags": {f"{name}:{v}" for name, values in case["tags"].items() for v in values},
            "words": f"{case['question']} {text(report['findings'])} {text(report['impression'])}",
        }

    def _row(self, answer: dict[str, Any]) -> dict[str, Any]:
        key = case, model = answer["case"], answer["model"]
        row: dict[str, Any] = {"case": case, "model": model, **self._numbers(answer)}
        row["created"] = answer.get("created") or ""
        row["has_text"] = bool(text(answer.get("text")).strip())
        row["pictures"] = len(answer["images"]) if isinstance(answer.get("images"), list) else 0
        row["words"] = f"{self.cases[case]['words']} {text(answer.get('text'))}".lower()
        row["judged"] = self.judged[key]
        row["sources"] = {}
        for failure in FAILURES:
            given = self.flags[*key, failure]
            marked = any(flag["source"] == "reader" for flag in given)
            detected = any(flag["source"] == "detector" and not flag["hint"] for flag in given)
            if given:
                names = {(1, 1): "both", (1, 0): "reader", (0, 1): "detector", (0, 0): "hint"}
                row["sources"][failure] = names[marked, detected]
        row["about"] = {}
        for failure in row["sources"]:
            found = self.findings[*key, failure]
            firm = {one["finding"] for one in found if not one["hint"]}
            row["about"][failure] = firm or {one["finding"] for one in found}
        row["severity"] = self._severity(row)
        return row

    def _status(self, answer: dict[str, Any]) -> str:
        if answer["model"] is None:
            return "not_run"
        reasons = {"length": "token_limit", "error": "error"}
        if answer["finish_reason"] in reasons:
            return reasons[answer["finish_reason"]]
        came = text(answer.get("text")).strip() or isinstance(answer.get("images"), list)
        return "answered" if came else "empty"

    def _numbers(self, answer: dict[str, Any]) -> dict[str, Any]:
        status = self._status(answer)
        given: dict[str, dict[str, list[float]]] = {name: {} for name in DIMENSIONS}
        for score in self.scores[answer["case"], answer["model"]] if status == "answered" else ():
            given[score["dimension"]].setdefault(score["reader"], []).append(score["score"])
        by_reader = {
            name: [sum(marks) / len(marks) for marks in readers.values()]
            for name, readers in given.items()
        }
        finals: dict[str, Any] = {name: mean(marks) for name, marks in by_reader.items()}
        apart = [max(marks) - min(marks) for marks in by_reader.values() if len(marks) > 1]
        parts = [finals[name] for name in PARTS]
        content, weakest, gap = None, None, None
        if None not in parts:
            content = min(parts)
            lowest = [name for name in PARTS if finals[name] - content < 1e-9]
            weakest = "all_equal" if len(lowest) == 3 else "_and_".join(lowest)
        if None not in parts[:2]:
            gap = parts[0] - parts[1]
        spread = max(apart, default=None)
        more = {"content": content, "weakest": weakest, "gap": gap, "disagreement": spread}
        return {**finals, **more, "status": status}

    def _severity(self, row: dict[str, Any]) -> tuple[float, ...]:
        """Harm, the hint where nothing harms, whether a reader confirmed it, points lost, hint."""
        worst, hint = (0, False), 0
        for failure, source in row["sources"].items():
            for finding in row["about"][failure] or {None}:
                harm = self.harm.of(failure, finding)
                if source == "hint":
                    hint = max(hint, harm, 1)
                else:
                    worst = max(worst, (harm, source in ("reader", "both")))
        lost = 0.0 if row["content"] is None else 5 - row["content"]
        if row["status"] in LOST:
            lost, worst = 4.0, max(worst, (self.harm.failures["no_answer"].harm, False))
        return (worst[0], 0 if worst[0] else hint, worst[1], round(lost, 4), hint)

    # which rows meet one condition

    def meets(self, name: str, condition: Any, chosen: CaseFilter) -> frozenset[int]:
        rows = enumerate(self.rows)
        return frozenset(at for at, row in rows if self._meets(row, name, condition, chosen))

    def _meets(self, row: dict[str, Any], name: str, wanted: Any, chosen: CaseFilter) -> bool:
        case = self.cases[row["case"]]
        if name in RANGES:
            value = row[name]
            low = -9 if wanted.low is None else wanted.low - 1e-4
            high = 9 if wanted.high is None else wanted.high + 1e-4
            return value is not None and low <= value <= high
        if name in ("failures", "sources", "findings"):
            return any(self._flagged(row, failure, chosen, name) for failure in FAILURES)
        if name == "judged":
            return bool(row["judged"] & set(wanted))
        if name == "passing":
            others = {one["model"]: one for one in self.rows if one["case"] == row["case"]}
            asked = set(chosen.failures or FAILURES)
            return all(
                model in others
                and others[model]["judged"] & asked
                and not any(self._flagged(others[model], one, chosen, "failures") for one in asked)
                for model in wanted
            )
        if name.startswith("tags:"):
            return bool(case["tags"] & set(wanted))
        if name == "search":
            return all(word in row["words"] for word in wanted.lower().split())
        if name == "comments":
            count = self.comments.get(row["case"])
            return count is not None and ("commented" in wanted or count.unresolved > 0)
        if name == "reader_scores":
            return self._scored(row, wanted)
        if name == "reader_pairs":
            return all(self._apart(row, word) for word in wanted)
        if name == "model_pairs":
            return all(self._paired(row, word) for word in wanted)
        columns = {"models": "model", "statuses": "status", "weakest": "weakest"}
        if name in columns:
            return row[columns[name]] in wanted
        columns = {"question_types": "question_type", "categories": "category"}
        columns |= {"difficulties": "difficulty", "sites": "site", "studies": "study"}
        return case[columns[name]] in wanted

    def _flagged(self, row: dict[str, Any], failure: str, chosen: CaseFilter, name: str) -> bool:
        source = row["sources"].get(failure)
        if source is None or (chosen.failures and failure not in chosen.failures):
            return False
        if source not in (chosen.sources or ("detector", "reader", "both")):
            return False
        if name != "findings":
            return True
        known = row["about"][failure]
        wanted = {one for word in chosen.findings for one in FindingCondition.parse(word).ids}
        return bool(known & wanted) or ("unknown" in chosen.findings and not known)

    def _scored(self, row: dict[str, Any], words: tuple[str, ...]) -> bool:
        if row["status"] != "answered":
            return False
        pictures: set[Any] | None = None
        for word in words:
            dimension, marks, days, reader = word.split(":", 3)
            low, _, high = marks.partition("..")
            first, _, last = days.partition("..")
            met = [
                score
                for score in self.scores[row["case"], row["model"]]
                if dimension in ("", score["dimension"])
                and reader in ("", score["reader"])
                and (not low or int(low) <= score["score"] <= int(high or low))
                and (not first or first <= text(score["created"])[:10] <= (last or first))
            ]
            if not met:
                return False
            if dimension.startswith("image"):
                here = {score["image"] for score in met}
                pictures = here if pictures is None else pictures & here
        return pictures is None or bool(pictures)

    def _apart(self, row: dict[str, Any], word: str) -> bool:
        dimension, apart, *ids = word.split(":")
        readers = [name.replace("%3A", ":").replace("%25", "%") for name in ids]
        low, _, high = apart.partition("..")
        limits = (int(low), int(high or low)) if apart else (0, 4)
        given: dict[Any, dict[str, int]] = defaultdict(dict)
        for score in self.scores[row["case"], row["model"]]:
            if score["dimension"] == dimension and row["status"] == "answered":
                unit = score["image"] if dimension.startswith("image") else None
                given[unit][score["reader"]] = score["score"]
        both = [marks for marks in given.values() if set(readers) <= set(marks)]
        points = [abs(marks[readers[0]] - marks[readers[1]]) for marks in both]
        return any(limits[0] <= one <= limits[1] for one in points)

    def _paired(self, row: dict[str, Any], word: str) -> bool:
        dimension, *ids = word.split(":")
        models = [name.replace("%3A", ":").replace("%25", "%") for name in ids]
        scored = {
            one["model"]
            for one in self.rows
            if one["case"] == row["case"] and one[dimension] is not None
        }
        return row["model"] in models and row["model"] in scored and set(models) <= scored

    # the answers to questions

    def conditions(self, chosen: CaseFilter) -> dict[str, frozenset[int]]:
        names = [name for name in vars(chosen) if name not in ("search", "mention", "sort", "tags")]
        given = {name: getattr(chosen, name) for name in names}
        given["search"] = chosen.search
        for tag in chosen.tags:
            name = f"tags:{tag.partition(':')[0]}"
            given[name] = (*given.get(name, ()), tag)
        flags = replace_all_but_flags(chosen)
        return {
            name: self._cached(name, wanted, flags)
            for name, wanted in given.items()
            if wanted not in ((), None, "")
        }

    @cache  # noqa: B019 - as long as the test
    def _cached(self, name: str, wanted: Any, flags: CaseFilter) -> frozenset[int]:
        return self.meets(name, wanted, flags)

    def left(self, conditions: dict[str, frozenset[int]], *but: str) -> set[int]:
        every = set(range(len(self.rows)))
        return every.intersection(*(rows for name, rows in conditions.items() if name not in but))

    def cases_of(self, rows: set[int]) -> set[str]:
        return {self.rows[at]["case"] for at in rows}

    def ordered(self, rows: set[int], sort: str) -> list[str]:
        best: dict[str, Any] = {}
        nothing: Any = {"newest": "", "severity": ()}.get(sort, -9.0)
        for at in sorted(rows):
            row = self.rows[at]
            column = {"newest": "created"}.get(sort, sort)
            value = 0 if sort == "order" else row[column]
            value = nothing if value is None else value
            best[row["case"]] = max(best.get(row["case"], nothing), value)
        found = sorted(best, key=self.order.__getitem__)
        return found if sort == "order" else sorted(found, key=best.__getitem__, reverse=True)

    def counts(self, conditions: dict[str, frozenset[int]], chosen: CaseFilter) -> dict[Any, int]:
        """Count the cases of every value of every condition."""
        found: dict[Any, set[str]] = defaultdict(set)
        columns = {"models": "model", "statuses": "status", "weakest": "weakest"}
        for field, column in columns.items():
            for at in self.left(conditions, field):
                found[field, self.rows[at][column]].add(self.rows[at]["case"])
        columns = {"question_types": "question_type", "categories": "category"}
        columns |= {"difficulties": "difficulty", "sites": "site", "studies": "study"}
        for field, column in columns.items():
            for case in self.cases_of(self.left(conditions, field)):
                found[field, self.cases[case][column]].add(case)
        for name in TAGS:
            for case in self.cases_of(self.left(conditions, f"tags:{name}")):
                for tag in self.cases[case]["tags"]:
                    if tag.startswith(f"{name}:"):
                        found["tags", tag].add(case)
        for case in self.cases_of(self.left(conditions, "comments")) & self.comments.keys():
            found["comments", "commented"].add(case)
            if self.comments[case].unresolved:
                found["comments", "unresolved"].add(case)
        for at in self.left(conditions, "failures", "sources"):
            for failure, source in self.rows[at]["sources"].items():
                if source in (chosen.sources or ("detector", "reader", "both")):
                    found["failures", failure].add(self.rows[at]["case"])
                if not chosen.failures or failure in chosen.failures:
                    found["sources", source].add(self.rows[at]["case"])
        return {key: len(cases) for key, cases in found.items()}


def replace_all_but_flags(chosen: CaseFilter) -> CaseFilter:
    """What conditions on flags look at besides themselves."""
    return CaseFilter(failures=chosen.failures, sources=chosen.sources, findings=chosen.findings)


# --- random filters -----------------------------------------------------------------------------


def some(rng: random.Random, values: Any, most: int = 3) -> tuple[str, ...]:
    values = tuple(values)
    return tuple(rng.sample(values, rng.randint(1, min(most, len(values)))))


def random_filter(rng: random.Random) -> CaseFilter:
    def span(low: float, high: float) -> NumberRange:
        ends = sorted(rng.choice((low, high, rng.randint(-8, 10) / 2, 2.999)) for _ in "ab")
        return NumberRange(rng.choice((None, ends[0])), rng.choice((None, ends[1])))

    def a_score() -> str:
        days = rng.choice(("", "", "2026-03-02..2026-03-06", "2026-03-05"))
        mark = rng.choice(("", "3", "2..4"))
        dimension, reader = rng.choice(("", *DIMENSIONS)), rng.choice(("", *READERS))
        return f"{dimension}:{mark}:{days}:{reader}"

    def escaped(names: tuple[str, ...]) -> str:
        return ":".join(
            name.replace("%", "%25").replace(":", "%3A") for name in rng.sample(names, 2)
        )

    given: dict[str, Any] = {
        "failures": some(rng, FAILURES),
        "sources": some(rng, ("detector", "reader", "both", "hint")),
        "models": some(rng, (*MODELS, "nobody"), 2),
        "statuses": some(rng, ("answered", "token_limit", "error", "empty", "not_run")),
        "weakest": some(rng, (*PARTS, "process_and_execution", "all_equal")),
        "judged": some(rng, FAILURES, 2),
        "passing": some(rng, (*MODELS, "nobody"), 2),
        "findings": some(rng, ("pleural_effusion", "pneumothorax", "region:pleura", "unknown")),
        "question_types": some(rng, TYPES),
        "categories": some(rng, CATEGORIES),
        "tags": some(rng, [f"{name}:{value}" for name in TAGS for value in TAGS[name]]),
        "difficulties": some(rng, DIFFICULTIES),
        "sites": some(rng, (*SITES, "nowhere")),
        "studies": some(rng, ("normal", "abnormal")),
        "reader_scores": tuple(a_score() for _ in range(rng.randint(1, 2))),
        "reader_pairs": (
            f"{rng.choice(DIMENSIONS)}:{rng.choice(('', '0', '0..1', '1..4'))}:{escaped(READERS)}",
        ),
        "model_pairs": (f"{rng.choice(('content', *DIMENSIONS))}:{escaped(MODELS)}",),
        "comments": some(rng, ("commented", "unresolved")),
        "search": rng.choice(("effusion", "HEART normal", "(see", "left no", "zebra")),
        **{name: span(-4 if name == "gap" else 0, 5) for name in RANGES},
    }
    for name in ("gap", *RANGES):
        if given[name].low is not None and given[name].high is not None:
            ends = sorted((given[name].low, given[name].high))
            given[name] = NumberRange(*ends)
    names = rng.sample(tuple(given), rng.choice((0, 1, 1, 2, 2, 3, 4)))
    sort = rng.choice(("severity", "gap", "disagreement", "newest", "order"))
    return CaseFilter(**{name: given[name] for name in names}, sort=sort)


# --- both ---------------------------------------------------------------------------------------


def engine_and_reading(folder: Path) -> tuple[MemoryEngine, Reading]:
    """Write the set; return the engine of it and the plain reading of it."""
    comments = write_set(folder)
    engine = build_memory_engine(load_review_set(folder), comments=comments)
    survey = engine.table.survey
    assert survey is not None
    parts = (
        name_flags(survey),
        judged_answers(survey),
        add_case_and_model(survey.findings, survey.scan.review_set),
    )
    said = (part.to_dicts() for part in parts)
    return engine, Reading(folder, *said, comments)
