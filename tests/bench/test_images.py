"""The bench of the imaging, on a film that takes no time."""

import numpy as np
import pytest
from pydicom import uid

from bench import images
from bench.made_set.studies import film
from rexview.imaging import read_image, render_display


def test_every_format_is_read_beside_its_alternative():
    measured = images.run(side=96, rounds=1)
    read = {row.what: row.name for row in measured.rows if row.what.startswith("read, ")}
    assert list(read.values()) == ["pydicom"] * 4 + ["Pillow"] * 2
    for row in measured.rows:
        assert row.unit == "ms"
        assert row.ours > 0
        assert row.alternative > 0
    goals = [row for row in measured.rows if row.goal]
    assert {row.goal for row in goals} == {"ratio <= 1"}
    assert all(row.met is (row.ratio <= 1) for row in goals)


def test_pydicoms_way_gives_the_same_picture(tmp_path):
    pixels = film(96, 64, seed=1)
    assert pixels.shape == (64, 96)
    ds = images.write_film(pixels, tmp_path / "film.dcm", uid.ExplicitVRLittleEndian)
    ours = render_display(read_image(tmp_path / "film.dcm"), "file").astype(int)
    theirs = images._float_path(pixels, ds).astype(int)
    assert np.abs(ours - theirs).max() <= 1


@pytest.mark.parametrize("seed", [0, 7])
def test_films_differ_by_seed_and_come_out_the_same(seed):
    assert np.array_equal(film(80, 100, seed), film(80, 100, seed))
    assert not np.array_equal(film(80, 100, seed), film(80, 100, seed + 1))
    assert film(80, 100, seed).max() <= 4095
