"""Whole texts, and the same cut at random places: what the text alone tells of a cut."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path

from support.rows import each_row

from rexview.detect import text_ending

WHOLE = [
    json.loads(line)["text"]
    for line in Path(__file__).with_name("whole_texts.jsonl").read_text("utf-8").splitlines()
]
"""Answers and reports of many shapes, each complete as it stands; half end without a full stop."""
WORD = re.compile(r"[A-Za-z]{6,}")


@each_row("text", WHOLE, ids=lambda text: text[:30])
def test_a_whole_text_is_complete(text: str) -> None:
    assert text_ending(text).kind == "complete"
    assert text_ending(text + "\n").kind == "complete"


def cut_inside_words() -> list[str]:
    """Texts cut inside a long word, not within the first ones."""
    rng = random.Random(7)
    places = [
        (text, match)
        for text in WHOLE
        for match in WORD.finditer(text)
        if match.start() > 20 and not match[0].isupper()
    ]
    return [
        text[: match.start() + rng.randrange(3, len(match[0]) - 1)]
        for text, match in rng.sample(places, 400)
    ]


def test_most_words_that_were_cut_are_seen() -> None:
    cuts = cut_inside_words()
    missed = [text[-40:] for text in cuts if text_ending(text).kind == "complete"]
    assert len(missed) <= len(cuts) * 0.15, "\n".join(missed)


@each_row(
    "ending",
    [
        "On the lateral view it lies behind",
        "The appearances in the right",
        "Is there free gas? No. What could it",
        "It cannot",
        "The nodule is new. The largest of the three",
        "The lungs are clear. The heart is normal. Finally",
        "Impression: No",
        "Mild degenerative",
        "The patient's",
        "A tree-like finger-in",
        "The nodule measures 12",
        "Repeat CT in 3",
        "Opacity in the left up",
        "For more see https",
        "Three findings:\n1. Effusion\n2. Scar",
        "Two things matter: (1) the tube",
        "Q1: Left lower lobe.\nQ2: Sail sign.\nQ3: The hilum is displaced, and the medial part",
        "1. Is it one side or both?\n2. Did it come in hours or days?\n3. Did",
        "- Heart: normal\n- Lungs: clear\n- Pleura: dry\n- Bones",
        "heart: normal; lungs: clear; pleura",
        "## Findings\nClear.\n## Impress",
        "**Findings**\nClear.\n**Impression**",
        "1. The tube is low.\n2. The line is fine.\n3. The lung is out of",
        "{'heart': 'normal', 'lungs': {'right': 'cl",
        "<report><findings>Clear lungs",
        "<report><findings>Clear</findings><impr",
        "| Zone | Right | Left",
        'He said "do not sit on',
        "- Felson B. *Chest Roentg",
        "The answer is \\boxed",
    ],
)
def test_what_is_left_open_is_seen(ending: str) -> None:
    alone = ending[0] in "{<"
    opening = "" if alone else "The heart is normal in size and lies centrally.\n"
    text = opening + ending
    assert text_ending(text).kind == "truncated_suspected", ending


@each_row(
    "ending",
    [
        "The effusion is larger on the right than on the left",
        "There are opacities behind the heart and the diaphragm stays in",
        "Three findings:\n1. Effusion\n2. Scar\n3. Nodule",
        "Two things matter: (1) the tube (2) the drain",
        "- Heart: normal\n- Lungs: clear\n- Pleura: dry\n- No fracture",
        "heart: normal; lungs: clear; no effusion",
        "# Impression\n## No acute disease",
        "1. The tube is low.\n2. The line is fine.\n3. No pneumothorax",
        "{'heart': 'normal', 'answer': 'it's clear'}",
        "<report><findings>Clear</findings></report>",
        'The film is 14" wide',
        "Ratio measured 12.5 mm",
        "The angle measures 23",
        "Follow-up CT in 2027",
        "See https://doi.org/10.1148/radiol.2462070712/",
        '{"findings": [], "boxes": []}',
        "Level: 5th",
        "small effusion l",
        "heart ok",
        "Cardiomeg, small eff",
        "PICC from the left",
        "Cardiac | mild",
        "Valve: mitral",
    ],
)
def test_what_is_closed_is_complete(ending: str) -> None:
    assert text_ending(ending).kind == "complete", ending
