"""Describe the metrics of other packages: their names, requirements and availability."""

from __future__ import annotations

import contextlib
import importlib.metadata
import importlib.util
import math
import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from rexview.errors import MetricsError
from rexview.metrics.external import calls
from rexview.metrics.external.calls import Scorer
from rexview.metrics.identity import MetricId, known_metric
from rexview.metrics.kept_values import MetricValues
from rexview.metrics.reference_pairs import ReportPair

_OFFLINE: Final = ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE")
_LONGEST_REASON: Final = 300


@dataclass(frozen=True)
class Calculator:
    """A metric, or several together, that a package computes.

    Attributes
    ----------
    name : str
        Name by which it is requested.
    makes : tuple of str
        The metrics that it yields.
    package, distribution : str
        Module to import; distribution to install, which determines the version.
    load : callable
        Loads it, see :mod:`.calls`.
    weights : str
        Appended to the package's version, because other weights give other values.
    needs : str
        Further requirements, as text.
    together : bool
        True if a value depends on the other reports in the same computation.
    always_fetches : bool
        True if the package uses the network each time that it starts.
    """

    name: str
    makes: tuple[str, ...]
    package: str
    distribution: str
    load: Callable[[], Scorer]
    weights: str = ""
    needs: str = ""
    together: bool = False
    always_fetches: bool = False

    @property
    def version(self) -> str | None:
        """Version of the installed package, with the weights; None if unknown."""
        try:
            number = importlib.metadata.version(self.distribution)
        except importlib.metadata.PackageNotFoundError:
            return None
        return f"{number} {self.weights}".strip()

    @property
    def missing(self) -> str | None:
        """Instructions for the user if the package is missing; None if it is installed."""
        if importlib.util.find_spec(self.package) is not None:
            return None
        needs = f" It needs {self.needs}." if self.needs else ""
        return f"{self.name} is not available here: pip install {self.distribution}.{needs}"


def _radeval(
    name: str,
    keys: Mapping[str, str],
    weights: str = "",
    needs: str = "",
    *,
    asked_as: str = "",
    together: bool = False,
    always_fetches: bool = False,
) -> Calculator:
    load = calls.radeval(name, keys)
    makes = tuple(keys.values())
    known = (weights, needs, together, always_fetches)
    return Calculator(asked_as or name, makes, "radeval", "radeval", load, *known)


_CALCULATORS: Final = (
    _radeval("bleu", {"bleu": "bleu_4"}, asked_as="bleu_4"),
    _radeval("rouge", {"rouge1": "rouge_1", "rouge2": "rouge_2", "rougeL": "rouge_l"}),
    _radeval(
        "bertscore",
        {"bertscore": "bertscore"},
        "distilbert-base-uncased",
        "the weights of distilbert-base-uncased",
    ),
    _radeval(
        "radeval_bertscore",
        {"radeval_bertscore": "radeval_bertscore"},
        "RadEvalModernBERT",
        "the weights of RadEvalModernBERT",
    ),
    _radeval(
        "f1chexbert",
        {
            "f1chexbert_sample_acc_5": "chexbert_accuracy_5",
            "f1chexbert_sample_acc_all": "chexbert_accuracy",
        },
        "CheXbert",
        "CheXbert's weights and a graphics card",
    ),
    Calculator(
        *("sembscore", ("sembscore",), "radeval", "radeval", calls.sembscore),
        weights="CheXbert",
        needs="CheXbert's weights",
    ),
    Calculator(
        *("radgraph", calls.RADGRAPH_LEVELS, "radgraph", "radgraph", calls.radgraph_xl),
        weights="radgraph-xl",
        needs="the weights of radgraph-xl",
    ),
    _radeval(
        "radgraph_radcliq",
        {"radgraph_radcliq": "radgraph_f1"},
        "radgraph, mean of entities and relations",
        "the weights of radgraph",
    ),
    _radeval(
        "radcliq",
        {"radcliq_v1": "radcliq_v1"},
        "distilroberta-base, radgraph, CheXbert",
        "the weights of distilroberta-base, radgraph and CheXbert",
        together=True,  # the rarity of words is computed from all references
    ),
    Calculator(
        *("ratescore", ("ratescore",), "RaTEScore", "RaTEScore", calls.ratescore),
        weights="RaTE-NER-Deberta, BioLORD-2023-C",
        needs="the weights of RaTE-NER-Deberta and BioLORD-2023-C",
    ),
    _radeval(
        "green",
        {"green": "green"},
        "GREEN-radllama2-7b",
        "the weights of GREEN-radllama2-7b, 7 billion parameters, and a graphics card",
    ),
    Calculator(
        *("crimson", ("crimson",), "CRIMSON", "crimson-score", calls.crimson),
        weights="medgemma-4b-it-crimson, with age and indication",
        needs="the weights of medgemma-4b-it-crimson, 4 billion parameters",
    ),
    _radeval(
        "srrbert",
        {"srrbert_weighted_f1": "srr_bert"},
        "leaves_with_statuses",
        "the weights of SRR-BERT",
        always_fetches=True,
    ),
    _radeval(
        "temporal",
        {"temporal_f1": "temporal_f1"},
        "stanza radiology",
        "stanza's radiology models",
        always_fetches=True,
    ),
)
CALCULATORS: Final[dict[str, Calculator]] = {one.name: one for one in _CALCULATORS}
"""Calculators by name, in the order of display."""


def find_calculator(name: str) -> Calculator | None:
    """Return the calculator with a name, or the one that yields a metric of that name.

    >>> find_calculator("radcliq_v1").name, find_calculator("radgraph_f1").name
    ('radcliq', 'radgraph_radcliq')
    """
    if name in CALCULATORS:
        return CALCULATORS[name]
    return next((one for one in _CALCULATORS if name in one.makes), None)


@contextlib.contextmanager
def load_scorer(calculator: Calculator, *, download: bool) -> Iterator[Scorer]:
    """Load the computation of a metric, in a folder of its own, silent on standard output.

    Packages that fetch weights do so only with ``download``.

    Raises
    ------
    MetricsError
        If the package is not installed, lacks something it needs, or fails while it is in use.
    """
    if calculator.missing:
        raise MetricsError(calculator.missing)
    if calculator.always_fetches and not download:
        raise MetricsError(
            f"{calculator.name} fetches {calculator.needs} each time: allow it with --download."
        )
    before = {name: os.environ.get(name) for name in _OFFLINE}
    os.environ.update(dict.fromkeys(_OFFLINE, "0" if download else "1"))
    try:
        with (
            tempfile.TemporaryDirectory() as folder,  # some leave files in the working directory
            contextlib.chdir(folder),
            contextlib.redirect_stdout(sys.stderr),
        ):
            yield calculator.load()
    except MetricsError:
        raise
    except Exception as error:  # their code may raise anything
        line = " ".join(str(error).split()).rstrip(".")[:_LONGEST_REASON]
        said = f"{calculator.distribution} failed on {calculator.name}"
        raise MetricsError(
            f"{said} ({type(error).__name__}: {line}).{_remedy(calculator, error, download)}"
        ) from error
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def _remedy(calculator: Calculator, error: Exception, download: bool) -> str:
    """Return a sentence on what may help."""
    if isinstance(error, ImportError):
        return f" Install it with what it needs: pip install --upgrade {calculator.distribution}."
    if download or not calculator.needs:
        return ""
    return f" It needs {calculator.needs}: let it fetch what is not here with --download."


def compute_model_values(
    calculator: Calculator, scorer: Scorer, pairs: Sequence[ReportPair], scope: str
) -> list[MetricValues]:
    """Compute the metrics of one model's reports.

    Parameters
    ----------
    pairs
        Pairs of one model; values that depend on the other reports are computed with these.
    scope
        Scope under which the values are kept.

    Raises
    ------
    MetricsError
        If the package did not return one value per report.
    """
    found = []
    for metric, values in scorer(pairs).items():
        if len(values) != len(pairs):
            raise MetricsError(
                f"{calculator.distribution} gave {len(values):,} values of "
                f"{known_metric(metric).name} for {len(pairs):,} reports: nothing is kept."
            )
        identity = MetricId(metric, calculator.distribution, calculator.version, scope)
        numbered = tuple(
            (pair.case.id, pair.answer.model, float(value))
            for pair, value in zip(pairs, values, strict=True)
            if value is not None and math.isfinite(value)
        )
        n = len(pairs) if calculator.together else None
        found.append(MetricValues(identity, numbered, n, len(pairs) - len(numbered)))
    return found
