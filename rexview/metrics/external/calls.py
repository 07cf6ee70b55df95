"""Call the packages of other authors.

Written for radeval 2.2.1, radgraph 0.1.18, RaTEScore 0.6.0 and crimson-score 0.2.0. Each function
loads a package and returns a function that scores pairs. For each name of a metric it returns one
value per pair, None if the package gave none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any

from rexview.metrics.reference_pairs import ReportPair

Scores = Mapping[str, Sequence[float | None]]
RADGRAPH_LEVELS = ("radgraph_simple", "radgraph_partial", "radgraph_complete")
Scorer = Callable[[Sequence[ReportPair]], Scores]


def _texts(pairs: Sequence[ReportPair]) -> tuple[list[str], list[str]]:
    return [pair.reference for pair in pairs], [pair.candidate for pair in pairs]


def radeval(name: str, keys: Mapping[str, str]) -> Callable[[], Scorer]:
    """Return a function that loads one metric of radeval; ``keys`` maps its names to ours.

    The metric is computed per sample, because only these are values of a report. The aggregates
    cover all reports together, and that of RadCliQ is the reciprocal of the mean.
    """

    def load() -> Scorer:
        evaluator = import_module("radeval").RadEval(
            metrics=[name], per_sample=True, show_progress=False
        )

        def score(pairs: Sequence[ReportPair]) -> Scores:
            references, candidates = _texts(pairs)
            found = evaluator(refs=references, hyps=candidates)
            return {ours: found[theirs] for theirs, ours in keys.items()}

        return score

    return load


def sembscore() -> Scorer:
    """Load the cosine of CheXbert embeddings, which radeval has only inside RadCliQ."""
    similarities = import_module("radeval.metrics.RadCliQv1.semb_score").semantic_embedding_scores
    device = "cuda" if import_module("torch").cuda.is_available() else "cpu"

    def score(pairs: Sequence[ReportPair]) -> Scores:
        references, candidates = _texts(pairs)
        found = similarities(references, candidates, device=device)
        return {"sembscore": [float(one) for one in found]}

    return score


def radgraph_xl() -> Scorer:
    """Load F1-RadGraph with the XL model and its three levels; the partial one is RG_ER."""
    scorer = import_module("radgraph").F1RadGraph(reward_level="all", model_type="radgraph-xl")

    def score(pairs: Sequence[ReportPair]) -> Scores:
        references, candidates = _texts(pairs)
        _, levels, _, _ = scorer(refs=references, hyps=candidates)
        return dict(zip(RADGRAPH_LEVELS, levels, strict=True))

    return score


def ratescore() -> Scorer:
    """Load RaTEScore with its own models, on a graphics card if there is one."""
    graphics = bool(import_module("torch").cuda.is_available())
    scorer = import_module("RaTEScore").RaTEScore(use_gpu=graphics)

    def score(pairs: Sequence[ReportPair]) -> Scores:
        references, candidates = _texts(pairs)
        return {"ratescore": scorer.compute_score(candidates, references)}

    return score


def crimson() -> Scorer:
    """Load CRIMSON's own model on this machine; it receives age and indication if known."""
    scorer = import_module("CRIMSON").CRIMSONScore(api="hf")

    def score(pairs: Sequence[ReportPair]) -> Scores:
        references, candidates = _texts(pairs)
        found = scorer.evaluate_batch(
            reference_findings_list=references,
            predicted_findings_list=candidates,
            patient_contexts=[_context(pair) for pair in pairs],
        )
        return {"crimson": [one and one["crimson_score"] for one in found]}

    return score


def _context(pair: ReportPair) -> dict[str, Any] | None:
    context = pair.case.context
    known = {"Age": context.age, "Indication": context.indication}
    return {name: value for name, value in known.items() if value} or None
