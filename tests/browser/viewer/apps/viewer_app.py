"""A small real app around the viewer: `streamlit run viewer_app.py`.

Query: ``case`` chooses one of CASES, ``narrow`` puts the viewer into a column, a new ``opening``
begins anew with a viewer and images of its own, ``left`` has no viewer. "Run" counts the runs of
the script, so that a test can see that nothing went to the server.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import streamlit as st
from phantoms import pictures
from starlette.responses import Response
from starlette.routing import Route

from rexview import ui
from rexview.geometry import Orientation
from rexview.ui.viewer import (
    BoxGroup,
    Neighbours,
    PixelLink,
    ViewerBox,
    ViewerData,
    ViewerImage,
    assign_keys,
    radiograph_viewer,
)
from rexview.ui.web.components import serve_module

STYLE = (Path(ui.__file__).parent / "web" / "app" / "style.css").read_text(encoding="utf-8")
STANDARD = Orientation("R", "L", "H", "F", "view")
MIRRORED = Orientation("L", "R", "H", "F", "PatientOrientation")
TURNED = Orientation("H", "F", "L", "R", "PatientOrientation")


@cache
def _pictures():
    return pictures()


def _link(name: str) -> PixelLink:
    return PixelLink(f"rexview/pixels/{name}", name)


def _view(name: str, title: str, word: str = "PA", **more) -> ViewerImage:
    return ViewerImage(name, title, word, _link(name), **more)


BOXES = assign_keys(
    (
        BoxGroup(
            "gen",
            "Generalist",
            "#56B4E9",
            boxes=(
                ViewerBox(
                    "g1",
                    "pa",
                    "right pleural effusion",
                    90,
                    800,
                    330,
                    260,
                    side="on the patient's right",
                    place="lower third",
                    score=0.83,
                    finding="effusion",
                ),
                ViewerBox(
                    "g2",
                    "pa",
                    "consolidation",
                    180,
                    860,
                    120,
                    110,
                    side="on the patient's right",
                    place="lower third",
                    note="The label says left.",
                    finding="consolidation",
                ),
            ),
            undrawable=1,
            reasons=("left nodule: the box has no area.",),
        ),
        BoxGroup(
            "med",
            "Medical 4B",
            "#E69F00",
            boxes=(
                ViewerBox("m1", "pa", "cardiomegaly", 420, 560, 330, 320, finding="heart"),
                ViewerBox("m2", "lateral", "effusion", 380, 640, 200, 160, finding="effusion"),
            ),
        ),
        BoxGroup(
            "reference",
            "Reference",
            "#FFFFFF",
            kind="reference",
            shown=False,
            boxes=(
                ViewerBox(
                    "r1",
                    "pa",
                    "effusion",
                    110,
                    830,
                    280,
                    240,
                    side="on the patient's right",
                    finding="effusion",
                ),
            ),
        ),
    )
)
CASES = {
    "one": ViewerData(
        "one",
        (
            _view("pa", "PA", orientation=STANDARD),
            _view("lateral", "Lateral", "LATERAL"),
            _view("prior", "PA, prior", prior=True, orientation=STANDARD),
            _view("returned", "Generalist’s picture", kind="returned", orientation=STANDARD),
            ViewerImage(
                "gone", "AP", "AP", error="The image file does not exist.", orientation=STANDARD
            ),
        ),
        BOXES,
        neighbours=Neighbours(None, "mirrored"),
    ),
    "mirrored": ViewerData(
        "mirrored",
        (_view("mirrored", "PA", orientation=MIRRORED),),
        neighbours=Neighbours("one", "turned"),
    ),
    "turned": ViewerData(
        "turned",
        (_view("turned", "PA", orientation=TURNED),),
        neighbours=Neighbours("mirrored", "unknown"),
    ),
    "blinded": ViewerData(
        "blinded", (_view("pa", "PA", orientation=STANDARD),), BOXES, blinded=True
    ),
    "unknown": ViewerData("unknown", (_view("pa", "View unknown", "UNKNOWN"),)),
    "refused": ViewerData("refused", (_view("refused", "PA", orientation=STANDARD),)),
    "ramp": ViewerData("ramp", (_view("ramp", "Ramp"),)),
    "flat": ViewerData("flat", (_view("flat", "Flat pixels", orientation=STANDARD),)),
    "none": ViewerData("none"),
}
# cases that are given along, so that they are there when a key asks for them
BESIDE = {"one": ("mirrored",), "mirrored": ("turned", "one")}


def _stale(runs: int) -> ViewerData:
    """Return a case whose link has ended on the first run of the script."""
    link = PixelLink("rexview/pixels/ended" if runs == 1 else "rexview/pixels/ramp", "renewed")
    return ViewerData("stale", (ViewerImage("ramp", "Ramp", "PA", link, orientation=STANDARD),))


def _for_opening(data: ViewerData, opening: str) -> ViewerData:
    """Return the case with images that the page does not know from another opening."""
    views = tuple(
        replace(view, pixels=replace(view.pixels, cache_key=f"{view.pixels.cache_key}{opening}"))
        if view.pixels
        else view
        for view in data.views
    )
    ahead = tuple(_for_opening(one, opening) for one in data.ahead)
    return replace(data, views=views, ahead=ahead)


async def _pixels(request):
    name = request.path_params["name"]
    if name == "ended":
        return Response("This link has expired.", 403, media_type="text/plain")
    if name not in _pictures():
        return Response("The file ends too early.", 422, media_type="text/plain")
    headers = {"Content-Encoding": "identity", "Cache-Control": "private, max-age=60"}
    return Response(_pictures()[name], media_type="application/octet-stream", headers=headers)


def _go(asked: Mapping[str, Any]) -> None:
    st.query_params["case"] = asked["case"]


def _main() -> None:
    st.set_page_config(layout="wide")
    if "left" in st.query_params:
        return
    opening = st.query_params.get("opening", "")
    if opening != st.session_state.get("opening"):
        st.session_state.clear()
        st.session_state["opening"] = opening
    case = st.query_params.get("case", "one")
    runs = st.session_state["runs"] = st.session_state.get("runs", 0) + 1
    narrow = "narrow" in st.query_params
    st.html(f"<style>{STYLE}</style>")
    with st.columns([11, 12])[0] if narrow else st.container():
        data = CASES[case] if case != "stale" else _stale(runs)
        data = replace(data, ahead=tuple(CASES[one] for one in BESIDE.get(case, ())))
        radiograph_viewer(_for_opening(data, opening), key=f"viewer{opening}", on_navigate=_go)
    st.text_input("Notes", key=f"notes{opening}")
    st.html(
        f"<p>Run <b id='runs' data-opening='{opening}'>{runs}</b></p><p>The model speaks of an "
        "<span id='word' data-rx-finding='effusion' tabindex='0'>effusion</span>.</p>"
        "<h2 id='report'>Report</h2>"
    )


if __name__ == "__main__":
    _main()
else:
    app = st.App(
        __file__,
        routes=[
            Route("/rexview/pixels/{name}", _pixels),
            Route("/rexview/assets/{version}/{name:path}", serve_module),
        ],
    )
