// A window for the presenter alone: own notes, time, the next case, a small image. The projected
// window
// creates and draws it, so it always shows that meeting.

import { html } from "../../../web/components/dom.js";
import { tr } from "../../../web/components/words.js";
import { minutes } from "./timer.js";

/** @import { Presenting } from "./presenting.js" */

const STYLE = `
  body { margin: 0; padding: 16px 20px; background: #14191d; color: #f0f3f5; font: 20px/1.4 system-ui, sans-serif; }
  h1 { margin: 0; font-size: 22px; }
  .time { font-size: 44px; font-weight: 700; font-variant-numeric: tabular-nums; }
  .time[data-over] { color: #ffb454; }
  .notes { white-space: pre-wrap; overflow-wrap: anywhere; font-size: 24px; margin: 12px 0; }
  .quiet { color: #aab5bc; }
  .top { display: flex; gap: 20px; align-items: flex-start; justify-content: space-between; }
  canvas { max-width: 40vw; max-height: 42vh; background: #000; }
`;
const FILM_PX = 420;

export class NotesWindow {
  constructor(/** @type {Presenting} */ presenting) {
    this.presenting = presenting;
    /** @type {Window | null} */
    this.window = null;
  }

  open() {
    if (this.window && !this.window.closed) {
      this.window.focus();
      return;
    }
    this.window = window.open("", "", "popup,width=900,height=620");
    if (!this.window) {
      this.presenting.say(tr("The browser blocked the new window."));
      return;
    }
    const { document: page } = this.window;
    page.title = tr("Notes");
    const sheet = new /** @type {any} */ (this.window).CSSStyleSheet();
    sheet.replaceSync(STYLE);
    page.adoptedStyleSheets = [sheet];
    this.title = html("h1");
    this.time = html("div", { class: "time" });
    this.steps = html("p", { class: "quiet" });
    this.notes = html("div", { class: "notes" });
    this.next = html("p", { class: "quiet" });
    this.canvas = html("canvas");
    const left = html("div", {}, this.title, this.time, this.steps);
    page.body.replaceChildren(
      html("div", { class: "top" }, left, this.canvas),
      this.notes,
      this.next,
    );
    this.window.addEventListener("keydown", (event) => this.presenting.key(event));
    this.refresh();
    this.tick();
    this.mirror();
  }

  close() {
    this.window?.close();
  }

  get #isOpen() {
    return this.window !== null && !this.window.closed;
  }

  /** Another case or step is shown. */
  refresh() {
    if (!this.#isOpen) return;
    const { data, at, content } = this.presenting;
    const place = data.agenda.findIndex(({ case: id }) => id === at?.case);
    const [item, after] = [data.agenda[place], data.agenda[place + 1]];
    this.title.textContent = item
      ? tr("Case {n} of {total}: {case}", {
          n: place + 1,
          total: data.agenda.length,
          case: item.case,
        })
      : data.meeting.name;
    this.steps.textContent = (content?.steps ?? [])
      .map(([, name], step) => (step === at?.step ? `[${name}]` : name))
      .join(" › ");
    this.notes.textContent = item?.note || tr("No notes on this case.");
    this.next.textContent = after
      ? tr("Next: {case}", {
          case: [after.case, after.section, after.note].filter(Boolean).join(" · "),
        })
      : tr("This is the last case.");
  }

  tick() {
    if (!this.#isOpen) return;
    const { data, at, timer } = this.presenting;
    const planned = data.agenda.find(({ case: id }) => id === at?.case)?.minutes ?? null;
    const { seconds } = timer;
    this.time.textContent =
      minutes(seconds) +
      (planned === null ? "" : ` / ${tr("{n} min", { n: planned })}`) +
      (timer.running ? "" : " ❚❚");
    this.time.toggleAttribute("data-over", planned !== null && seconds > planned * 60);
  }

  /** Draw the image as on the projector. */
  mirror() {
    const pane = this.presenting.film.viewer?.activePane;
    if (!this.#isOpen || !pane?.raster || pane.canvas.width === 0) return;
    const { canvas } = pane;
    const scale = Math.min(1, FILM_PX / Math.max(canvas.width, canvas.height));
    this.canvas.width = Math.round(canvas.width * scale);
    this.canvas.height = Math.round(canvas.height * scale);
    this.canvas.getContext("2d")?.drawImage(canvas, 0, 0, this.canvas.width, this.canvas.height);
  }
}
