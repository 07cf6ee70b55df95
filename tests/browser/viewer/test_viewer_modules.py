"""What of the viewer's modules needs a real browser: mounting, lost modules, and the worker.

The rest of these modules is tested in ``tests/javascript``.
"""

from __future__ import annotations

import pytest
from support.browser.viewer_modules import call, serve_modules

pytestmark = pytest.mark.browser

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


BACKGROUND = """
const frame = (side) => {
  const text = JSON.stringify({ width: side, height: side, format: 'u8', presets: [] }).padEnd(96);
  const body = new Uint8Array(8 + 96 + side * side);
  new DataView(body.buffer).setUint32(0, 0x31565852, true);
  new DataView(body.buffer).setUint32(4, 96, true);
  body.set(new TextEncoder().encode(text), 8);
  return body;
};
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


class TestBackground:
    @pytest.mark.parametrize("worker", ["begun", "lost"])
    def test_makes_the_same_as_the_page_would(self, modules, worker):
        same, cells, expected = call(
            modules,
            "background.js",
            BACKGROUND
            + """inBackground.worker = undefined;
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

    def test_says_why_there_is_no_image(self, modules):
        reason = call(
            modules,
            "background.js",
            BACKGROUND
            + """inBackground.worker = undefined;
                 const cut = film().slice(0, 500);
                 return inBackground.rasterOf(cut).catch(({ message }) => message);""",
        )
        assert "did not load completely" in reason
