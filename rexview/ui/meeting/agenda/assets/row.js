// One case of an agenda: its place, notes on the case, minutes, private notes.

import { button, html, set } from "../../../web/components/dom.js";
import { tr } from "../../../web/components/words.js";
import { TypedText } from "../../../web/saving/assets/typed_text.js";

/** @import { Agenda } from "./agenda.js" */

const PAUSE_MS = 2000; // without a key: then the typed text becomes an entry
const STEPS = { ArrowUp: -1, ArrowDown: 1, Home: -Infinity, End: Infinity };

export class Row {
  constructor(/** @type {Agenda} */ agenda, /** @type {string} */ name) {
    this.agenda = agenda;
    this.name = name;
    this.number = html("span", { class: "number" });
    this.handle = button("⠿", null, {
      class: "handle",
      "aria-label": tr("Move {case}", { case: name }),
      title: tr("Drag, or press the arrow keys, Home or End"),
      onpointerdown: (event) => this.agenda.drag(event, this),
      onkeydown: (event) => this.keyed(event),
    });
    const mover = (words, label, by) => {
      const one = button(words, () => agenda.step(this, by, one), { "aria-label": label });
      return one;
    };
    this.up = mover("↑", tr("Move {case} up", { case: name }), -1);
    this.down = mover("↓", tr("Move {case} down", { case: name }), 1);
    this.picture = html("img", { alt: "", loading: "lazy", decoding: "async", hidden: true });
    this.link = html("a", { "data-rx-page": true }, name);
    this.question = html("p", { class: "question" });
    this.headline = html("p", { class: "headline" });
    this.known = html("ul", { class: "known" });
    this.minutes = html("input", {
      type: "number",
      min: 0,
      max: 1000,
      step: 1,
      "aria-label": tr("Minutes expected for {case}", { case: name }),
      placeholder: "–",
      onchange: () => this.giveMinutes(),
    });
    this.section = button(tr("Section"), () => agenda.beginSection(name), {
      title: tr("Begin a section here"),
    });
    this.off = button("✕", () => agenda.takeOff(name), {
      "aria-label": tr("Remove {case} from the agenda", { case: name }),
      title: tr("Remove from the agenda"),
    });
    this.note = html("textarea", {
      rows: 1,
      maxlength: 20000,
      "aria-label": tr("Your notes on {case}", { case: name }),
      placeholder: tr("Your notes: nobody else sees them"),
    });
    this.typed = new TypedText(
      this.note,
      () => `presenter_note/${agenda.notes.meeting}/${name}`,
      (text) => this.#giveNote(text.trimEnd()),
      { pauseMs: PAUSE_MS },
    );
    this.tools = html("div", { class: "tools" }, this.up, this.down, this.section, this.off);
    this.node = html(
      "li",
      { class: "case", "data-case": name },
      html("div", { class: "grip" }, this.handle, this.number),
      html("div", { class: "picture" }, this.picture),
      html("div", { class: "what" }, this.link, this.headline, this.question, this.known),
      html("label", { class: "minutes" }, this.minutes, ` ${tr("min")}`),
      this.tools,
      this.note,
    );
  }

  /** Show the stored values; fields in use are left alone. */
  update({ value, info, note, number, mayEdit, mayNote }) {
    this.number.textContent = String(number);
    set(this.link, { href: info?.href });
    this.question.textContent = info?.asked ?? "";
    this.headline.textContent = info?.headline?.words ?? "";
    set(this.headline, { "data-harm": info?.headline?.harm ?? null });
    if (info?.picture && this.picture.hidden) set(this.picture, { src: info.picture });
    this.picture.hidden = !info?.picture;
    const lines = (info?.known ?? []).map(({ words, warns }) =>
      html("li", { class: warns && "warns" }, words),
    );
    const { found } = info ?? {};
    if (found) {
      lines.push(
        html(
          "li",
          {},
          `${tr("From")} `,
          html("a", { href: found.href, "data-rx-page": true }, found.words),
        ),
      );
    }
    this.known.replaceChildren(...lines);
    const focused = document.activeElement;
    if (focused !== this.minutes) this.minutes.value = value.minutes ?? "";
    this.typed.fill(note?.text ?? "");
    for (const one of [this.handle, this.up, this.down, this.section, this.off])
      one.hidden = !mayEdit;
    this.minutes.disabled = !mayEdit;
    this.note.hidden = !mayNote;
  }

  keyed(event) {
    const by = STEPS[event.key];
    if (by === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    this.agenda.step(this, by);
  }

  giveMinutes() {
    const given = this.minutes.value === "" ? null : Number(this.minutes.value);
    const fits = given === null || (given >= 0 && given <= 1000);
    if (fits) this.agenda.change(this.name, { minutes: given });
    else this.minutes.value = this.agenda.items.value(this.name)?.minutes ?? "";
  }

  #giveNote(/** @type {string} */ text) {
    this.agenda.notes.put(this.name, text ? { text } : null);
    this.agenda.draw();
  }
}
