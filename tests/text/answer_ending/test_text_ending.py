"""How texts end, read from the texts alone: both ways for each sign of a cut."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.growth import growth
from support.rows import each_row

from rexview.detect import text_ending
from rexview.text import answer_ending as refusal

FEW = {
    "a": "The left lower zone is hazy and the outline of the left diaphragm is lost.",
    "b": "The right hilum is full, and upper vessels are wider than lower ones are.",
    "c": "A catheter enters from the right and ends where the upper caval vein does.",
}
BODY = "The heart is normal in size and the mediastinum is central. "


@each_row(
    "ending",
    [
        "There is a moderate right pleural eff",
        "The trachea is midl",
        "There is a moderate right pleural",
        "There is no",
        "The appearances are consistent with",
        "The opacity lies in the",
        "This is a small pneumothorax, with a",
        "There is mild",
        "The tube lies approximately",
        "Consolidation (right lower",
        "The effusion, which",
        "Findings,",
        "Impression:",
        "This demonstrates",
        "1. Lungs clear.\n2.",
        "- Lungs clear\n-",
        "## Findings\nClear.\n\n## Impression",
        "- **Heart:** normal\n- **Lun",
        "| Region | Finding |\n|---|---|\n| Heart | normal |\n| Lungs | cl",
        "| Region | Finding |\n|---|---|",
        "```json\n[1, 2]",
        "The ratio is 0.",
        "Causes of this, e.g.",
        "The film shows an effusion on the left-",
        "No focal",
        "The right lung is clear, whereas the left",
        "The appearances may represent early",
        "I would say that it's",
        "The lungs are clear. The heart is normal. Calcified",
        "The nodule is unchanged over three",
        "The apex is free, and the first is what they recommend, then",
        "I would repeat the film in six weeks to document",
        "Please check that the drain is on suction and that its side",
        "Lines: right catheter, its tip",
        "The nodule measures approximately 9 m",
        "The tube ends about 2.",
        "Lungs clear.\n\n### Mediastinum and hila",
        "- **A. Effusion** – the angle is sharp\n- **B. Collapse** –",
        "Step 1 - The heart is normal.\nStep 2 - Lungs are clear.\nStep 3 - Putting",
        "It is one of (a) an abscess, (b) a tumour, (c)",
        "There are three differentials to consider. The first is a carcinoma.",
        "Behind the heart there is a triangular",
        "lungs:\n  right: normal\n  left: nor",
    ],
)
def test_a_cut_is_seen(ending: str) -> None:
    found = text_ending(BODY + "\n" + ending)
    assert found.kind == "truncated_suspected"
    assert found.reason
    assert 0 <= found.start < found.end == len(BODY) + 1 + len(ending)


@each_row(
    "ending",
    [
        "The lungs are clear",
        "No acute osseous abnormality",
        "There is a small left apical pneumothorax",
        "- Heart: normal\n- Lungs: clear\n- Pneumothorax: no",
        "Side: right",
        "Zone: upper",
        "The tip lies 4 cm above the carina, ratio 0.48",
        "Heart size at the upper limit of normal",
        "Seen best on CT",
        "The effusion is larger on the right than on the left",
        "Larger than the left",
        "🙂 All clear",
        "The answer is B",
        "Size about 15 mm",
        "effusion, left > right",
        "| Region | Finding |\n|---|---|\n| Heart | normal |",
        "## No acute disease",
        "```json\n{}\n```",
        "[1] Hansell DM et al. Fleischner Society glossary. Radiology 2008;246:697",
        "https://doi.org/10.1148/radiol.2462070712",
        "**Impression:** small left effusion",
        "(see above)",
        "He asked what it refers to",
        "Follow-up in 6 wks",
        "Grade 2.",
        "The interval is [0, 1)",
        "Let me know if I can help :)",
        "Heart: normal; lungs: clear; pleura: normal; bones: normal;",
        "cardiomegaly, oedema, effusions etc.",
        "Clear\n\n---",
        "• Old fracture\n• Nothing acute",
        "Bigger since the prior study",
        "## Conclusion: no acute disease",
        "- Right apex – clear\n- Effusion: –",
        "Best regards,\nThe reading assistant",
        "Heart: normal;\nlungs: clear;\npleura: clear;",
        "Effusion\tyes\nCardiomegaly\tno",
        "Three questions before anything else. If the first two are yes, an ultrasound is enough.",
        "Two possibilities remain. The first is a scar, the other a tumour.",
    ],
)
def test_a_finished_answer_is_not_flagged(ending: str) -> None:
    assert text_ending(ending).kind == "complete", ending
    assert text_ending(BODY + "\n" + ending).kind == "complete"


@pytest.mark.parametrize(
    "text",
    [
        '{"findings": ["left effusion", "no pn',
        '{"a": {"b": [1, 2',
        '{"quote": "a brace } in a string',
        "```json\n{\n",
    ],
)
def test_open_json_is_cut(text: str) -> None:
    assert text_ending(text).kind == "truncated_suspected"


@pytest.mark.parametrize("text", ['{"a": "x"}', '["a", "b"]', '{"text": "an open { in a string"}'])
def test_closed_json_is_complete(text: str) -> None:
    assert text_ending(text).kind == "complete"


class TestLoops:
    @pytest.mark.parametrize(
        "text",
        [
            BODY + "The lungs are clear. " * 12,
            BODY + "The lungs are clear. " * 12 + "The lungs ar",
            "and the left and the right " * 10,
            "no " * 60,
            "!" * 60,
            "".join(f"{n}. The lungs are clear.\n" for n in range(1, 40)),
            "A. The heart is big. The lung is wet. " * 8,
            " ".join(FEW[letter] for letter in "abcbacabbcacbabcacb"),
        ],
    )
    def test_a_loop_at_the_end(self, text: str) -> None:
        found = text_ending(text)
        assert found.kind == "repetition"
        assert "repeated" in found.reason

    @pytest.mark.parametrize(
        "text",
        [
            "The lungs are clear. " * 12 + "In conclusion there is no acute disease of the chest.",
            "The lungs are clear. " * 2,
            "\n".join(f"Rib {n}: intact" for n in range(1, 13)),
            "Findings\n" + "-" * 80,
            "| a | b |\n|---|---|\n" + "| clear | clear |\n" * 3,
            "No. No. No.",
        ],
    )
    def test_no_loop(self, text: str) -> None:
        assert text_ending(text).kind == "complete"


@pytest.mark.parametrize(
    "text",
    [
        "I'm sorry, but I can't help with medical images.",
        "I cannot provide a diagnosis from this image. Please consult a doctor.",
        "As an AI language model, I am not able to interpret medical images.",
        "The response was filtered due to the content management policy.",
        "I’m sorry, but I can’t read this scan.",
        "I’M UNABLE TO ANALYSE IMAGES.",
        "This request goes against our usage guidelines",
        "Your prompt was withheld",
        "I'm sorry but I cannot",
        "[BLOCKED]",
        "Safety",
    ],
)
def test_a_refusal_is_blocked(text: str) -> None:
    assert text_ending(text).kind == "blocked"


@given(
    st.from_regex(re.compile(refusal._MAYBE.pattern, re.ASCII), fullmatch=True).filter(str.isascii)
)
def test_no_refusal_is_passed_over_by_the_quick_look(words: str) -> None:
    assert any(hint in words for hint in refusal._HINTS)


@pytest.mark.parametrize(
    "text",
    [
        "I cannot see a pneumothorax. The lungs are clear.",
        "I cannot exclude a small effusion.",
        "I am unable to identify the tip of the tube.",
        "I can't give a diagnosis from one film, but there is a right effusion.",
    ],
)
def test_a_cautious_reading_is_no_refusal(text: str) -> None:
    assert text_ending(text).kind == "complete"


@pytest.mark.parametrize("text", [None, "", " \n\t", "...", "<eos>", "<think>Hm.</think>", "***"])
def test_nothing_to_read_is_empty(text: str | None) -> None:
    assert text_ending(text).kind == "empty"


def test_what_a_model_thinks_is_not_its_answer() -> None:
    assert text_ending("<think>Let me look at the").kind == "truncated_suspected"
    assert text_ending("<think>Let me look at the</think>\nNo effusion").kind == "complete"
    assert text_ending("There is a left pleural eff<|im_end|>").kind == "complete"


@pytest.mark.parametrize(
    "text",
    [
        "Pequeño derrame pleural izquierdo sin otras alteraciones de la pleura",
        "Kleiner Pleuraerguss links, Herz normal groß, kein Pneumothorax, Zwerchfell glatt in",
        "右胸水があります",
    ],
)
def test_the_last_word_is_not_judged_in_other_languages(text: str) -> None:
    assert text_ending(text).kind == "complete"


@given(st.text(max_size=300))
def test_any_text_has_an_ending(text: str) -> None:
    found = text_ending(text)
    assert 0 <= found.start <= found.end <= len(text)


@each_row(
    "unit",
    [
        *("a", " ", "(", "| ", '{"a":[', "<b ", "<think>", "**a", "```\n", "<|im_end|>"),
        *("I cannot ", "a-", "\x00\ufffd", "the heart is big "),
    ],
)
def test_the_work_grows_with_the_length(unit: str) -> None:
    texts = [unit * (length // len(unit)) for length in (1_000, 100_000, 1_000_000)]
    assert growth(text_ending, *texts) < 40, "ten times as long"
