"""The picture in the browser against the picture that Python makes of the same file."""

from __future__ import annotations

import base64
import warnings
from pathlib import Path

import numpy as np
import pydicom.data
import pytest
from support.browser.viewer_modules import call, serve_modules
from support.browser.waiting import PATIENCE_MS

from rexview import imaging
from rexview.errors import ImageError

pytestmark = pytest.mark.browser
CORPUS = sorted(Path(pydicom.data.__file__).parent.joinpath("test_files").glob("*.dcm"))
PAINT = """
const { pyramid } = await import('pyramid.js');
const { Painter } = await import('painter.js');
const { Projection, FITTED } = await import('geometry.js');
const { presetWindow } = await import('windowing.js');
const parts = m.unpack(await (await fetch('/pixels')).arrayBuffer());
const header = { ...parts.header, aspect: 1 };
const canvas = document.createElement('canvas');
const port = { width: header.width, height: header.height };
const painter = new Painter(canvas);
painter.resize(port, 1);
const projection = new Projection(header, port, FITTED);
const window = presetWindow(header, header.initial);
painter.paint(pyramid(header, parts.codes), projection, window, false, 1);
const { data } = canvas.getContext('2d').getImageData(0, 0, header.width, header.height);
let text = '';
for (let i = 0; i < data.length; i += 30000) {
  text += String.fromCharCode(...data.subarray(i, i + 30000));
}
return btoa(text);
"""


@pytest.fixture(scope="module")
def painted(browser):
    """Return a function from a payload to the canvas, (rows, columns, 3) uint8."""
    context = browser.new_context()
    page = context.new_page()
    page.set_default_timeout(PATIENCE_MS)
    files = {}
    serve_modules(page, files)

    def paint(payload):
        files["pixels"] = payload.framed
        data = np.frombuffer(base64.b64decode(call(page, "payload.js", PAINT)), np.uint8)
        header = payload.header
        return data.reshape(header["height"], header["width"], 4)[..., :3]

    yield paint
    context.close()


def expected(path, header):
    """Return what Python shows of the file with the window that the viewer starts with."""
    auto = header["presets"] and header["presets"][header["initial"]]["name"] == "Auto"
    picture = imaging.render_display(imaging.read_image(path), "auto" if auto else "file")
    return picture if picture.ndim == 3 else np.repeat(picture[..., None], 3, axis=2)


def test_every_readable_file_looks_the_same(painted, tmp_path):
    cache = imaging.DiskCache(tmp_path, 10**9)
    different, seen = [], 0
    for path in CORPUS:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # these files are there to be odd
            try:
                payload = imaging.viewer_payload(path, cache)
                wanted = expected(path, payload.header)
            except ImageError:
                continue
        seen += 1
        if not np.array_equal(painted(payload), wanted):
            different.append(path.name)
    assert not different
    assert seen > 40
