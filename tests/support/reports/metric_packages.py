"""Stand-ins for the packages that compute metrics, with the calls that the real ones take.

Written after the sources of radeval 2.2.1, radgraph 0.1.18, RaTEScore 0.6.0 and crimson-score
0.2.0: names, arguments and shapes of what they return are theirs, the numbers are made up from the
texts. None of them has weights, and none asks a network.
"""

import importlib
import sys
from contextlib import contextmanager

RADEVAL = """
class RadEval:
    def __init__(self, metrics=None, openai_api_key=None, gemini_api_key=None, per_sample=False,
                 detailed=False, show_progress=True, cache_dir=None):
        import os
        self.metrics, self.per_sample = list(metrics), per_sample
        assert os.environ["HF_HUB_OFFLINE"] in ("0", "1")
        open("left-behind.txt", "w").close()

    def __call__(self, refs, hyps):
        if not (isinstance(hyps, list) and isinstance(refs, list)):
            raise TypeError("hyps and refs must be of type list")
        if len(hyps) != len(refs):
            raise ValueError("hyps and refs lists don't have the same size")
        print("Loading weights")
        n = float(len(refs))
        each = {
            "bertscore": {"bertscore": [len(h) / len(r) for r, h in zip(refs, hyps)]},
            "radcliq": {"radcliq_v1": [n + len(r) - len(h) for r, h in zip(refs, hyps)]},
            "rouge": {key: [k] * len(refs) for k, key in enumerate(("rouge1", "rouge2", "rougeL"))},
            "green": {"green": [float("nan")] + [0.5] * (len(refs) - 1)},
            "f1chexbert": {"f1chexbert_sample_acc_5": [1.0], "f1chexbert_sample_acc_all": [1.0]},
            "srrbert": {"srrbert_weighted_f1": [0.5] * len(refs)},
        }
        [name] = self.metrics
        if name == "radgraph_radcliq":
            raise OSError("We couldn't connect to 'https://huggingface.co' to load the files")
        if self.per_sample:
            return each[name]
        return {key: sum(values) / len(values) for key, values in each[name].items()}
"""
SEMBSCORE = """
import numpy as np

def semantic_embedding_scores(refs, hyps, *, device="cpu"):
    assert device in ("cpu", "cuda")
    return np.array([-0.25 if "left" in hyp else 0.75 for hyp in hyps])
"""
RADGRAPH = """
class F1RadGraph:
    def __init__(self, reward_level, model_type=None, **kwargs):
        assert reward_level in ["simple", "partial", "complete", "all"]
        self.reward_level, self.model_type = reward_level, model_type

    def __call__(self, refs, hyps):
        assert self.reward_level == "all"
        levels = tuple([k / 4 + 0.01 * len(refs)] * len(refs) for k in (3, 2, 1))
        means = tuple(level[0] for level in levels)
        return means, levels, [{}] * len(refs), [{}] * len(refs)
"""
RATESCORE = """
class RaTEScore:
    def __init__(self, bert_model="Angelakeke/RaTE-NER-Deberta",
                 eval_model="FremyCompany/BioLORD-2023-C", batch_size=1, use_gpu=True,
                 visualization_path=None, affinity_matrix="long"):
        if use_gpu:
            raise RuntimeError("Found no NVIDIA driver on your system.")

    def compute_score(self, candidate_list, reference_list):
        if not isinstance(candidate_list, list):
            raise ValueError("candidate must be a list")
        return [0.1 if "left" in text else 0.9 for text in candidate_list]
"""
CRIMSON = """
class CRIMSONScore:
    def __init__(self, api="hf", model_name=None, device=None):
        assert api in ("hf", "huggingface", "openai", "vllm")

    def evaluate_batch(self, reference_findings_list, predicted_findings_list,
                       patient_contexts=None, include_guidelines=True, batch_size=1):
        assert len(patient_contexts) == len(predicted_findings_list)
        scores = [-0.5 if context else 1.0 for context in patient_contexts]
        return [{"crimson_score": scores[0]}, *[None] * (len(scores) - 1)]
"""
TORCH = """
class cuda:
    @staticmethod
    def is_available():
        return False
"""
FILES = {
    "radeval/__init__.py": RADEVAL,
    "radeval/metrics/__init__.py": "",
    "radeval/metrics/RadCliQv1/__init__.py": "",
    "radeval/metrics/RadCliQv1/semb_score.py": SEMBSCORE,
    "radgraph/__init__.py": RADGRAPH,
    "RaTEScore/__init__.py": RATESCORE,
    "CRIMSON/__init__.py": CRIMSON,
    "torch/__init__.py": TORCH,
}
VERSIONS = {
    "radeval": "2.2.1",
    "radgraph": "0.1.18",
    "RaTEScore": "0.6.0",
    "crimson_score": "0.2.0",
}


def write_packages(folder):
    """Write all of them, as they are installed, into a folder that goes on the path."""
    for name, text in FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    for name, version in VERSIONS.items():
        about = folder / f"{name}-{version}.dist-info" / "METADATA"
        about.parent.mkdir()
        about.write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    return folder


@contextmanager
def standing_in(folder):
    """Let these packages be found before all that is installed, and nothing of them afterwards."""
    names = {path.name for path in folder.iterdir()}
    before = _taken_out(names)
    sys.path.insert(0, str(folder))
    importlib.invalidate_caches()
    try:
        yield folder
    finally:
        sys.path.remove(str(folder))
        _taken_out(names)
        sys.modules.update(before)
        importlib.invalidate_caches()


def _taken_out(names):
    loaded = [name for name in sys.modules if name.partition(".")[0] in names]
    return {name: sys.modules.pop(name) for name in loaded}
