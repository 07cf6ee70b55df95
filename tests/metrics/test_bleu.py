"""BLEU-2, held against fast-bleu 0.0.90 as ReXrank's script calls it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.rows import each_row

from rexview.metrics.answer_metrics import bleu_2

# fast_bleu.BLEU([reference], {"bigram": (1/2, 1/2)}).get_score([candidate]), both prepared as
# prep_reports of CXR-Report-Metric's run_eval.py does it; invented texts
OF_FAST_BLEU = [
    ("The lungs are clear.", "Lungs are clear.", 0.7788007830714049),
    ("The lungs are clear. No effusion.", "The lungs are clear. No effusion.", 1.0),
    ("No acute cardiopulmonary process.", "Large right pneumothorax", 0.0),
    (
        "Heart size is normal. Lungs are clear.",
        "The heart is normal in size. The lungs are clear bilaterally. There is no effusion.",
        0.2970442628930023,
    ),
    ("Clear.", "CLEAR", 0.11633369384516794),
    ("Small left pleural effusion, unchanged.", "effusion", 0.0),
    ("A 3.2 cm mass is seen.", "a 3.2 cm nodule is seen.", 0.7905694150420948),
    ("the the the the", "the the", 0.36787944117144233),
    ("no no no", "no no no no no no no", 0.37796447300922725),
    ("Normal heart.\nNormal lungs.", "Normal heart. Normal lungs.", 0.5163977794943222),
    ("Right  effusion .", "right effusion.", 1.0),
    ("x", "left", 0.0),
    ("Left lung effusion right", "effusion lung left", 0.16022127184500068),
]


@each_row(("reference", "candidate", "value"), OF_FAST_BLEU)
def test_values_of_fast_bleu(reference, candidate, value):
    assert bleu_2(reference, candidate) == pytest.approx(value, abs=1e-12)


def test_by_hand():
    # 5 of 7 words and 3 of 6 pairs of the candidate are in the reference, and it is not shorter
    reference, candidate = "a b c d e x", "a b c q d e r"
    assert bleu_2(reference, candidate) == pytest.approx((5 / 7 * 3 / 6) ** 0.5)
    # nothing of the second order counts as a tenth of a match; 2 words where the reference has 3
    assert bleu_2("a b c", "c a") == pytest.approx(2.718281828459045**-0.5 * (1 * 0.1 / 1) ** 0.5)


@pytest.mark.parametrize(("reference", "candidate"), [("", ""), ("a", ""), ("", "a"), (" ", ".")])
def test_nothing_in_common_is_0(reference, candidate):
    assert bleu_2(reference, candidate) == 0


@given(st.text(max_size=60), st.text(max_size=60))
def test_it_is_a_share(reference, candidate):
    assert 0 <= bleu_2(reference, candidate) <= 1
