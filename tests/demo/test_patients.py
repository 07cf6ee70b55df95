"""Builds, devices and the notice of the demonstration set, on a phantom of boxes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("scipy", reason="needs tools/demo/requirements.txt")

from tools.demo.body import devices, implants, pathology, tissue, volume
from tools.demo.body.patient import Build, shape_patient
from tools.demo.body.volume import (
    AIR,
    AORTA,
    HEART,
    LEFT_LUNG,
    LIVER,
    LOBES,
    OESOPHAGUS,
    RIGHT_LUNG,
    SPACING_MM,
    STERNUM,
    STOMACH,
    SVC,
    TRACHEA,
    Volume,
)
from tools.demo.markers import annotate
from tools.demo.studies import read_studies

_DZ, _DY, _DX = SPACING_MM
_SPINE = 36
_DENSITY = {
    LOBES["RLL"]: -860, LOBES["RUL"]: -850, LOBES["LLL"]: -840, LOBES["LUL"]: -830, TRACHEA: -990,
    HEART: 45, AORTA: 48, SVC: 46, 59: 43, 60: 44, _SPINE: 400, STERNUM: 350, OESOPHAGUS: 30,
}  # fmt: skip
_MIDDLE = 128.0
_LEFT, _RIGHT = slice(128, None), slice(None, 128)


def _phantom() -> Volume:
    """A body of boxes: 250 x 200 x 180 mm, labels and CT numbers that tell them apart."""
    labels = np.zeros((200, 240, 256), np.uint8)
    hu = np.full(labels.shape, AIR, np.int16)
    hu[:, 30:200, 10:246] = 20

    def fill(label: int, z: slice, y: slice, x: slice) -> None:
        labels[z, y, x], hu[z, y, x] = label, _DENSITY[label]

    fill(LOBES["RLL"], slice(50, 110), slice(50, 180), slice(24, 104))
    fill(LOBES["RUL"], slice(110, 180), slice(50, 180), slice(24, 104))
    fill(LOBES["LLL"], slice(50, 110), slice(50, 180), slice(152, 232))
    fill(LOBES["LUL"], slice(110, 180), slice(50, 180), slice(152, 232))
    fill(_SPINE, slice(0, 200), slice(40, 76), slice(112, 144))
    fill(HEART, slice(50, 105), slice(110, 176), slice(110, 180))
    fill(STERNUM, slice(70, 170), slice(184, 194), slice(110, 146))
    fill(OESOPHAGUS, slice(40, 190), slice(80, 88), slice(130, 140))
    fill(SVC, slice(105, 150), slice(120, 132), slice(104, 116))
    fill(60, slice(150, 170), slice(120, 132), slice(98, 112))
    fill(59, slice(150, 164), slice(130, 140), slice(112, 190))
    fill(AORTA, slice(96, 150), slice(120, 150), slice(122, 151))
    fill(TRACHEA, slice(120, 190), slice(92, 108), slice(120, 136))
    for step in range(24):
        z = 119 - step
        fill(TRACHEA, slice(z, z + 1), slice(92, 104), slice(117 - step, 127 - step))
        fill(TRACHEA, slice(z, z + 1), slice(92, 104), slice(129 + step, 139 + step))
    return Volume(hu, labels)


@pytest.fixture(scope="module")
def body() -> Volume:
    return _phantom()


def _middle(volume: Volume, *labels: int) -> np.ndarray:
    return np.argwhere(volume.mask(*labels)).mean(axis=0)


def _dome(volume: Volume, ids: tuple[int, ...]) -> int:
    return int(np.flatnonzero(volume.mask(*ids).any(axis=(1, 2))).min())


# --- builds ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "build",
    [
        Build(scoliosis_mm=10, kyphosis_mm=10, shoulders_mm=6),
        Build(flat=0.4, hump_mm=8, apex_mm=8, heart=0.2, wide=0.92, tall=1.05, turn_deg=6),
    ],
)
def test_labels_follow_the_ct_numbers(body: Volume, build: Build) -> None:
    shaped = shape_patient(body, build)
    assert shaped.hu.shape == shaped.labels.shape
    for label in (LOBES["RUL"], LOBES["LLL"], HEART, TRACHEA, _SPINE):
        inside = shaped.hu[shaped.mask(label)]
        assert len(inside) > 500
        assert np.median(inside) == pytest.approx(_DENSITY[label], abs=5)


def test_scoliosis_bends_to_the_side_it_names(body: Volume) -> None:
    def spine(volume: Volume, z: int) -> float:
        return float(np.flatnonzero(volume.mask(_SPINE)[z].any(axis=0)).mean())

    right = shape_patient(body, Build(scoliosis_mm=10))
    left = shape_patient(body, Build(scoliosis_mm=-10))
    assert (spine(body, 120) - spine(right, 120)) * _DX == pytest.approx(10, abs=2.0)
    assert (spine(left, 120) - spine(body, 120)) * _DX == pytest.approx(10, abs=2.0)
    assert spine(right, 5) > spine(body, 5)  # and back again below


def test_a_flat_diaphragm_lies_lower_and_a_hump_is_on_the_right(body: Volume) -> None:
    low = shape_patient(body, Build(breath_right_mm=-10, breath_left_mm=-10))
    for ids in (RIGHT_LUNG, LEFT_LUNG):
        assert _dome(low, ids) < _dome(body, ids)
    hump = shape_patient(body, Build(hump_mm=12))
    lost = [
        int(body.mask(*ids).sum()) - int(hump.mask(*ids).sum()) for ids in (RIGHT_LUNG, LEFT_LUNG)
    ]
    assert lost[0] > 5 * abs(lost[1])


def test_deflated_domes_let_lung_in_and_leave_bone_and_heart_alone() -> None:
    body = _phantom()
    hu, labels = body.hu.copy(), body.labels.copy()
    z, y, x = np.indices(hu.shape)
    arch = 42 * np.clip(1 - ((x - 64) / 40) ** 2 - ((y - 115) / 65) ** 2, 0, 1)
    dome = np.isin(labels, RIGHT_LUNG) & (z < 50 + arch)
    labels[dome], hu[dome] = LIVER, 60
    rib = (slice(60, 66), slice(50, 180), slice(24, 30))
    labels[rib], hu[rib] = volume.RIBS[15], 700
    round_ = Volume(hu, labels)
    low = tissue.deflated_domes(round_, 0.7)
    top = [int(np.argwhere(b.mask(LIVER))[:, 0].max()) for b in (round_, low)]
    assert top[0] - top[1] > 20
    gained = low.mask(*RIGHT_LUNG) & ~round_.mask(*RIGHT_LUNG)
    assert gained.any()
    assert (round_.labels[gained] == LIVER).all()
    assert low.hu[gained].mean() < -600
    kept = round_.mask(volume.RIBS[15], HEART)
    assert np.array_equal(low.hu[kept], hu[kept])


def test_breasts_lie_on_the_skin_in_front_and_change_nothing_else(body: Volume) -> None:
    roomy = Volume(
        np.pad(body.hu, ((0, 0), (60, 60), (0, 0)), constant_values=AIR),
        np.pad(body.labels, ((0, 0), (60, 60), (0, 0))),
    )
    woman = tissue.breasts(roomy, 30.0)
    added = (woman.hu > -300) & (roomy.hu < -300)
    assert added.any()
    assert np.argwhere(added)[:, 1].min() >= 260  # the front of the body is at row 259
    assert np.argwhere(added)[:, 1].max() <= 260 + (30 * 1.06 + 5) / _DY
    both = np.argwhere(added)[:, 2]
    assert (both < _MIDDLE).mean() == pytest.approx(0.5, abs=0.12)
    assert np.array_equal(woman.hu[roomy.hu > -300], roomy.hu[roomy.hu > -300])
    assert np.array_equal(woman.labels, roomy.labels)


def test_breasts_that_hang_end_in_an_edge(body: Volume) -> None:
    def lower_edge(hang: float) -> float:
        roomy = Volume(
            np.pad(body.hu, ((0, 0), (70, 70), (0, 0)), constant_values=AIR),
            np.pad(body.labels, ((0, 0), (70, 70), (0, 0))),
        )
        woman = tissue.breasts(roomy, 40.0, hang)
        thick = ((woman.hu > -300) & (roomy.hu < -300)).sum(axis=1)[:, 200]
        return float(np.diff(thick[: int(np.argmax(thick))]).max())

    assert lower_edge(4.0) > 1.5 * lower_edge(1.0)


def test_breasts_lie_further_apart_and_higher_where_that_is_asked_for(body: Volume) -> None:
    roomy = Volume(
        np.pad(body.hu, ((0, 0), (0, 60), (0, 0)), constant_values=AIR),
        np.pad(body.labels, ((0, 0), (0, 60), (0, 0))),
    )

    def nipples(at_mm: tuple[float, float]) -> np.ndarray:
        added = tissue.breasts(roomy, 30.0, 1.5, at_mm).hu == 40
        return np.array([np.argwhere(added[:, :, half]).mean(axis=0) for half in (_LEFT, _RIGHT)])

    moved = (nipples((14.0, 10.0)) - nipples((0.0, 0.0))) * SPACING_MM
    assert moved[:, 0] == pytest.approx([10, 10], abs=2)
    assert moved[:, 2] == pytest.approx([14, -14], abs=2)


def test_breasts_moved_apart_have_no_steep_inner_edge(body: Volume) -> None:
    roomy = Volume(
        np.pad(body.hu, ((0, 0), (0, 90), (0, 0)), constant_values=AIR),
        np.pad(body.labels, ((0, 0), (0, 90), (0, 0))),
    )
    woman = tissue.breasts(roomy, 60.0, 1.8, (26.0, 12.0))
    added = (woman.hu > -300) & (roomy.hu < -300)
    thick = added.sum(axis=1)[:, int(_MIDDLE) :].max(axis=0) * _DY
    thins_out = (thick > 2) & (thick < 20) & (np.arange(len(thick)) < int(np.argmax(thick)))
    assert thins_out.sum() * _DX > 12


def test_fat_leaves_specks_beside_the_skin_alone(body: Volume) -> None:
    speckled = body.hu.copy()
    speckled[100, 12, 128] = 20
    fat, plain = tissue.fat(Volume(speckled, body.labels), 6.0), tissue.fat(body, 6.0)
    assert np.argwhere(fat.hu != plain.hu).tolist() == [[100, 12, 128]]


def test_a_wide_aorta_grows_into_the_lung_and_spares_the_airway(body: Volume) -> None:
    old = tissue.old_aorta(body, 4.0, 0.8)
    assert old.mask(AORTA).sum() > body.mask(AORTA).sum()
    assert np.array_equal(old.mask(TRACHEA), body.mask(TRACHEA))
    assert np.array_equal(old.hu[body.mask(TRACHEA)], body.hu[body.mask(TRACHEA)])


def test_density_of_vessels_and_spine_is_scaled(body: Volume) -> None:
    thin = tissue.dense_spine(body, 0.5)
    assert np.median(thin.hu[thin.mask(_SPINE)]) == pytest.approx(45 + (400 - 45) / 2, abs=1)
    spots = body.hu.copy()
    spots[80, 100, 60] = 40  # a vessel in the right lower lobe
    pruned = tissue.lung_vessels(Volume(spots, body.labels), 0.6)
    assert pruned.hu[80, 100, 60] < -300
    assert pruned.hu[80, 110, 60] < -860


def test_a_granuloma_is_a_small_dense_ball_in_a_scar_where_it_is_put(body: Volume) -> None:
    old = tissue.granuloma(body, (0.5, 0.5, 0.1), diameter_mm=5)
    chalk = np.argwhere((old.hu > 1000) & (old.hu != body.hu))
    size = (np.ptp(chalk, axis=0) + 1) * SPACING_MM
    assert np.all(size < 6.5)
    assert np.all(size > 3)
    assert set(np.unique(body.labels[tuple(chalk.T)])) <= set(RIGHT_LUNG)
    scar = np.argwhere(old.hu - body.hu > 100)
    assert np.all((np.ptp(scar, axis=0) + 1) * SPACING_MM < 30)


def test_gas_leaves_the_bowel_alone() -> None:
    body = _phantom()
    body.labels[10:40, 100:150, 150:200], body.hu[10:40, 100:150, 150:200] = STOMACH, 30
    body.hu[20:30, 120:140, 160:180] = -980
    filled = tissue.without_bowel_gas(body)
    assert filled.hu[25, 130, 170] > 0
    changed = filled.hu != body.hu
    assert set(np.unique(body.labels[changed])) == {STOMACH}


def test_gas_beside_the_labels_of_the_bowel_is_filled_where_that_is_asked_for() -> None:
    body = _phantom()
    body.labels[10:40, 100:150, 150:200], body.hu[10:40, 100:150, 150:200] = STOMACH, 30
    body.hu[30:45, 120:140, 160:180] = -980
    assert tissue.without_bowel_gas(body).hu[43, 130, 170] == -980
    assert tissue.without_bowel_gas(body, beside=True).hu[30:45, 120:140, 160:180].min() > 0


def test_some_bubbles_of_gas_stay_and_which_is_told_by_the_seed() -> None:
    body = _phantom()
    body.labels[10:44, 80:170, 30:220], body.hu[10:44, 80:170, 30:220] = STOMACH, 30
    places = [(z, x) for z in (16, 30) for x in (50, 90, 130, 170)]
    for z, x in places:
        body.hu[z : z + 6, 110:130, x : x + 12] = -980

    def gas(volume: Volume) -> tuple[bool, ...]:
        return tuple(bool(volume.hu[z + 3, 120, x + 6] < -900) for z, x in places)

    assert all(gas(body))
    patterns = {gas(tissue.some_bowel_gas(body, seed)) for seed in range(2, 12)}
    assert len(patterns) >= 6
    assert all(0 < sum(pattern) < len(places) for pattern in patterns)


def test_gas_stands_in_the_top_of_the_stomach_over_a_level() -> None:
    body = _phantom()
    body.labels[10:40, 80:150, 150:200], body.hu[10:40, 80:150, 150:200] = STOMACH, 30
    filled = tissue.stomach_bubble(body, 15.0)
    gas = (filled.hu < -800) & (filled.hu != body.hu)
    assert set(np.unique(body.labels[gas])) == {STOMACH}
    levels = np.flatnonzero(gas.any(axis=(1, 2)))
    assert 10 < np.ptp(levels) * _DZ < 17
    assert 36 < levels.max() < 40
    lowest = np.argwhere(gas[levels[0]])
    assert np.ptp(lowest[:, 0]) > 50  # as wide as the stomach
    assert np.ptp(lowest[:, 1]) > 35
    assert np.array_equal(filled.hu[body.lungs], body.hu[body.lungs])
    assert tissue.stomach_bubble(_phantom(), 15.0).hu.std() == _phantom().hu.std()  # no stomach


def test_first_ribs_lose_the_steps_of_the_slices_and_others_keep_them() -> None:
    body = _phantom()
    first, second = (slice(120, 160), slice(150, 160), slice(170, 180)), (
        slice(60, 100), slice(150, 160), slice(170, 180)
    )  # fmt: skip
    for part, label in ((first, 92), (second, 93)):
        body.labels[part] = label
        body.hu[part] = np.where(np.arange(40) % 4 < 2, 200, 700)[:, None, None]
    smooth = tissue.smooth_first_ribs(body)
    ruled = [smooth.hu[part][8:-8, 5, 5].std() for part in (first, second)]
    assert ruled[0] < 0.5 * ruled[1]
    assert np.array_equal(smooth.hu[second], body.hu[second])


def test_steps_of_the_skin_are_smoothed_and_what_lies_under_it_stays() -> None:
    body = _phantom()
    for z in range(0, 200, 4):  # slices, four thick, whose front steps by two voxels
        body.hu[z : z + 4, 196 + z // 4 % 2 * 4 :] = AIR
    smooth = tissue.smooth_skin(body)

    def front(volume: Volume) -> np.ndarray:
        return np.asarray((volume.hu[20:180, 182:, 60].astype(float) + 1000).sum(axis=1) / 1000)

    assert np.std(np.diff(front(smooth))) < 0.3 * np.std(np.diff(front(body)))
    assert front(smooth).mean() == pytest.approx(front(body).mean(), abs=1.0)
    deep = np.s_[20:180, 50:180, 24:232]
    assert np.array_equal(smooth.hu[deep], body.hu[deep])


def test_a_clear_airway_is_wider_by_what_is_said(body: Volume) -> None:
    clear = tissue.clear_airway(body, 2.0)

    def wide(volume: Volume) -> float:
        return float((volume.hu[150, 100, 100:160] < -500).sum()) * _DX

    assert wide(clear) - wide(body) == pytest.approx(4.0, abs=1.5)
    assert devices.carina(clear) == devices.carina(body)


def test_an_uneven_aorta_leaves_no_ruled_line_beside_the_spine() -> None:
    body = _phantom()
    body.labels[60:150, 76:120, 140:152], body.hu[60:150, 76:120, 140:152] = AORTA, 48
    uneven = tissue.uneven_aorta(body, 3)

    def edge(volume: Volume) -> np.ndarray:
        """Where the left lung begins at each height, voxels, mean over its depth."""
        return np.asarray((volume.hu[70:120, 56:100, 140:200] > -400).sum(axis=2).mean(axis=1))

    assert np.std(edge(body)) == pytest.approx(0, abs=0.01)
    assert np.std(edge(uneven)) * _DX > 0.5
    assert (edge(uneven) >= edge(body)).all()
    assert np.array_equal(uneven.hu[body.mask(*RIGHT_LUNG)], body.hu[body.mask(*RIGHT_LUNG)])


# --- devices -----------------------------------------------------------------------------------


@pytest.mark.parametrize("above_mm", [20.0, 40.0])
def test_the_tube_ends_where_it_is_said_to(body: Volume, above_mm: float) -> None:
    fork = devices.carina(body)
    tip = devices.endotracheal_tube(body, above_mm).tip
    assert (tip[0] - fork[0]) * _DZ == pytest.approx(above_mm, abs=1.5)
    assert body.labels[round(tip[0]), round(tip[1]), round(tip[2])] == TRACHEA


def test_a_tube_beyond_the_carina_goes_right_without_a_bend(body: Volume) -> None:
    tube = devices.endotracheal_tube(body, -22)
    fork, tip = devices.carina(body), tube.tip
    assert tip[0] < fork[0]
    assert tip[2] < fork[2]
    steps = np.diff(np.array(tube.course) * SPACING_MM, axis=0)
    steps /= np.linalg.norm(steps, axis=1, keepdims=True)
    turn = np.degrees(np.arccos(np.clip((steps[1:] * steps[:-1]).sum(axis=1), -1, 1)))
    assert turn.max() < 8  # from one of 160 points to the next
    assert np.degrees(np.arccos(-steps[-1][0])) < 50  # from straight down


def test_a_line_ends_short_of_the_foot_of_the_cava_or_past_it(body: Volume) -> None:
    foot = np.argwhere(body.mask(SVC))[:, 0].min() * _DZ
    short, past = (devices.central_line(body, past_mm=mm).tip[0] * _DZ for mm in (-18.0, 30.0))
    assert short - foot == pytest.approx(18, abs=6)
    assert past - foot == pytest.approx(-30, abs=6)


def test_a_generator_is_drawn_where_it_is_whole_or_at_the_edge() -> None:
    middle = devices._patch((200, 200), "can", (100.4, 90.2), (60.0, 50.0))
    rows, columns = np.nonzero(middle > 0.1)
    assert rows.mean() == pytest.approx(90, abs=3)
    assert columns.mean() == pytest.approx(100, abs=3)
    assert np.ptp(rows) == pytest.approx(60, abs=6)
    assert middle[76:86, 90:110].mean() < middle[100:110, 90:110].mean()  # battery below the board
    cut = devices._patch((200, 200), "can", (2.4, 199.2), (60.0, 50.0))
    assert cut[180:, :20].max() > 0.5
    assert cut[:150].max() == 0


def test_the_left_line_comes_from_the_left_and_ends_right_of_the_midline(body: Volume) -> None:
    line = devices.central_line(body, side="left")
    assert line.course[0][2] > _MIDDLE > line.tip[2]
    cava = np.argwhere(body.mask(SVC))
    assert line.tip[0] == pytest.approx(cava[:, 0].min(), abs=6)
    assert cava[:, 2].min() - 4 <= line.tip[2] <= cava[:, 2].max() + 4


def test_the_misplaced_gastric_tube_runs_down_the_airway_into_the_right_lower_lobe(
    body: Volume,
) -> None:
    tube = devices.gastric_tube_in_bronchus(body)
    tip = tuple(round(value) for value in tube.tip)
    assert body.labels[tip] == LOBES["RLL"]
    above = [p for p in tube.course if 125 < p[0] < 185]
    in_trachea = [body.labels[tuple(round(v) for v in p)] == TRACHEA for p in above]
    assert np.mean(in_trachea) > 0.9


def test_a_drain_comes_from_outside_and_ends_inside_the_lung(body: Volume) -> None:
    tip = (160.0, 110.0, 190.0)
    whole, *stripes = devices.chest_tube(body, "left", tip)
    assert whole.tip == tip
    course = np.array(whole.course)
    assert course[0, 2] > body.hu.shape[2]  # beyond the skin
    inside = course[course[:, 0] > tip[0] - 80 / _DZ]
    assert np.isin(body.labels[tuple(np.rint(inside).astype(int).T)], LEFT_LUNG).mean() > 0.9
    assert len(stripes) == 2
    gap = np.linalg.norm((course[-36] - course[-32]) * SPACING_MM)
    assert 3 < gap < 12
    mirrored, *_ = devices.chest_tube(body, "right", (160.0, 110.0, 66.0))
    assert mirrored.course[0][2] < 0


def test_the_wires_go_round_the_sternum(body: Volume) -> None:
    wires = implants.sternal_wires(body, count=5)
    assert len(wires) == 5
    bone = np.argwhere(body.mask(STERNUM))
    for wire in wires:
        course = np.array(wire.course)
        assert course[:, 1].min() < bone[:, 1].min()
        assert course[:, 1].max() > bone[:, 1].max()
        assert bone[:, 0].min() - 12 < course[:, 0].mean() < bone[:, 0].max() + 12
        assert abs(course[:, 2].mean() - bone[:, 2].mean()) < 4
    heights = [np.mean([p[0] for p in wire.course]) for wire in wires]
    assert heights == sorted(heights)
    again = implants.sternal_wires(body, count=5)
    assert [wire.course for wire in wires] == [wire.course for wire in again]


def test_the_valve_is_a_ring_in_the_ascending_aorta(body: Volume) -> None:
    ring = np.array(implants.aortic_valve(body, diameter_mm=25.0)[0].course) * SPACING_MM
    across = np.linalg.norm(ring[:, None] - ring[None], axis=-1).max()
    assert across == pytest.approx(25.0, abs=0.2)
    centre = tuple(round(value) for value in ring[:-1].mean(axis=0) / SPACING_MM)
    assert body.labels[centre] in (AORTA, HEART)
    for leaf in implants.aortic_valve(body, diameter_mm=25.0)[1:]:  # does not reach beyond it
        far = np.linalg.norm(np.array(leaf.course) * SPACING_MM - ring[:-1].mean(axis=0), axis=1)
        assert far.max() < 12.5


# --- studies and the notice ---------------------------------------------------------------------


def test_a_patient_keeps_the_build_between_prior_and_current() -> None:
    studies = read_studies()
    for name in ("mass-left", "effusion-left"):
        now, before = studies[name].build, studies[f"{name}-prior"].build
        assert replace(now, bowel_gas=before.bowel_gas) == before  # gas of the bowel moves on
    now, before = studies["tube-repositioned"].build, studies["tube-repositioned-prior"].build
    assert (now.wide, now.deep, now.tall, now.heart) == (
        before.wide, before.deep, before.tall, before.heart
    )  # fmt: skip


def test_no_two_patients_have_the_same_build() -> None:
    builds: dict[Build, set[str]] = {}
    for name, study in read_studies().items():
        build = study.build
        builds.setdefault(build, set()).add(name.removesuffix("-prior"))
    assert all(len(patients) == 1 for patients in builds.values()), builds.values()


def test_the_notice_stands_up_the_lower_right_edge() -> None:
    pixels = np.full((1100, 1000), 800, np.uint16)
    annotate(pixels, "")
    rows, columns = np.nonzero(pixels > 2000)
    assert columns.min() > 965
    assert rows.min() > 0.75 * 1100
    assert rows.max() < 0.95 * 1100


# --- what stands between two patients of one skeleton ---------------------------------------------


def test_shoulders_tilt_and_the_chest_stays(body: Volume) -> None:
    marked = Volume(body.hu.copy(), body.labels)
    for x in (12, 242):
        marked.hu[180, 100:140, x - 1 : x + 2] = 1400
    tilted = shape_patient(marked, Build(shoulder_tilt_mm=-20, belly_hu=0))

    def height(volume: Volume, x: int) -> float:
        return float(np.argwhere(volume.hu[150:, 100:140, x - 1 : x + 2] > 700)[:, 0].mean()) * _DZ

    # This body is narrow: 81 mm from the middle, the shoulders only begin.
    assert height(tilted, 12) - height(marked, 12) == pytest.approx(4, abs=1.3)
    assert height(tilted, 242) - height(marked, 242) == pytest.approx(-4, abs=1.3)
    assert _middle(tilted, TRACHEA) == pytest.approx(_middle(body, TRACHEA), abs=0.5)


def test_the_abdomen_alone_becomes_more_opaque() -> None:
    body = _phantom()
    body.labels[10:46, 60:170, 30:100], body.hu[10:46, 60:170, 30:100] = LIVER, 50
    full = tissue.full_belly(body, 190)
    changed = np.argwhere(full.hu != body.hu)
    assert full.hu[20, 100, 60] == 240
    assert changed[:, 0].max() <= 46
    assert np.array_equal(full.hu[body.mask(HEART)], body.hu[body.mask(HEART)])
    assert np.array_equal(full.hu[body.lungs], body.hu[body.lungs])
    assert np.array_equal(full.hu[body.hu == AIR], body.hu[body.hu == AIR])


def test_a_small_effusion_stays_in_the_angle_at_the_side(body: Volume) -> None:
    angle = pathology.effusion(body, "right", 10.0, 50.0, around=0.0)
    round_ = pathology.effusion(body, "right", 10.0, 50.0)
    inner = np.s_[76:145, 54:176, 80:96]  # more than 30 mm above the deepest point, near the heart
    assert not (angle.volume.hu[inner] > -400).any()
    assert (round_.volume.hu[inner] > -400).any()
    side = angle.volume.hu[76:90, 110:120, 25:30]
    assert (side > -200).any()
    columns = np.flatnonzero(angle.shown.any(axis=(0, 1)))
    assert columns.max() < 64 < np.flatnonzero(round_.shown.any(axis=(0, 1))).max()


def test_a_climb_that_fades_slowly_slants_and_one_that_fades_fast_is_a_rim(body: Volume) -> None:
    def heights(fades_mm: float) -> list[float]:
        fluid = pathology.effusion(body, "right", 30.0, 60.0, fades_mm=fades_mm).volume.hu > -200
        return [float(fluid[50:180, 110, x].sum()) for x in (30, 60, 90)]

    slow, fast = heights(40.0), heights(10.0)
    assert slow[0] > slow[1] > slow[2]
    assert slow[1] - fast[1] > 15
    assert fast[1] - fast[2] < 0.5 * (slow[1] - slow[2])


def test_a_mass_is_as_wide_as_said_with_an_uneven_edge(body: Volume) -> None:
    made = pathology.mass(body, "LUL", (0.5, 0.5, 0.5), 30.0)
    assert made.side == "left"
    spots = np.argwhere(made.shown > 0.5) * SPACING_MM
    assert len(spots) * np.prod(SPACING_MM) == pytest.approx(np.pi / 6 * 30**3, rel=0.3)
    far = np.linalg.norm(spots - spots.mean(axis=0), axis=1)
    assert far.max() > 1.1 * 15  # no ball
    middle = tuple(np.rint(spots.mean(axis=0) / SPACING_MM).astype(int))
    assert made.volume.hu[middle] == pytest.approx(45, abs=3)
    changed = made.volume.hu != body.hu
    assert np.isin(body.labels[changed], LEFT_LUNG).mean() > 0.98  # but for gaps between lobes


def test_a_level_fissure_is_an_edge_for_a_frontal_beam() -> None:
    body = _phantom()
    for y in range(50, 180):  # a fissure that rises to the front by a tenth
        body.labels[50 : 100 + y // 10, y, 24:104] = LOBES["RML"]
    tilted = pathology.consolidation(body, "RML", radius_mm=500)
    level = pathology.consolidation(body, "RML", radius_mm=500, straight_top=True)

    def edge(lesion: pathology.Lesion) -> int:
        share = lesion.shown[:, 60:170, 50:80].mean(axis=(1, 2))
        return int(((share > 0.1) & (share < 0.9)).sum())

    assert edge(level) <= 3
    assert edge(tilted) >= 6


def test_ribs_are_smoothed_along_their_course_and_keep_their_width() -> None:
    labels = np.zeros((120, 60, 160), np.uint8)
    hu = np.zeros(labels.shape, np.float32)
    for x in range(20, 140):  # a slanting bone whose slices, four thick, step
        z = 4 * round((30 + 0.5 * (x - 20)) / 4)
        labels[z - 4 : z + 4, 26:34, x] = 95
    hu[labels == 95] = 800
    before = hu.copy()
    volume._smooth_along_ribs(hu, labels)

    def ripple(values: np.ndarray) -> float:
        line = [values[round(34 + 0.5 * (x - 20)), 30, x] for x in range(40, 120)]
        return float(np.std(line))

    assert ripple(hu) < 0.6 * ripple(before)
    assert hu.sum() == pytest.approx(before.sum(), rel=0.05)


def test_vertebral_bodies_get_walls_and_their_arches_do_not() -> None:
    labels = np.zeros((30, 100, 100), np.uint8)
    labels[8:22, 40:75, 30:70] = _SPINE
    labels[8:22, 15:40, 48:53] = _SPINE  # a spinous process
    hu = np.full((60, 100, 100), 20, np.float32)
    hu[np.repeat(labels, 2, axis=0) == _SPINE] = 200
    before = hu.copy()
    volume._harder_vertebrae(hu, labels)
    gain = hu - before
    assert gain[30, 58, 50] == pytest.approx(260, abs=15)
    assert gain[30, 58, 31:34].max() > gain[30, 58, 50] + 200
    assert gain[30, 25, 50] == pytest.approx(0, abs=5)
