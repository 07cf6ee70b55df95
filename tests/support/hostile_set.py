"""A review set whose every text tries to be more than text, and links that do."""

import csv
import io
import json

from support.review_folder import RAMP, write_review_set

HOST = "evil.invalid"
SHORT = f"![i](http://{HOST}/i.png)<img src=http://{HOST}/j>:red[r]**b**"
LONG = (
    f'{SHORT} [l](http://{HOST}) <script>window.hacked = 1</script> <svg onload="hacked = 1"> '
    f"<style>@import 'http://{HOST}/s.css';</style> http://{HOST} www.{HOST} a@{HOST} "
    "javascript:hacked=1 :material/home: :smile: $x^2$ `c` &lt;b&gt; {{7*7}} | p | q |"
)
DANGERS = ("![i](", "[l](", ":red[r]", "**b**", "$x^2$", "`c`", "&lt;b&gt;", f"http://{HOST}")
"""What of it must never stand in Markdown without escapes."""


def word(place):
    """Return a short hostile text that says where it comes from."""
    return f"{place}{SHORT}"


def text(place):
    """Return a long one."""
    return f"{place} {LONG}"


MODELS = [word("m1"), word("m2")]
READERS = [word("r1"), word("r2")]
CASES = [word("c1"), word("c2"), word("c3")]
DIMENSIONS = ("process", "execution", "synthesis", "language")


def write_hostile_set(folder):
    """Write the set; it has no errors."""
    tables = {
        "scores": [
            (one, model, reader, dimension, score, text("score comment"))
            for one in CASES[:2]
            for model, scores in zip(MODELS, ((5, 2), (4, 1)), strict=True)
            for reader, score in zip(READERS, scores, strict=True)
            for dimension in DIMENSIONS
        ],
        "flags": [(CASES[0], MODELS[0], READERS[0], "hallucination", "confirmed", text("flag"))],
        "metrics": [(one, MODELS[0], word("metric"), 0.5) for one in CASES],
        "edits": [(CASES[0], MODELS[0], READERS[0], 1, text("old"), text("new"), "substitute", 3)],
        "choices": [(CASES[2], READERS[0], 0, text("comment"))],
        "preferences": [(CASES[0], *MODELS, READERS[0], "tie", text("comment"))],
        "opinions": [
            (one, model, word("judge"), word("prompt"), *said, text("reason"), text("quote"))
            for one in CASES
            for model in MODELS
            for said in (("hallucination", True, None, None), (None, None, "process", 2))
        ],
        "references": [(CASES[0], READERS[0], text("findings"), text("impression"))],
    }
    heads = {
        "scores": "case,model,reader,dimension,score,comment",
        "flags": "case,model,reader,failure,verdict,comment",
        "metrics": "case,model,metric,value",
        "edits": "case,model,reader,line,original,edited,action,severity",
        "choices": "case,reader,choice,comment",
        "preferences": "case,first,second,reader,preferred,comment",
        "opinions": "case,model,judge,prompt_id,failure,present,dimension,score,reason,quote",
        "references": "case,reader,findings,impression",
    }
    write_review_set(
        folder,
        info=info(),
        cases=[case(one, place) for place, one in enumerate(CASES)],
        answers=answers(),
        **{table: as_csv([heads[table].split(","), *rows]) for table, rows in tables.items()},
        pictures={picture_name(name): RAMP for name in ("a", "b")},
    )
    (folder / "rubric.yaml").write_text(json.dumps(rubric()), encoding="utf-8")
    return folder


def as_csv(rows):
    file = io.StringIO()
    csv.writer(file).writerows(rows)
    return file.getvalue()


def picture_name(name):
    """Return the name of an image's file: no slash can stand in it."""
    return word(name).replace("/", "_") + ".png"


def case(name, place):
    choice = place == 2
    kind = ("report", "open", "choice")[place]
    return {
        "id": name,
        "question": text("question"),
        "question_type": kind,
        "category": "presence_assessment" if choice else word("category"),
        "tags": {word("tag"): [word("value"), "plain"], "region": [word("region")]},
        "difficulty": word("difficulty"),
        "study_id": word("study"),
        "patient_id": word("patient"),
        "site": word("site"),
        "context": {part: text(part) for part in ("age", "sex", "indication", "comparison")},
        "report": {
            "findings": f"Right pleural effusion. {text('findings')}",
            "impression": text("impression"),
        },
        "images": [
            {"id": word(one), "path": picture_name(one), "view": word("view"), "prior": one == "b"}
            for one in ("a", "b")
        ],
        "reference_boxes": [
            {"image": word("a"), "label": word("label"), "box": [5, 60, 30, 30], "side": "right"}
        ],
        **({"options": [word("o1"), word("o2")], "correct": 0} if choice else {}),
        "explanation": text("explanation"),
        "extra": {word("field"): text("extra")},
    }


def answers():
    rows = []
    for place, one in enumerate(CASES):
        for model in MODELS:
            row = {
                "case": one,
                "model": model,
                "text": f"Left pleural effusion.\n\n{text('answer')}",
                "finish_reason": "stop" if model == MODELS[0] else "length",
                "boxes": [{"image": word("a"), "label": word("box"), "box": [50, 60, 30, 30]}],
            }
            rows.append(row if place < 2 else {**row, "choice": 1, "boxes": []})
    return rows


def rubric():
    dimensions = {
        key: {
            "name": word(key),
            "question": text(f"{key} asks"),
            "anchors": {level: text(f"{key} {level}") for level in range(1, 6)},
        }
        for key in (*DIMENSIONS, "image_content", "image_style")
    }
    return {"dimensions": dimensions}


def info():
    return {
        "name": text("set"),
        "description": text("description"),
        "notice": text("notice"),
        "rubric": "rubric.yaml",
        "models": [
            {"id": model, "name": text(model[:2]), "kind": "generalist", "notes": text("notes")}
            for model in MODELS
        ],
        "readers": [
            {"id": reader, "name": text(reader[:2]), "role": word("role")} for reader in READERS
        ],
    }
