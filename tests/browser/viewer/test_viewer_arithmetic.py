"""The viewer's modules by themselves, in the browser that runs them."""

from __future__ import annotations

import base64
import json
import math
import random

import cv2
import numpy as np
import pytest
from support import ROOT, SHARED_DATA
from support.browser.viewer_modules import call, serve_modules

from rexview.geometry import Orientation

pytestmark = pytest.mark.browser
VECTORS = json.loads((ROOT / "tests" / "data" / "windowing.json").read_text())


class TestWindowing:
    @pytest.mark.parametrize("vector", VECTORS["vectors"], ids=lambda vector: vector["name"])
    def test_same_grey_levels_as_python(self, modules, vector):
        grey = call(
            modules,
            "windowing.js",
            """const all = m.greyLevels(a.header, a.preset, Math.max(...a.codes) + 1);
               return a.codes.map((code) => all[code]);""",
            vector,
        )
        assert grey == vector["grey"]

    def test_inverting_turns_every_level_round(self, modules):
        vector = VECTORS["vectors"][0]
        plain, inverted = call(
            modules,
            "windowing.js",
            """return [false, true].map((on) => [...m.greyLevels(a.header, a.preset, 256, on)]);""",
            vector,
        )
        assert [255 - level for level in plain] == inverted
        assert plain != inverted

    def test_a_dragged_window_keeps_its_formula_and_its_least_width(self, modules):
        kinds = call(
            modules,
            "windowing.js",
            """return ['linear', 'linear_exact', 'sigmoid', 'lut'].map((kind) => {
                 const made = m.adjusted({ kind, centre: 100, width: 50, name: 'x' }, 1e-9, 0.5);
                 return [made.kind, made.centre, made.width, made.name];
               });""",
        )
        assert [kind for kind, *_ in kinds] == ["linear", "linear_exact", "sigmoid", "linear_exact"]
        assert [centre for _, centre, *_ in kinds] == [125] * 4
        assert kinds[0][2] == 1
        assert all(0 < width < 1 for _, _, width, _ in kinds[1:])
        assert all(name is None for *_, name in kinds)


def poses(count=60):
    """Yield images, panes, poses and points, always the same ones."""
    source = random.Random(4)
    for number in range(count):
        yield {
            "image": {
                "width": source.randint(1, 4000),
                "height": source.randint(1, 4000),
                "aspect": source.choice([1, 1, 0.5, 2, 1.37]),
            },
            "port": {"width": source.uniform(40, 2000), "height": source.uniform(40, 1400)},
            "pose": {
                "zoom": source.choice([1, 0.3, 2.5, 7]),
                "x": source.uniform(-0.5, 0.5),
                "y": source.uniform(-0.5, 0.5),
                "orientation": number % 8,
            },
            "at": [source.uniform(0, 1), source.uniform(0, 1)],
            "factor": source.uniform(0.7, 1.4),
            "to": source.randrange(8),
        }


class TestGeometry:
    @pytest.mark.parametrize("case", [*poses()])
    def test_screen_to_image_and_back(self, modules, case):
        back = call(
            modules,
            "geometry.js",
            """const p = new m.Projection(a.image, a.port, a.pose);
               const at = [a.at[0] * a.image.width, a.at[1] * a.image.height];
               return [at, p.toImage(...p.toScreen(...at))];""",
            case,
        )
        assert back[1] == pytest.approx(back[0], abs=1e-6 * max(case["image"].values()))

    @pytest.mark.parametrize("case", [*poses()])
    def test_zoom_holds_the_point_under_the_pointer(self, modules, case):
        pose = {"x": 0.05, "y": -0.1, "zoom": max(1, case["pose"]["zoom"])}
        sides = {side: 300 + case["image"][side] for side in ("width", "height")}
        case |= {"pose": case["pose"] | pose, "image": case["image"] | sides}
        before, after, zoom = call(
            modules,
            "geometry.js",
            """const p = new m.Projection(a.image, a.port, a.pose);
               const near = (share) => 0.5 + (share - 0.5) * 0.2;
               const at = p.toScreen(near(a.at[0]) * a.image.width, near(a.at[1]) * a.image.height);
               const pose = p.zoomedAt(a.factor, ...at);
               const q = new m.Projection(a.image, a.port, pose);
               return [p.toImage(...at), q.toImage(...at), pose.zoom];""",
            case,
        )
        assert after == pytest.approx(before, abs=1e-6 * max(case["image"].values()))
        assert zoom == pytest.approx(case["pose"]["zoom"] * case["factor"])

    @pytest.mark.parametrize("case", [*poses(24)])
    def test_turning_keeps_the_middle_and_the_size(self, modules, case):
        before, after = call(
            modules,
            "geometry.js",
            """const p = new m.Projection(a.image, a.port, a.pose);
               const q = new m.Projection(a.image, a.port, p.oriented(a.to));
               const mid = [a.port.width / 2, a.port.height / 2];
               return [p.toImage(...mid), q.toImage(...mid)];""",
            case,
        )
        assert after == pytest.approx(before, abs=1e-6 * max(case["image"].values()))

    @pytest.mark.parametrize("aspect", [1, 0.5, 2])
    @pytest.mark.parametrize("orientation", range(8))
    def test_fitted_picture_fills_one_side_of_the_pane(self, modules, orientation, aspect):
        rect = call(
            modules,
            "geometry.js",
            """const image = { width: 300, height: 200, aspect: a.aspect };
               const pose = { ...m.FITTED, orientation: a.orientation };
               const p = new m.Projection(image, { width: 500, height: 400 }, pose);
               return p.boxToScreen({ x: 0, y: 0, width: 300, height: 200 });""",
            {"orientation": orientation, "aspect": aspect},
        )
        across, down = (300, 200 * aspect) if orientation % 2 == 0 else (200 * aspect, 300)
        scale = min(500 / across, 400 / down)
        assert (rect["width"], rect["height"]) == pytest.approx((across * scale, down * scale))
        assert rect["x"] + rect["width"] / 2 == pytest.approx(250)
        assert rect["y"] + rect["height"] / 2 == pytest.approx(200)

    def test_orientations_are_the_eight_of_a_square(self, modules):
        table = call(
            modules,
            "geometry.js",
            """const all = [0, 1, 2, 3, 4, 5, 6, 7];
               return all.map((x) => all.map((y) => m.compose(x, y)));""",
        )
        for row in table:
            assert sorted(row) == list(range(8))
        assert table[0] == list(range(8))
        assert [table[x][x] for x in (4, 5, 6, 7)] == [0, 0, 0, 0]  # mirrors undo themselves
        assert table[1][3] == 0
        assert table[1][1] == 2

    def test_quarter_turn_is_clockwise(self, modules):
        corner = call(
            modules,
            "geometry.js",
            """const image = { width: 100, height: 100, aspect: 1 };
               const pose = { ...m.FITTED, orientation: m.TURN };
               const p = new m.Projection(image, { width: 100, height: 100 }, pose);
               return p.toScreen(0, 0);""",
        )
        assert corner == pytest.approx([100, 0])


EDGE_SETS = [
    dict(zip(("left", "right", "top", "bottom"), edges, strict=True))
    for edges in ("RLHF", "LRHF", "RLFH", "LRFH", "HFRL", "HFLR", "FHRL", "FHLR", "APHF", "FHAP")
]


class TestOrientation:
    @pytest.mark.parametrize("edges", EDGE_SETS, ids=lambda edges: "".join(edges.values()))
    def test_standard_has_head_up_and_right_on_the_left(self, modules, edges):
        shown = call(
            modules,
            "orientation.js",
            "return m.shownEdges(a, m.standardOrientation(a));",
            edges,
        )
        assert shown["top"] == "H"
        if "R" in edges.values():
            assert shown["left"] == "R"
            assert shown["right"] == "L"

    @pytest.mark.parametrize("edges", EDGE_SETS[:8], ids=lambda edges: "".join(edges.values()))
    def test_agrees_with_python_on_what_is_mirrored(self, modules, edges):
        mirrored = call(modules, "orientation.js", "return m.seenFromBehind(a);", edges)
        assert mirrored == Orientation(**edges, source="PatientOrientation").mirrored

    def test_a_lateral_view_is_turned_but_never_mirrored_for_the_reader(self, modules):
        edges = {"left": "P", "right": "A", "top": "F", "bottom": "H"}
        orientation = call(modules, "orientation.js", "return m.standardOrientation(a);", edges)
        assert orientation == 2

    @pytest.mark.parametrize(
        ("edges", "orientation", "warns", "says"),
        [
            ("RLHF", 0, None, None),
            ("LRHF", 0, True, "mirrored"),
            ("LRHF", 4, False, "standard orientation"),
            ("RLHF", 4, True, "mirrored"),
            ("LRFH", 0, True, "feet at the top"),
            ("HFLR", 0, True, "turned"),
            (None, 0, True, "unknown"),
        ],
    )
    def test_advice(self, modules, edges, orientation, warns, says):
        names = ("left", "right", "top", "bottom")
        stored = dict(zip(names, edges or [None] * 4, strict=True)) | {"known": bool(edges)}
        advice = call(
            modules,
            "orientation.js",
            "return m.advice(a.stored, a.orientation);",
            {"stored": stored, "orientation": orientation},
        )
        if says is None:
            assert advice is None
        else:
            assert advice["warn"] is warns
            assert says in advice["text"]


class TestAddress:
    @pytest.mark.parametrize("name", ["pa", "a b;c~d*e&f=g,h#é", "~*;"])
    def test_round_trip(self, modules, name):
        seen = {
            "caseId": f"case {name}",
            "active": name,
            "views": [
                {
                    "id": name,
                    "pose": {"zoom": 1.75, "x": 0.125, "y": -0.5, "orientation": 5},
                    "window": {"centre": -12.5, "width": 2048},
                    "inverted": True,
                },
                {
                    "id": "other",
                    "pose": {"zoom": 1, "x": 0, "y": 0, "orientation": 0},
                    "window": {"preset": "Näme ~ 1,5"},
                    "inverted": False,
                },
            ],
            "groups": [name, "reference"],
            "linked": False,
        }
        assert call(modules, "address.js", "return m.decode('#' + m.encode(a));", seen) == seen

    def test_no_groups_is_not_the_usual_groups(self, modules):
        decoded = call(
            modules,
            "address.js",
            """const seen = { caseId: 'c', active: 'v', views: [], linked: true };
               const again = (groups) => m.decode(m.encode({ ...seen, groups })).groups;
               return [[], null].map(again);""",
        )
        assert decoded == [[], None]

    @pytest.mark.parametrize(
        "text", ["", "#report", "#v", "#v=%", "#v=c;a~zx,y", "#v=c;a~z0,0,0", "#v=;;~~;*", "#x=1"]
    )
    def test_what_is_not_ours_does_no_harm(self, modules, text):
        decoded = call(modules, "address.js", "return m.decode(a);", text)
        for view in (decoded or {"views": []})["views"]:
            assert math.isfinite(view["pose"]["zoom"])
            assert view["pose"]["zoom"] > 0


class TestPyramid:
    def test_halves_down_to_a_thumbnail_and_keeps_the_mean(self, modules):
        levels = call(
            modules,
            "pyramid.js",
            """const codes = new Uint16Array(401 * 300).fill(7).map((_, i) => (i * 31) % 4096);
               const raster = m.pyramid({ width: 401, height: 300, format: 'u16' }, codes);
               const mean = (all) => all.reduce((sum, one) => sum + one, 0) / all.length;
               const facts = (one) => [one.width, one.height, one.factor, mean(one.codes)];
               return raster.levels.map(facts);""",
        )
        assert [level[:3] for level in levels] == [[401, 300, 1], [201, 150, 2]]
        assert levels[1][3] == pytest.approx(levels[0][3], rel=0.01)

    @pytest.mark.parametrize(("scale", "factor"), [(3, 1), (1, 1), (0.6, 1), (0.5, 2), (0.2, 4)])
    def test_level_is_never_coarser_than_the_screen(self, modules, scale, factor):
        found = call(
            modules,
            "painter.js",
            "return m.levelFor([1, 2, 4].map((factor) => ({ factor })), a).factor;",
            scale,
        )
        assert found == factor


class TestBoxes:
    def test_smallest_under_the_pointer(self, modules):
        found = call(
            modules,
            "box_layer.js",
            """const entry = (name, x, y, width, height) =>
                 ({ name, rect: { x, y, width, height } });
               const all = [entry('small', 40, 40, 10, 10), entry('large', 0, 0, 100, 100)];
               const at = (x, y) => m.smallestUnder(all, x, y)?.name ?? null;
               return [at(45, 45), at(45, 53), at(20, 20), at(103, 50), at(200, 200)];""",
        )
        assert found == ["small", "small", "large", "large", None]

    @pytest.mark.parametrize(
        ("colour", "ink"),
        [
            ("#F0E442", "#08090a"),
            ("#E69F00", "#08090a"),
            ("#0072B2", "#ffffff"),
            ("#000000", "#ffffff"),
        ],
    )
    def test_key_on_a_box_can_be_read(self, modules, colour, ink):
        assert call(modules, "box_layer.js", "return m.inkOn(a);", colour) == ink


SPACING = {"row_mm": 0.5, "col_mm": 0.2, "at": "patient"}


class TestDistance:
    @pytest.mark.parametrize(
        ("aspect", "spacing", "value", "unit"),
        [
            # from (0, 0) to (30, 40): legs of 6 and 20 mm; 3-4-5; legs of 30 and 80 pixel widths
            (1, SPACING, 20.8806, "mm"),
            (1, None, 50, "px"),
            (2, None, 85.4400, "px"),
        ],
    )
    def test_length(self, modules, aspect, spacing, value, unit):
        header = {"aspect": aspect, "spacing": spacing}
        found = call(modules, "lengths.js", "return m.distance(a, [0, 0], [30, 40]);", header)
        assert found["value"] == pytest.approx(value, rel=1e-5)
        assert found["unit"] == unit

    @pytest.mark.parametrize("axis", ["x", "y"])
    def test_ratio_runs_across_the_patient(self, modules, axis):
        header = {"aspect": 1, "spacing": SPACING}
        found = call(
            modules,
            "lengths.js",
            """const [heart, thorax] = [{ from: 400, to: 550 }, { from: 800, to: 500 }];
               return m.cardiothoracic(a.header, a.axis, heart, thorax);""",
            {"header": header, "axis": axis},
        )
        assert found["ratio"] == pytest.approx(0.5)
        assert found["heart"]["value"] == pytest.approx(150 * (0.2 if axis == "x" else 0.5))


class TestCalibration:
    @pytest.mark.parametrize(
        ("typed", "mm"),
        [("25", 25), (" 25,4 ", 25.4), ("2.5 cm", 25), (".5", 0.5), ("30MM", 30), ("1000", 1000)],
    )
    def test_a_length_as_it_is_typed(self, modules, typed, mm):
        found = call(modules, "lengths.js", "return m.readLength(a);", typed)
        assert found == {"mm": pytest.approx(mm)}

    @pytest.mark.parametrize("typed", ["", "abc", "0", "-3", "1e3", "25 in", "1001", "2 5", "NaN"])
    def test_what_is_no_length_is_told(self, modules, typed):
        found = call(modules, "lengths.js", "return m.readLength(a);", typed)
        assert list(found) == ["problem"]
        assert found["problem"].endswith(".")

    def test_a_line_of_known_length_gives_every_other_its_own(self, modules):
        # pixels twice as high as wide: 40 across and 15 down are 40 and 30 widths, together 50;
        # 25 mm over 50 widths is 0.5 mm each, so 10 rows are 20 widths and 10 mm
        lengths, note = call(
            modules,
            "lengths.js",
            """const { distance, lengthNote } = await import('lengths.js');
               const header = { aspect: 2, spacing: null };
               const given = m.withScale(header, m.scaleOf(header, [[5, 5], [45, 20]], 25));
               const lengths = [[[5, 5], [45, 20]], [[0, 0], [0, 10]], [[0, 0], [10, 0]]]
                 .map((ends) => distance(given, ...ends));
               return [lengths, lengthNote(given)];""",
        )
        assert [one["value"] for one in lengths] == pytest.approx([25, 10, 5])
        assert {one["unit"] for one in lengths} == {"mm"}
        assert note == "calibrated by hand: a line of 50 px is 25 mm"

    @pytest.mark.parametrize("spacing", [None, {"row_mm": 0.3, "col_mm": 0.3, "at": "patient"}])
    def test_a_spacing_of_the_set_is_used_where_the_file_has_none(self, modules, spacing):
        length, note = call(
            modules,
            "lengths.js",
            """const given = m.withGiven({ aspect: 1, spacing: a, note: null }, 0.2);
               return [m.distance(given, [0, 0], [30, 40]), m.lengthNote(given)];""",
            spacing,
        )
        assert length == {"value": pytest.approx(15 if spacing else 10), "unit": "mm"}
        assert note.startswith("calibrated" if spacing else "at the detector")

    def test_a_line_too_short_is_told(self, modules):
        found = call(
            modules,
            "lengths.js",
            "return m.scaleOf({ aspect: 1 }, [[0, 0], [9, 0]], 25);",
        )
        assert "too short" in found["problem"]

    def test_kept_for_its_image_until_removed(self, modules):
        kept = call(
            modules,
            "lengths.js",
            """m.keepScale('one', { mm: 25, px: 50 });
               m.keepScale('two', { mm: 10, px: 80 });
               m.keepScale('one', { mm: 30, px: 60 });
               const before = ['one', 'two', 'three'].map((key) => m.scaleFor(key));
               m.keepScale('one', null);
               const after = ['one', 'two'].map((key) => m.scaleFor(key));
               localStorage.setItem('rexview-viewer-calibrations', '[["two", "x", -1], 7, {}]');
               return [...before, ...after, m.scaleFor('two')];""",
        )
        assert kept == [{"mm": 30, "px": 60}, {"mm": 10, "px": 80}, None, None, kept[1], None]


class TestArrangement:
    @pytest.mark.parametrize(
        ("ratios", "width", "height", "columns"),
        [
            ([1], 600, 500, 1),
            ([1, 1], 1400, 500, 2),
            ([1, 1], 400, 900, 1),
            ([2, 2], 600, 620, 1),  # landscape films: one above the other is twice as large
            ([0.8, 0.8], 700, 500, 2),
            ([1, 1, 1, 1], 900, 900, 2),
            ([0.8, 0.8, 0.8], 1500, 500, 3),
        ],
    )
    def test_films_are_as_large_as_they_can_be(self, modules, ratios, width, height, columns):
        found = call(
            modules,
            "layout.js",
            "return m.bestColumns(a.ratios, a);",
            {"ratios": ratios, "width": width, "height": height},
        )
        assert found == columns

    @pytest.mark.parametrize(
        ("share", "held"), [(0.4, 0.4), (0.1, 0.32), (0.95, 0.44), (0, 0.32), (1, 0.44)]
    )
    def test_a_divider_leaves_both_sides_what_they_need(self, modules, share, held):
        found = call(modules, "separator.js", "return m.limitShare(a, 1000, [320, 560]);", share)
        assert found == pytest.approx(held)

    def test_a_divider_without_room_stays_in_proportion(self, modules):
        assert call(modules, "separator.js", "return m.limitShare(0.9, 500, [320, 320]);") == 0.5


FIND = """
const { pyramid } = await import('pyramid.js');
const { Projection, FITTED } = await import('geometry.js');
const codes = Uint8Array.from(atob(a.codes), (letter) => letter.charCodeAt(0));
const header = { width: a.width, height: a.height, aspect: 1, format: 'u8', invert: a.invert };
const found = m.burnedIn(pyramid(header, codes));
const port = { width: a.width / 2, height: a.height / 2 };
const projection = new Projection(header, port, FITTED);
const covered = ([x, y, width, height]) => m.coveredBy(found, { x, y, width, height }, projection);
"""


def film(codes, **more):
    """Return a film as the page takes it; places on the screen are halves of its pixels."""
    rows, columns = codes.shape
    text = base64.b64encode(codes.astype(np.uint8).tobytes()).decode()
    return {"codes": text, "width": columns, "height": rows, "invert": False, **more}


class TestBurnedIn:
    @pytest.mark.parametrize("invert", [False, True])
    def test_letters_are_found_on_dark_and_on_white_and_anatomy_is_not(self, modules, invert):
        picture = np.full((1000, 1000), 20, np.float32)
        y, x = np.mgrid[0:1000, 0:1000]
        picture += 190 * np.exp(-(((x - 500) / 260) ** 4) - ((y - 600) / 300) ** 4)  # a white heart
        picture = picture.astype(np.uint8)
        for place in ((60, 900), (480, 620)):
            cv2.putText(picture, "L 12:30", place, cv2.FONT_HERSHEY_SIMPLEX, 1.2, 250, 3)
        picture = 255 - picture if invert else picture
        boxes = [[25, 430, 90, 24], [240, 290, 90, 24], [180, 120, 90, 24], [240, 400, 90, 24]]
        found = call(
            modules,
            "burned_in.js",
            FIND + "return a.boxes.map(covered);",
            film(picture, invert=invert, boxes=boxes),
        )
        assert [count > 0 for count in found] == [True, True, False, False]

    def test_a_label_goes_where_it_covers_nothing(self, modules):
        picture = np.full((1000, 1000), 30, np.uint8)
        cv2.putText(picture, "PORTABLE", (200, 200), cv2.FONT_HERSHEY_SIMPLEX, 1.2, 240, 3)
        taken, without = call(
            modules,
            "burned_in.js",
            FIND
            + """const places = [[110, 80], [130, 85], [110, 140]];
                 const size = { width: 80, height: 16 };
                 return [found, null].map((one) => m.freest(places, size, one, projection));""",
            film(picture),
        )
        assert taken == [110, 140]
        assert without == [110, 80]

    @pytest.mark.shared
    @pytest.mark.parametrize(
        ("name", "box"),
        [
            ("00001369_000", (958, 145, 52, 65)),  # L and initials on white
            ("00013125_000", (600, 930, 200, 40)),  # AP PORTABLE, dark outline on white
            ("00022084_000", (945, 40, 35, 45)),  # L on black
            ("00026911_000", (835, 213, 95, 26)),  # SUPINE on soft tissue
            ("00026911_000", (861, 310, 125, 28)),  # PORTABLE
        ],
    )
    def test_what_is_burned_into_real_films_is_found(self, modules, name, box):
        path = SHARED_DATA / "nih" / f"{name}.png"
        if not path.exists():
            pytest.skip("the real radiographs are not here")
        picture = cv2.imread(str(path), cv2.IMREAD_GRAYSCALE)
        (count,) = call(
            modules,
            "burned_in.js",
            FIND + "return a.boxes.map(covered);",
            film(picture, boxes=[[side / 2 for side in box]]),
        )
        assert count >= 3


STORE = """
const frame = (side) => {
  const text = JSON.stringify({ width: side, height: side, format: 'u8', presets: [] }).padEnd(96);
  const body = new Uint8Array(8 + 96 + side * side);
  new DataView(body.buffer).setUint32(0, 0x31565852, true);
  new DataView(body.buffer).setUint32(4, 96, true);
  body.set(new TextEncoder().encode(text), 8);
  return body;
};
const asked = [];
const answer = (url) => {
  asked.push(url.pathname.slice(1));
  if (url.pathname.includes('gone')) {
    const headers = { 'Content-Type': 'text/plain' };
    return new Response('No such picture.', { status: 403, headers });
  }
  if (url.pathname.includes('cut')) return new Response(frame(100).slice(0, 500));
  if (url.pathname.includes('html')) return new Response('<html>');
  return new Response(frame(100));
};
window.fetch = async (url) => answer(new URL(url));
"""


class TestPixelStore:
    def test_asks_once_and_forgets_the_oldest_first(self, modules):
        asked, held, size = call(
            modules,
            "pixels.js",
            STORE
            + """const store = new m.PixelStore(25000);
                 await Promise.all([store.load('a', 'a'), store.load('a', 'a')]);
                 await store.load('b', 'b');
                 await store.load('a', 'a');
                 await store.load('c', 'c');
                 const held = ['a', 'b', 'c'].map((key) => Boolean(store.loaded(key)));
                 return [asked, held, store.bytes];""",
        )
        assert asked == ["a", "b", "c"]
        assert held == [True, False, True]
        assert size == 20000

    @pytest.mark.parametrize(
        ("url", "reason", "stale"),
        [
            ("gone", "No such picture.", True),
            ("cut", "did not arrive completely", False),
            ("html", "not an image", False),
        ],
    )
    def test_says_why_there_is_no_image(self, modules, url, reason, stale):
        error = call(
            modules,
            "pixels.js",
            STORE
            + """const store = new m.PixelStore(25000);
                 return store.load(a, a).then(() => null, (e) => [e.message, Boolean(e.stale)]);""",
            url,
        )
        assert reason in error[0]
        assert error[1] is stale

    def test_looking_ahead_does_not_insist_on_what_failed(self, modules):
        asked = call(
            modules,
            "pixels.js",
            STORE
            + """const store = new m.PixelStore(25000);
                 const wanted = [{ key: 'gone', url: 'gone' }, { key: 'a', url: 'a' }];
                 await store.prefetch(wanted);
                 await store.prefetch(wanted);
                 return asked;""",
        )
        assert asked == ["gone", "a"]


PLACE = """
const place = document.createElement('div');
document.body.append(place);
const data = { case: 'c', active: null, height: '400px', views: [], groups: [],
               neighbours: {} };
const component = { parentElement: place, data, setTriggerValue: () => undefined };
const viewers = () => place.querySelectorAll('.rx').length;
const taken = () => {
  const event = new KeyboardEvent('keydown', { key: 'r', cancelable: true });
  return !window.dispatchEvent(event);
};
"""


class TestMounting:
    def test_only_the_clean_up_of_the_last_run_takes_the_viewer_away(self, modules):
        counts = call(
            modules,
            "viewer.js",
            PLACE
            + """const first = m.mount(component);
                 const second = m.mount(component);
                 first();
                 const kept = [viewers(), taken()];
                 second();
                 return [kept, [viewers(), taken()]];""",
        )
        assert counts == [[1, True], [0, False]]  # and its keys go with it

    def test_clean_up_before_the_modules_have_come(self, modules):
        counts = call(
            modules,
            "loader.js",
            PLACE
            + """const leave = m.default({ ...component, data: [data] });
                 leave();
                 await import('viewer.js');
                 const left = viewers();
                 const end = m.default({ ...component, data: [data] });
                 while (!viewers()) await new Promise(requestAnimationFrame);
                 const there = viewers();
                 end();
                 return [left, there, viewers()];""",
        )
        assert counts == [0, 1, 0]

    @pytest.mark.parametrize(("lost", "shown"), [(2, [1, 0]), (3, [0, 1])])
    def test_a_module_that_did_not_come_is_asked_for_again(self, modules, lost, shown):
        asked = []

        def lose(route):
            asked.append(route.request.url)
            route.abort() if len(asked) <= lost else route.fallback()

        page = modules.context.new_page()  # which has not fetched any yet
        serve_modules(page)
        page.route("**/viewer.js", lose)
        there = call(
            page,
            "loader.js",
            PLACE
            + """const { setTimeout } = window;
                 window.setTimeout = (done) => setTimeout(done);
                 m.default({ ...component, data: [data] });
                 const notices = () => place.querySelectorAll(':scope > p').length;
                 while (!viewers() && !notices()) await new Promise(requestAnimationFrame);
                 return [viewers(), notices()];""",
        )
        page.close()
        assert there == shown
        assert len(asked) == 3


BACKGROUND = (
    STORE
    + """
const { rasterOf } = await import('payload.js');
const { burnedIn } = await import('burned_in.js');
const { inBackground } = m;
const film = () => {
  const body = frame(900);
  for (let at = 104; at < body.length; at += 1) body[at] = at % 7 ? 20 : (at * 31) % 256;
  return body.buffer;
};
const found = async (raster) =>
  inBackground.foundIn(raster) ?? new Promise((done) => {
    const again = () => done(inBackground.foundIn(raster));
    inBackground.known.delete(raster);
    inBackground.foundIn(raster, again);
  });
const plain = ({ header, levels }) => [header, levels.map(({ codes }) => [...codes])];
"""
)


class TestBackground:
    @pytest.mark.parametrize("worker", ["begun", "missing", "lost"])
    def test_makes_the_same_as_the_page_would(self, modules, worker):
        same, cells, expected = call(
            modules,
            "background.js",
            BACKGROUND
            + """inBackground.worker = a === 'missing' ? null : undefined;
                 const here = rasterOf(film());
                 if (a === 'lost') {
                   const lost = inBackground.rasterOf(film()).catch(() => 'lost');
                   inBackground.worker.onerror();
                   if (await lost !== 'lost') throw new Error('nobody was told');
                 }
                 const there = await inBackground.rasterOf(film());
                 const same = JSON.stringify(plain(there)) === JSON.stringify(plain(here));
                 const { cells } = await found(there);
                 const began = inBackground.worker !== null;
                 if (began !== (a === 'begun')) throw new Error('another way was taken');
                 return [same, [...cells], [...burnedIn(here).cells]];""",
            worker,
        )
        assert same
        assert any(cells)
        assert cells == expected

    @pytest.mark.parametrize("worker", ["begun", "missing"])
    def test_says_why_there_is_no_image(self, modules, worker):
        reason = call(
            modules,
            "background.js",
            BACKGROUND
            + """inBackground.worker = a === 'missing' ? null : undefined;
                 const cut = film().slice(0, 500);
                 return inBackground.rasterOf(cut).catch(({ message }) => message);""",
            worker,
        )
        assert "did not arrive completely" in reason
