"""Findings, sides and status read from text, each rule both ways."""

from __future__ import annotations

import gc
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.rows import each_row

from rexview.text.findings import Mention, find_mentions, finding_info
from rexview.text.findings.lexicon import lexicon
from rexview.text.findings.mention_finder import LONGEST


def read(text: str, finding: str = "pleural_effusion") -> list[tuple[str | None, str]]:
    """Sides and status of one finding's mentions, without what the text takes back."""
    return [
        (mention.side, mention.status)
        for mention in find_mentions(text)
        if mention.finding == finding and not mention.superseded
    ]


def said(text: str, finding: str = "pleural_effusion") -> set[str | None]:
    """The sides on which a text says that the finding is."""
    return {side for side, status in read(text, finding) if status in ("positive", "uncertain")}


class TestWords:
    @each_row(
        ("text", "finding", "side", "zone"),
        [
            ("Right-sided pleural effusion.", "pleural_effusion", "right", None),
            ("RLL pneumonia", "pneumonia", "right", "RLL"),
            ("Lingular consolidation", "consolidation", "left", "lingula"),
            ("Collapse of the middle lobe", "atelectasis", "right", "RML"),
            ("left lower lobe opacity", "opacity", "left", "LLL"),
            ("Blunting of the left costophrenic angle", "pleural_effusion", "left", "costophrenic"),
            ("The right hemidiaphragm is raised", "hemidiaphragm_elevation", "right", None),
            ("The heart is large, the aortic arch calcified", "aortic_change", None, None),
            ("Calcium in the aortic arch", "aortic_change", None, None),
            ("Fracture of the left clavicle", "clavicle_fracture", "left", None),
            ("Fractures of several right ribs", "rib_fracture", "right", None),
            ("R PTX", "pneumothorax", "right", None),
            ("small l apical ptx", "pneumothorax", "left", "apex"),
            ("Bilateral pulmonary oedema", "edema", "bilateral", None),
            ("The cardiac silhouette is mildly enlarged", "cardiomegaly", None, None),
            ("Widened upper mediastinal contours", "mediastinal_widening", None, "upper"),
            ("Bibasilar atelectasis", "atelectasis", "bilateral", "base"),
            ("left haemothorax", "pleural_effusion", "left", None),
            ("left hemothorax", "pleural_effusion", "left", None),
            ("Right chest tube", "chest_tube", "right", None),
            ("SMALL LEFT APICAL PNEUMOTHORAX", "pneumothorax", "left", "apex"),
            ("left_pleural_effusion", "pleural_effusion", "left", None),
        ],
    )
    def test_a_phrase_gives_finding_side_and_zone(
        self, text: str, finding: str, side: str, zone: str | None
    ) -> None:
        mentions = [mention for mention in find_mentions(text) if mention.finding == finding]
        assert [(mention.side, mention.zone) for mention in mentions] == [(side, zone)]

    def test_offsets_point_at_the_words(self) -> None:
        text = "Heart normal. **Left** pleural effusion."
        (mention,) = find_mentions(text)
        assert text[mention.start : mention.end] == "pleural effusion"
        assert text[mention.side_start : mention.side_end] == "Left"
        assert text[slice(*mention.sentence)].strip("*. ") == "Left** pleural effusion"

    def test_every_entry_of_the_lexicon_is_found_by_its_own_name(self) -> None:
        for finding, info in lexicon().findings.items():
            assert finding in {m.finding for m in find_mentions(f"There is {info.name}.")}

    def test_an_unknown_id_is_an_error(self) -> None:
        with pytest.raises(KeyError):
            finding_info("no such finding")


class TestStatus:
    @each_row(
        "text",
        [
            "No left effusion.",
            "There is no evidence of left pleural effusion.",
            "No pneumothorax, consolidation, or left effusion.",
            "The left effusion has resolved.",
            "The left effusion is no longer seen.",
            "A left effusion is absent.",
            "It would be wrong to diagnose a left effusion.",
            "A left effusion has been ruled out.",
            "Left effusion: none",
            "**Effusion:** none under the left lung",
            "Neither pneumothorax nor left effusion is present.",
            "The lungs don't show a left effusion.",
            "Resolution of the left effusion.",
            "A left effusion is unlikely.",
        ],
    )
    def test_negated(self, text: str) -> None:
        assert [status for _, status in read(text)] == ["negated"]

    @each_row(
        "text",
        [
            "No change in the left effusion.",
            "Not only a left effusion but also cardiomegaly.",
            "The left effusion has not resolved.",
            "Left effusion without pneumothorax.",
            "Left effusion, no pneumothorax.",
            "No pneumothorax, but a left effusion.",
            "No pneumothorax. Left effusion.",
            "No pneumothorax and small left effusion.",
            "There is no doubt about the left effusion.",
            "The left effusion cannot be overlooked.",
            "There is no denying a left effusion.",
            "No pneumothorax is seen and the left effusion is unchanged.",
            "The previously seen left effusion persists.",
            "Compared with the prior study, the left effusion is larger.",
            "SMALL LEFT EFFUSION NO PNEUMOTHORAX",
        ],
    )
    def test_what_looks_like_negation_or_prior_and_is_not(self, text: str) -> None:
        assert read(text) == [("left", "positive")]

    @pytest.mark.parametrize(
        ("text", "status"),
        [
            ("If there were a left effusion, we would drain it.", "hypothetical"),
            ("Ultrasound to exclude a left effusion.", "hypothetical"),
            ("Is there a left effusion?", "hypothetical"),
            ("Should a left effusion develop, drain it.", "hypothetical"),
            ("You asked whether there is a left effusion.", "hypothetical"),
            ("Indication: left effusion?", "hypothetical"),
            ("Possible left effusion.", "uncertain"),
            ("A left effusion cannot be excluded.", "uncertain"),
            ("?left effusion", "uncertain"),
            ("On the prior study there was a left effusion.", "prior"),
            ("Previously seen left effusion.", "prior"),
        ],
    )
    def test_not_plainly_there(self, text: str, status: str) -> None:
        assert [status for _, status in read(text)] == [status]


class TestSides:
    @pytest.mark.parametrize(
        ("text", "effusion", "consolidation"),
        [
            ("Right effusion and left consolidation.", "right", "left"),
            ("Effusion on the right and consolidation on the left.", "right", "left"),
            ("The right base has an effusion; the left lung shows consolidation.", "right", "left"),
            ("Consolidation in the left lower lobe and a right effusion.", "right", "left"),
            ("Right effusion and consolidation.", "right", "right"),
            ("Effusion and consolidation on the right.", "right", "right"),
            ("On the right, there is an effusion with consolidation.", "right", "right"),
            ("Left lung: consolidation. Right lung: effusion.", "right", "left"),
            ("Consolidation in the left base. The right side is clear. Effusion.", None, "left"),
        ],
    )
    def test_each_finding_has_its_own(
        self, text: str, effusion: str | None, consolidation: str
    ) -> None:
        assert said(text) == {effusion}
        assert said(text, "consolidation") == {consolidation}

    @pytest.mark.parametrize(
        ("text", "sides"),
        [
            ("Left lower and right upper lobe consolidation.", {"left", "right"}),
            ("Consolidation in the right and left bases.", {"left", "right"}),
            ("Consolidation, right greater than left.", {"bilateral"}),
            ("Bilateral consolidation, worse on the left.", {"bilateral"}),
            ("Consolidation on the right, not the left.", {"right"}),
            ("Consolidation of the left rather than the right lung.", {"left"}),
            ("R>L consolidation", {"bilateral"}),
        ],
    )
    def test_several(self, text: str, sides: set[str]) -> None:
        assert said(text, "consolidation") == sides

    @pytest.mark.parametrize(
        "text",
        [
            "Effusion. The heart is rotated to the left.",
            "Effusion obscuring the left heart border.",
            "Effusion on the left lateral view.",
            "The left lung is clear; there is an effusion.",
            "Effusion, with the left ventricle enlarged.",
        ],
    )
    def test_a_side_of_something_else_is_not_the_finding_s(self, text: str) -> None:
        assert said(text) == {None}

    @pytest.mark.parametrize(
        ("text", "side"),
        [
            ("Effusion on the left side of the image.", "right"),
            ("Effusion on image right.", "left"),
            ("Effusion on the left side of the chest.", "left"),
            ("Effusion on the left side of the image, i.e. the patient's right.", "right"),
        ],
    )
    def test_the_picture_s_side_is_the_patient_s_other(self, text: str, side: str) -> None:
        assert said(text) == {side}

    @pytest.mark.parametrize(
        ("text", "side"),
        [
            ("Right IJ central venous catheter with tip in the left atrium.", "right"),
            ("PICC from the left arm, its tip on the right.", "left"),
            ("Left subclavian line crossing to the right.", "left"),
        ],
    )
    def test_a_device_is_where_it_enters(self, text: str, side: str) -> None:
        found = {m.side for m in find_mentions(text) if m.finding in ("central_line", "picc")}
        assert found == {side}

    def test_the_way_of_a_shift_is_its_side(self) -> None:
        assert said("Mediastinal shift to the left.", "mediastinal_shift") == {"left"}
        text = "Right effusion shifting the mediastinum to the left."
        assert said(text) == {"right"}
        assert said(text, "mediastinal_shift") == {"left"}


class TestBetweenSentences:
    @each_row(
        "text",
        [
            "There is an effusion. It is on the left.",
            "Effusion is present. Side: left.",
            "Effusion. Left-sided.",
            "Side: left\nFinding: effusion",
            "### Left lung\n- small effusion\n- no pneumothorax\n### Right lung\n- clear",
            "**Left:** effusion\n**Right:** clear",
            "An effusion is seen. The affected side is the left.",
            "Is there an effusion? Yes, on the left.",
            "**Is there a left effusion?** Yes.",
            "Opacity at the left base. This represents an effusion.",
            "| Finding | Side |\n|---|---|\n| Effusion | Left |",
            "| Finding | Right | Left |\n|---|---|---|\n| Effusion | no | yes |",
            "| Side | Effusion |\n|---|---|\n| Left | present |\n| Right | absent |",
            '{"finding": "effusion", "side": "left"}',
            '{"pleural_effusion": {"present": true, "laterality": "left"}}',
            '{"left_lung": {"effusion": true}, "right_lung": {"effusion": false}}',
            '```json\n{"findings": ["left effusion"], "negatives": ["right effusion"]}\n```',
            '{"pleural_effusion": "left", "unclosed": ["',
        ],
    )
    def test_a_side_told_elsewhere(self, text: str) -> None:
        assert said(text) == {"left"}

    @pytest.mark.parametrize(
        "text",
        [
            "Effusion. The left lung is clear.",
            "Effusion.\n\n### Left lung\n- clear",
            "Effusion.\n\n**Left pleural space.** No pneumothorax.",
            "| Finding | Side |\n|---|---|\n| Effusion | |\n| Nodule | left |",
            '[{"finding": "effusion"}, {"finding": "nodule", "side": "left"}]',
        ],
    )
    def test_a_side_told_of_something_else(self, text: str) -> None:
        assert said(text) == {None}

    @pytest.mark.parametrize(
        "text",
        [
            "Right effusion. Correction: left effusion.",
            "Right effusion... no, sorry, left effusion.",
            "I first thought the effusion was on the right, but on closer inspection it is left.",
            "Effusion on the right. Actually, that should read left.",
            "<think>Right effusion?  A right effusion.</think>Left effusion.",
        ],
    )
    def test_the_last_statement_counts(self, text: str) -> None:
        assert said(text) == {"left"}

    def test_a_further_finding_is_no_correction(self) -> None:
        assert said("Right effusion. On review, there is also a left effusion.") == {
            "right",
            "left",
        }

    @pytest.mark.parametrize(
        "text",
        [
            "Small right\neffusion and a calm\nleft lung",
            "no pneumothorax\nright effusion\nleft lung clear",
            "Right effusion No pneumothorax Left lung clear",
            "1. Right effusion\n2. Left lung clear",
        ],
    )
    def test_lines_and_missing_stops(self, text: str) -> None:
        assert read(text) == [("right", "positive")]


class TestAnyText:
    @pytest.mark.parametrize(
        "text", [None, "", "   ", "\x00\x01\xff", "左側胸水", "Épanchement pleural", "{" * 3000]
    )
    def test_nothing_is_nothing(self, text: str | None) -> None:
        assert find_mentions(text) == ()

    @given(
        st.lists(
            st.sampled_from(
                ["left", "Right", "effusion", "no", "|", "\n", "\n\n", '"', "{", "}", ":", ",", ".",
                 "if", "the", "is", "correction", "- ", "**", "##", "fracture", "rib", "R", "?",
                 "previously", "in", "and", "image", "é", "\t", "[", "]", "1.", "yes", "tip"]
            ),
            max_size=60,
        ),
        st.sampled_from([" ", ""]),
    )  # fmt: skip
    def test_any_text_is_read_and_offsets_hold(self, parts: list[str], glue: str) -> None:
        text = glue.join(parts)
        for mention in find_mentions(text):
            assert isinstance(mention, Mention)
            assert 0 <= mention.start < mention.end <= len(text)
            assert (mention.side is None) == (mention.side_start is None)
            if mention.side_start is not None and mention.side_end is not None:
                assert 0 <= mention.side_start < mention.side_end <= len(text)
            assert 0 <= mention.sentence[0] <= mention.sentence[1] <= len(text)

    @given(st.text(max_size=200))
    def test_any_characters(self, text: str) -> None:
        find_mentions(text)

    @pytest.mark.parametrize(
        "unit",
        ["left ", "| left ", '{"effusion": [(', "LEFT PNEUMOTHORAX AND RIGHT ", "no ", "\n", "[ ",
         "left effusion, no, right effusion, sorry, ", '"', "1. ", "a"],
    )  # fmt: skip
    def test_ten_times_the_text_takes_about_ten_times_as_long(self, unit: str) -> None:
        """With a step for each pair of words it would take a hundred times as long."""

        def seconds(size: int) -> float:
            text = (unit * (size // len(unit) + 1))[:size]
            start = time.thread_time()
            find_mentions(text)
            return time.thread_time() - start

        def ratio() -> float:
            return seconds(100_000) / max(seconds(10_000), 0.005)

        seconds(2_000)
        gc.collect()
        gc.disable()  # else what other tests left behind is counted through in the longer one
        try:
            assert min(ratio() for _ in range(2)) < 40
        finally:
            gc.enable()


class TestVeryLongTexts:
    """Of a text beyond the bound so much is read, and nothing is said of the rest."""

    def test_nothing_is_read_beyond_the_bound(self) -> None:
        text = "Left effusion. " + "Heart size is normal. " * 6_000 + "Right pneumothorax."
        assert len(text) > LONGEST
        mentions = find_mentions(text)
        assert [(m.finding, m.side) for m in mentions] == [("pleural_effusion", "left")]

    def test_no_sentence_is_cut_in_two(self) -> None:
        filler = "Heart size is normal. "
        start = filler * (LONGEST // len(filler) - 1)
        start += "x" * (LONGEST - len(start) - 20) + ". "
        text = start + "A left effusion is not seen. " + filler * 10
        assert text[len(start) : LONGEST] == "A left effusion is"
        assert find_mentions(text) == ()

    def test_the_answer_behind_long_thoughts_is_read(self) -> None:
        thoughts = "Perhaps a left effusion. " * 5_000 + "</think>"
        text = thoughts + " Right effusion."
        (mention,) = find_mentions(text)
        assert (mention.side, text[mention.start : mention.end]) == ("right", "effusion")


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("Right effusion. It has resolved.", [("right", "prior")]),
        ("Right effusion. This has since completely cleared.", [("right", "prior")]),
        ("Right effusion. It has not resolved.", [("right", "positive")]),
        ("Right effusion. It has partially cleared.", [("right", "positive")]),
        ("Right effusion. The lungs have cleared.", [("right", "positive")]),
        ("As displayed, the effusion is on the right.", [("left", "positive")]),
        (
            "As displayed, the effusion is on the right; anatomically it is on the left.",
            [("left", "positive")],
        ),
        ("As described, the effusion is on the right.", [("right", "positive")]),
        ("An effusion is present. The left base is where it lies.", [("left", "positive")]),
        ('{"obs": "effusion", "loc": ["left", "base"]}', [("left", "positive")]),
        ('{"obs": "effusion", "loc": "left base"}', [("left", "positive")]),
    ],
)
def test_what_other_words_say_of_a_finding(text: str, read: list[tuple[str, str]]) -> None:
    assert [(mention.side, mention.status) for mention in find_mentions(text)] == read
