"""Which texts are told to be in another language than English, and which never are."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.rows import each_row

from bench.corpus import laterality_pairs, report_habits, token_limit_texts
from rexview.text.language import describe_language, detect_language

FOREIGN = json.loads(Path(__file__).with_name("reports.json").read_text("utf-8"))
"""Reports and answers by language, written for this test."""
NOTES = [
    *("No PTX", "LLL pna", "ett ok", "R PICC tip SVC", "Cardiomegaly", "B", "Option D", "Left"),
    *("LLL collapse unch. Small L eff. No PTX", "s/p CABG", "Swan-Ganz in RPA", "cor pulmonale"),
    *("Situs inversus totalis", "Pectus excavatum", "Mycobacterium avium complex", "IABP tip T5"),
    *("Dobhoff tube post-pyloric", "Tetralogy of Fallot", "carcinoma in situ", "DISH", "A"),
    *("Port-a-Cath in situ", "Luftsichel sign", "Effusion, L > R", "PA + lat: nl", "ad 1: normal"),
    *("MUDr. Novák: no effusion", "van der Waals", "de Lacey G, Morley S, Berman L", "μ 5 Ω"),
    *("La Crosse, El Paso", "Σ = 3.5 cm", "Müller NL, Hansell DM. Radiology 2008", "naïve façade"),
]


@each_row(("language", "text"), [(name, text) for name, texts in FOREIGN.items() for text in texts])
def test_a_report_in_another_language_is_told(language: str, text: str) -> None:
    assert detect_language(text) == language


@each_row("text", [*NOTES, "", " ", "...", "{}", "1 2 3"])
def test_english_notes_are_read(text: str) -> None:
    assert detect_language(text) is None
    assert detect_language(text.upper()) is None


def test_no_english_text_of_the_corpus_is_called_foreign() -> None:
    pairs = [*laterality_pairs(), *report_habits()]
    texts = [row.answer.text or "" for row in pairs]
    texts += [row.case.report.findings or "" for row in pairs]
    assert [text for text in dict.fromkeys(texts) if detect_language(text)] == []
    whole = [row.answer.text or "" for row in token_limit_texts() if row.split == "dev"]
    told = [text for text in whole if detect_language(text)]
    assert 0 < len(told) < 10, "some of these texts are in other languages"


@pytest.mark.parametrize(
    "text",
    [
        "There is a small effusion at the left base. The outside report says: kein Pneumothorax.",
        "The patient said “me duele el pecho desde ayer”. The lungs are clear and the heart is "
        "normal in size.",
        "The findings are in keeping with what the referring letter calls “Verschattung im linken "
        "Unterlappen”.",
        "The lungs are clear. 右側に胸水を認める。 The heart is of normal size, and there is no "
        "fracture of a rib.",
    ],
)
def test_an_english_text_with_a_foreign_sentence_is_read(text: str) -> None:
    assert detect_language(text) is None


def test_a_language_that_is_not_known_is_another() -> None:
    text = (
        "Širdies šešėlis normalaus dydžio, plaučiuose židininių pakitimų nematyti, "
        "šaknys struktūriškos, sinusai laisvi, skystis nerastas, kaulų pažeidimų nėra"
    )
    assert detect_language(text) == "another language"
    assert describe_language("another language") == "is not in English"
    assert describe_language("German") == "looks German"


@given(st.text(max_size=200))
def test_any_text_is_taken(text: str) -> None:
    found = detect_language(text)
    assert found is None or found


def test_a_megabyte_takes_no_time() -> None:
    for unit in ("der und ", "ü", "胸", "a" * 1_000, "the "):
        started = time.thread_time()
        detect_language(unit * (1_000_000 // len(unit)))
        assert time.thread_time() - started < 5
