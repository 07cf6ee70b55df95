"""The border of the heart towards the lungs, on a phantom of boxes."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("scipy", reason="needs tools/demo/requirements.txt")

from tools.demo.body import mediastinum
from tools.demo.body.volume import HEART, LOBES, Volume

_LUNG, _BLOOD, _BELLY = -860, 45, 30
_HEART_LOW, _DOME = 60, 52
_FRONT, _SIDE = slice(60, 100), slice(40, 90)


def _chest() -> Volume:
    """A heart over a diaphragm, 10 mm of lung between them; deep lung behind both."""
    labels = np.full((120, 120, 160), LOBES["LLL"], np.uint8)
    hu = np.full(labels.shape, _LUNG, np.int16)
    labels[:_DOME, 50:] = 0
    hu[:_DOME, 50:] = _BELLY
    labels[_HEART_LOW:100, _FRONT, _SIDE] = HEART
    hu[_HEART_LOW:100, _FRONT, _SIDE] = _BLOOD
    return Volume(hu, labels)


def test_fat_takes_the_place_of_the_lung_under_the_heart() -> None:
    body = _chest()
    seated = mediastinum.seated_heart(body)
    wedge = np.s_[_DOME + 2 : _HEART_LOW - 2, 66:94, 46:84]
    assert body.hu[wedge].max() == _LUNG
    assert np.mean(seated.hu[wedge] > -300) > 0.9
    assert np.median(seated.hu[wedge]) == pytest.approx(-40, abs=10)
    assert np.array_equal(seated.labels, body.labels)


def test_fat_that_thins_out_lets_the_dome_be_seen_behind() -> None:
    body = _chest()
    thin, full = (mediastinum.seated_heart(body, thins_mm=mm).hu for mm in (20.0, 0.0))
    place = np.s_[_DOME + 2 : _HEART_LOW - 2, :, 50:80]
    thin, full = (hu[place].mean(axis=(0, 2)) for hu in (thin, full))
    assert thin[92] == pytest.approx(full[92], abs=40)
    assert thin[66] < full[66] - 300


def test_lung_beside_the_heart_and_deep_behind_it_stays() -> None:
    body = _chest()
    seated = mediastinum.seated_heart(body)
    assert np.array_equal(seated.hu[:, :, 150:], body.hu[:, :, 150:])
    assert np.array_equal(seated.hu[:_DOME, :15], body.hu[:_DOME, :15])
    above = _HEART_LOW + 20
    assert np.array_equal(seated.hu[above:], body.hu[above:])
    dense = body.hu > _LUNG
    assert np.array_equal(seated.hu[dense], body.hu[dense])


def test_steps_of_the_heart_are_smoothed_and_its_width_stays() -> None:
    body = _chest()
    for z in range(_HEART_LOW, 100, 4):  # slices, two thick, whose side steps by three voxels
        body.hu[z : z + 2, _FRONT, 87:90] = _LUNG

    def wide(volume: Volume) -> np.ndarray:
        return np.asarray((volume.hu[66:94, 80, 30:110].astype(float) - _LUNG).sum(axis=1) / 905)

    smooth = mediastinum.smooth_border(body)
    assert np.std(np.diff(wide(smooth))) < 0.4 * np.std(np.diff(wide(body)))
    assert wide(smooth).mean() == pytest.approx(wide(body).mean(), abs=0.5)
    assert np.array_equal(smooth.hu[:, :, :20], body.hu[:, :, :20])
    assert np.array_equal(smooth.labels, body.labels)
