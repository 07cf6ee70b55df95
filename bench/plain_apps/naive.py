"""The naive way to show boxes, for comparison: drawn on the server and shown with st.image.

``python -m rexview bench viewer`` runs it with the folder of a review set after ``--``.
"""

import sys
from pathlib import Path

import cv2
import numpy as np
import streamlit as st

from rexview import reviewset
from rexview.imaging import Window, read_image, render_display

COLOURS = ((230, 159, 0), (86, 180, 233), (0, 158, 115), (204, 121, 167))

st.set_page_config(layout="wide")
review_set = st.cache_resource(reviewset.load_review_set)(Path(sys.argv[1]))
read = st.cache_resource(read_image)
ids = review_set.cases["id"].to_list()
number = st.session_state.setdefault("number", 0)


def turn(step: int) -> None:
    """Go to another case."""
    st.session_state["number"] = (st.session_state["number"] + step) % len(ids)


st.button("Next", on_click=turn, args=(1,), shortcut="j")
case = review_set.case(ids[number])
assert case is not None
assert case.key_image is not None
answers = review_set.answers_of(case.id)
shown = {a.model: st.checkbox(f"Boxes of {a.model}", True, key=a.model) for a in answers}
width = st.slider("Window width", 1, 100, 100)
picture = read(reviewset.find_image_file(review_set, case.key_image.path))
base = picture.windows[0] if picture.windows else None
if base is None:
    values = picture.pixels
    low, high = float(values.min()), float(values.max())
    centre, full = (low + high) / 2, max(high - low, 2.0)
else:
    centre, full = base.centre, base.width
window = Window("", "linear", centre, max(full * width / 100, 2))
grey = render_display(picture, window)
image = np.dstack([grey] * 3) if grey.ndim == 2 else grey.copy()
for colour, answer in zip(COLOURS * 9, answers, strict=False):
    if shown[answer.model]:
        for box in answer.boxes:
            x, y, w, h = (round(number) for number in box.box)
            cv2.rectangle(image, (x, y), (x + w, y + h), colour, 4)
st.image(image, width="stretch")
st.html(f'<i id="shown" data-case="{number}"></i>')
