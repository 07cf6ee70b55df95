"""A part of the demonstration set made again from the CT and compared with what is committed."""

from __future__ import annotations

import numpy as np
import pytest
from support import ROOT

pytest.importorskip("nibabel", reason="needs tools/demo/requirements.txt")
pytest.importorskip("scipy", reason="needs tools/demo/requirements.txt")

from tools.demo import render, write
from tools.demo.body import source, volume
from tools.demo.contact_sheet import read_grey
from tools.demo.studies import read_studies

DEMO = ROOT / "assets/demo"
STUDY = "normal-woman"


def test_the_same_study_comes_out_again() -> None:
    work = source.work_folder()
    try:
        found = source.find(work)
    except source.SourceMissing as missing:
        pytest.skip(str(missing))
    study = read_studies()[STUDY]
    pictures = render.render(study, volume.prepare(found, work), work)
    truth = write.read_truth(DEMO)
    for shot in study.shots:
        again = pictures[shot.name]
        committed = read_grey(DEMO / "images" / f"{STUDY}-{shot.name}.jpg").astype(int)
        difference = np.abs((again.pixels >> 4).astype(int) - committed)
        assert difference.mean() < 2.0  # grey levels of 256; the committed one is a JPEG
        assert np.percentile(difference, 99) < 8
        known = truth[f"{STUDY}/{shot.name}"]
        for name, point in again.truth["points"].items():
            assert known["points"][name] == pytest.approx(point, abs=0.5)
        assert known["heart"]["ratio"] == pytest.approx(again.truth["heart"]["ratio"], abs=0.005)
