"""Names of models are covered however they are written, and medical words are not."""

import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as some
from support import SHARED_DATA
from support.rows import each_row

from rexview.analysis.case.blinding import NameFinder, fold_text

REPORTS = SHARED_DATA / "rexrank/ReXRank_IUXray_valid.json"
FINDER = NameFinder(["o3", "gpt-4o", "MedGemma 27B", "claude-3-5-sonnet", "Gemini 1.5 Pro"])
WELL_KNOWN = NameFinder(["model-a", "Model A"])


def cover(text, finder=WELL_KNOWN):
    return finder.cover(text, "[model]")


@each_row(
    "name",
    [
        "G**PT**-4",
        "G*P*T-4",
        "GPT`-`4",
        "GP\u00adT-4",
        "GP\u200bT-4",
        "G\u2060P\ufeffT-4",
        "GPT\u20114",
        "GPT&#45;4",
        "&#71;PT-4",
        "&#x47;P&shy;T-4",
        "G<b>PT</b>-4",
        "G<!-- x -->PT-4",
        "G\\PT-4",
        "\u0413PT-4".replace("\u0413", "G"),
        "GP\u0422-4",
        "\uff27\uff30\uff34-4",
        "\U0001d406\U0001d40f\U0001d413-4",
        "G\u0301PT-4",
        "Med&shy;Gemma",
        "Med-Gemma",
        "Med\u2011Gemma",
        "Med\nGemma",
        "Med-\nGemma",
        "MedGem-\nma",
        "med_gemma",
        "M e d G e m m a",
        "M.e.d.G.e.m.m.a",
        "M-e-d-G-e-m-m-a",
        "Med\u200dG\u0435mm\u0430",
        "M\u0435dG\u0435mma-27b-text-it",
        "Op\u0435n AI",
        "0penAI",
        "Cl\u0430ude 3.5 Sonnet",
        "C1aude-3",
        "Llama-3.1-70B",
        "LLaVA-Med v1.5",
        "qwen2.5-vl",
        "DeepSeek R1",
        "PaLM 2",
        "Phi-3",
        "Mistral 7B",
        "Gemini 1.5 Pro",
        "chexagent",
    ],
)
def test_a_name_is_covered_however_it_is_written(name):
    text = cover(f"This was written by {name}, with care.")
    assert text.startswith("This was written by ")
    assert text.endswith(", with care.")
    kept = fold_text(text).replace("[model]", "").removeprefix("this was written by ")
    kept = kept.removesuffix(", with care.").replace("\x01", "")
    assert kept in ("model", "modelr1", "model r1"), text


@each_row(
    ("text", "expected"),
    [
        ("I am Claude.", "I am [model]."),
        ("As Gemini, I see no effusion.", "As [model], I see no effusion."),
        ("Answer of OpenAI o3: normal", "Answer of [model] [model]: normal"),
        ("GPT-4 and Claude agree", "[model] and [model] agree"),
        ("Claude, Gemini and GPT-4 agree", "[model], [model] and [model] agree"),
        ("Normal chest.\n\n- Claude", "Normal chest.\n\n- [model]"),
        ("Gemini: no effusion", "[model]: no effusion"),
        ("Claude's answer: normal", "[model]'s answer: normal"),
        ("As Claude 2 nodules are seen", "As [model] 2 nodules are seen"),
        ("As Claude 3.5 I see 3.5 cm", "As [model] I see 3.5 cm"),
        ("According to GPT-4 3 nodules", "According to [model] 3 nodules"),
        ("**GPT-4** sees **no** effusion", "**[model]** sees **no** effusion"),
        ("G**PT-4** sees **no** effusion", "[model] sees **no** effusion"),
    ],
)
def test_what_is_covered_and_no_more(text, expected):
    assert cover(text) == expected


@each_row(
    "text",
    [
        "SpO2 95 % on O2, PaO2 60, O3 and O1 in room air",
        "Omega-3, CO3, HCO3 24, NO3 and 0.03 mg",
        "Dr. Claude Martin compared it.",
        "Claude Bernard-Horner syndrome",
        "Claude's syndrome with a third nerve palsy",
        "Compared by Prof. Claude on the ward.",
        "twins in Gemini",
        "GPT 45 U/l, GOT 30 U/l, gamma-GT raised",
        "The mistral valve is calcified; palm 2 cm, the phi angle",
        "A falcon, a titan implant, a nova and an overcommand",
        "The lama, the gem, a germ, magma and gemmation",
        "open aortic arch; open air; chat group talk",
        "mini gap, deep mid zone, deeps eek",
        "Lines at T4 and L1, leads at C5",
        "RV < LV and x > y, p<0.03",
        "left-to-right shunt, AI regurgitation, PA view",
        "a large, small and medium effusion in the medical ward",
        "Claudication and geminated beats; microsoftening",
    ],
)
def test_words_of_medicine_and_people_stay(text):
    assert cover(text) == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("o3 says so, O3 too", "[model] says so, [model] too"),
        ("to3, o33, o-3, omega-3, CO3", "to3, o33, o-3, omega-3, CO3"),
        ("gpt 4o; g p t 4 o; GPT4o", "[model]; [model]; [model]"),
        ("MedGemma without its size", "[model] without its size"),
        ("Claude without its version sees it", "[model] without its version sees it"),
        ("Dr. Claude Martin", "Dr. Claude Martin"),
        ("Gemini sees it", "[model] sees it"),
    ],
)
def test_names_of_the_study_are_covered_more_readily(text, expected):
    assert cover(text, FINDER) == expected


def test_a_study_adds_names_and_keeps_its_ordinary_words():
    finder = NameFinder(["large", "T4"], {"large"}, ["Quokka", "Acme Labs", "R2"])
    text = "Large effusion at T4, said the Quokka of Acme-Labs (R2)."
    assert cover(text, finder) == "Large effusion at T4, said the [model] of [model] ([model])."
    assert cover("I am T4.", finder) == "I am [model]."


@given(some.text(max_size=60))
def test_folding_keeps_places_and_any_text_can_be_covered(text):
    assert len(fold_text(text)) == len(text)
    spans = WELL_KNOWN.spans(text)
    assert spans == sorted(spans)
    assert all(a[1] <= b[0] for a, b in pairwise(spans))


@given(some.text(alphabet="GPT4-*<>&;lamaCude o3\n`_", max_size=80))
def test_what_is_covered_once_stays_covered(text):
    assert "\x01" not in cover(text)
    assert len(text) < 4 or cover(f"GPT-4\n\n{text}").startswith("[model]")


@pytest.mark.skipif(not REPORTS.is_file(), reason="real reports are not at hand")
@pytest.mark.parametrize("finder", [WELL_KNOWN, FINDER], ids=["well known", "a study of o3"])
def test_real_reports_stay_as_they_are(finder):
    studies = json.loads(REPORTS.read_text(encoding="utf-8"))
    texts = [json.dumps(study, ensure_ascii=False) for study in studies.values()]
    assert len(texts) > 200
    found = [text[slice(*span)] for text in texts for span in finder.spans(text)]
    assert found == []
