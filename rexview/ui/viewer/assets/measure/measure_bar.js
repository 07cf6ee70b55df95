// The line below the tools during a measurement: the next step, the result, the meaning of the
// lengths,
// and a known length for calibration. Its height is fixed, so that the image stays in place.

import { button, html } from "../../../web/components/dom.js";
import { tr } from "../../../web/components/words.js";
import { keepScale, lengthNote, readLength, scaleOf } from "./lengths.js";

/** @import { Viewer } from "../viewer.js" */

const WHERE = {
  true: tr("Kept in this browser, for this image."),
  false: tr("Kept until the page is closed."),
};

export class MeasureBar {
  constructor(/** @type {Viewer} */ viewer) {
    this.viewer = viewer;
    this.step = null; // "draw", "replace" or "length"; of the view with the key `of`
    this.lasting = true;
    this.hint = html("div", { class: "hint", role: "status" });
    this.note = html("div", { class: "note" });
    this.known = button(tr("Known length…"), () => this.ask(), {
      title: tr("Calibrate with a line of known length (z)"),
    });
    this.remove = button(tr("Remove calibration"), () => this.#keep(null), {
      title: tr("Use the file's calibration again"),
    });
    this.go = button(tr("Replace"), () => this.#length(), {
      title: tr("Calibrate by hand in place of what the file says"),
    });
    this.stay = button(tr("Keep the file’s"), () => this.cancel(), {
      title: tr("Do not calibrate by hand"),
    });
    this.input = html("input", {
      type: "text",
      inputmode: "decimal",
      autocomplete: "off",
      "aria-label": tr("Length of the line in mm"),
      oninput: () => this.#tell(""),
    });
    this.form = html(
      "form",
      { hidden: true, onsubmit: (event) => this.#submit(event) },
      html("span", {}, tr("The line is")),
      this.input,
      html("span", {}, "mm"),
      html("button", { type: "submit" }, tr("Calibrate")),
      button(tr("Cancel"), () => this.cancel(), { title: tr("Keep it unchanged (Esc)") }),
    );
    this.problem = html("div", { class: "problem", role: "alert" });
    this.node = html(
      "div",
      { class: "measuring", role: "group", "aria-label": tr("Measuring"), hidden: true },
      html("div", { class: "now" }, this.hint, this.form),
      html("div", { class: "acts" }, this.go, this.stay, this.known, this.remove),
      html("div", { class: "below" }, this.note, this.problem),
    );
  }

  get #measures() {
    const pane = this.viewer.activePane;
    return pane?.raster ? pane.measures : null;
  }

  /** Whether Escape ends a question here. */
  get asking() {
    return this.step !== null;
  }

  cancel() {
    this.step = null;
    this.#tell("");
    this.viewer.changed();
    this.viewer.activePane?.node.focus({ preventScroll: true });
  }

  /** Start a calibration with a known length. */
  ask() {
    const measures = this.#measures;
    if (!measures) return;
    this.of = measures.key;
    this.#tell("");
    if (!measures.ruler) {
      this.step = "draw";
      this.viewer.tools.choose("ruler");
      return;
    }
    if (measures.original.spacing && measures.header === measures.original) {
      this.step = "replace";
      this.viewer.changed();
      this.refresh();
      this.go.focus({ preventScroll: true });
    } else this.#length();
  }

  /** A line was drawn: continue if it was to be the known length. */
  drawn() {
    if (this.step === "draw" && this.#measures?.ruler) this.ask();
  }

  #length() {
    this.step = "length";
    this.input.value = "";
    this.refresh();
    this.input.focus({ preventScroll: true });
    this.viewer.changed();
  }

  #submit(event) {
    event.preventDefault();
    const measures = this.#measures;
    const read = readLength(this.input.value);
    const scale = read.problem ? read : scaleOf(measures.header, measures.ruler.ends, read.mm);
    if (scale.problem) {
      this.#tell(scale.problem);
      this.input.focus();
      return;
    }
    this.#keep(scale);
  }

  #keep(scale) {
    const measures = this.#measures;
    if (!measures) return;
    this.lasting = keepScale(measures.key, scale);
    measures.rescale();
    this.viewer.announce(scale ? tr("Calibrated by hand") : tr("Calibration removed"));
    this.cancel();
  }

  #tell(problem) {
    this.problem.textContent = problem;
    this.note.hidden = problem !== "";
  }

  /** Update it from the active pane. */
  refresh() {
    const { viewer } = this;
    const measures = this.#measures;
    if (this.step && (!measures || measures.key !== this.of)) this.step = null;
    if (this.step === "length" && !measures.ruler) this.step = "draw";
    const shown =
      measures !== null && (viewer.tools.isMeasuring || !measures.isEmpty || this.asking);
    this.node.hidden = !shown;
    if (!shown) return;
    const byHand = measures.header !== measures.original;
    write(this.hint, this.#instruction(measures));
    write(this.note, this.#meaning(measures, byHand));
    this.form.hidden = this.step !== "length";
    this.hint.hidden = !this.form.hidden;
    this.note.hidden = this.problem.textContent !== "";
    this.go.hidden = this.step !== "replace";
    this.stay.hidden = this.go.hidden;
    this.known.hidden = this.asking || viewer.tool === "ratio";
    this.remove.hidden = this.asking || !byHand;
  }

  #instruction(measures) {
    const { view } = this.viewer.activePane;
    if (this.step === "replace") return tr("The file gives its size. Calibrate by hand instead?");
    if (this.step === "draw")
      return tr("Draw a line along a known length, then press “Known length…”.");
    const measured = measures.ratio()?.ratio;
    if (!measured) return this.viewer.tools.hint;
    const ratio = measured.toFixed(2);
    return view.word === "AP"
      ? tr("CTR {ratio} (AP: the heart looks larger)", { ratio })
      : tr("CTR {ratio}", { ratio });
  }

  #meaning(measures, byHand) {
    const note = lengthNote(measures.header);
    return byHand
      ? `${tr("Lengths: {note}.", { note })} ${WHERE[this.lasting]}`
      : tr("Lengths: {note}", { note });
  }
}

function write(node, content) {
  if (node.textContent === content) return;
  node.textContent = content;
  node.title = content;
}
