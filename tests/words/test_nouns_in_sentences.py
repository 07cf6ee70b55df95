"""A counted noun is not put into a sentence: in languages with cases it would have the wrong one.

``tr("of {cases}").format(cases=counted(n, "case"))`` reads well in English only; ``trn("of {n:,}
case", "of {n:,} cases", n)`` is translated as a whole.
"""

import ast

from tools.words import sources

STILL = frozenset(
    (
        "Images and questions of {cases}",
        "Left out: {counted} without all four.",
        "Of {counted} scored by a model, {low:,} {value} a sum below {enough} and "
        "{risky:,} a risk flag; in the paper none had.",
        "For {unflagged:,} {noun} the model does not state whether it is a risk.",
        "Model scores of {counted}.",
        "Up to {counted} with an ungraded edit left out.",
        "agreement with readers: {name} {kappa:.2f}{limits}, {counted}",
        "compared with readers on {counted}: too few to tell",
        "no kappa with readers, {counted}: one side always gives the same opinion",
        "{answers} cannot be read",
        "{cases}; {studies} without a chosen question.",
        "{counted} corrected line by line",
        "{counted} merged: {entries:,} now in {address}.",
        "{counted} of two reports ({counted_2}) in {counted_3} by {counted_4}. "
        "Strength: Bradley and Terry's model, log odds; the sum is 0, a tie is half "
        "a win for each. {level:.0%} limits of strengths and places resample cases "
        "({comparison_resamples:,} resamples, percentiles).",
        "{counted} with the fewest cases not shown.",
        "{counted} without a value left out.",
        "{name}: {counted}; the number in a bubble counts {unit}. On the line both "
        "gave the same score; above it {short} scored higher.",
        "{opinions} on {answers}",
        "{reports} of {models}",
    )
)
"""Those that still do: taken off when they are mended, and none is added."""


def put_in():
    """Yield the sentences that a counted noun is put into."""
    for path in sources():
        if path.suffix != ".py":
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            match node:
                case ast.Call(
                    func=ast.Attribute(
                        attr="format",
                        value=ast.Call(func=ast.Name(id="tr"), args=[ast.Constant(value=text)]),
                    ),
                    keywords=given,
                ) if any(map(is_counted, given)):
                    yield text


def is_counted(keyword):
    value = keyword.value
    return (
        isinstance(value, ast.Call)
        and isinstance(value.func, ast.Name)
        and value.func.id in ("counted", "noun")
    )


def test_no_counted_noun_is_put_into_a_sentence():
    assert frozenset(put_in()) == STILL
