"""Program that runs medspaCy on given sentences and times it on demand.

``bench detectors`` runs it, perhaps with the Python of another environment, since medspaCy and
rexview may need different versions. It imports nothing of rexview. The first line of its input is a
JSON object with ``terms`` and ``sentences``; for each further line it reads all sentences once.
"""

from __future__ import annotations

import json
import sys
import time
from importlib import import_module


def main() -> None:
    """Answer each line with a line of JSON: first the version, then seconds."""
    given = json.loads(sys.stdin.readline())
    medspacy, spacy = import_module("medspacy"), import_module("spacy")
    rule = import_module("medspacy.target_matcher").TargetRule
    read = spacy.blank("en")
    read.add_pipe("sentencizer")
    read.add_pipe("medspacy_target_matcher").add([rule(term, "FINDING") for term in given["terms"]])
    read.add_pipe("medspacy_context")
    print(json.dumps(medspacy.__version__), flush=True)
    for _ in sys.stdin:
        start = time.process_time()
        for sentence in given["sentences"]:
            read(sentence)
        print(json.dumps(time.process_time() - start), flush=True)


if __name__ == "__main__":
    main()
