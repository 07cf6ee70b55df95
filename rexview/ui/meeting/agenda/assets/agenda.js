// The agenda of a meeting: its cases in order, by drag or keys, with sections, minutes, private notes.
//
// Changes are sent by the outbox at once. The page looks every few seconds for others' changes; a
// row
// that is being typed in or dragged is left alone.

import { button, every, html, set } from "../../../web/components/dom.js";
import { TYPING } from "../../../web/components/key_guards.js";
import { mounting } from "../../../web/components/mount.js";
import { tr } from "../../../web/components/words.js";
import { outbox } from "../../../web/saving/assets/outbox.js";
import { OutboxView } from "../../../web/saving/assets/outbox_view.js";
import { ScorerLine } from "../../../web/saving/assets/scorer.js";
import { TypedText } from "../../../web/saving/assets/typed_text.js";
import { followLink } from "../../../web/streamlit_adapter/in_app.js";
import { Standing } from "../../assets/standing.js";
import { inOrder, placesFor } from "./order.js";
import { Row } from "./row.js";
import { totalOf } from "./total.js";

const NEW_SECTION = tr("New section");

export class Agenda extends OutboxView {
  constructor(/** @type {HTMLElement} */ place) {
    const typing = () => Boolean(this.root?.contains(document.activeElement?.closest(TYPING)));
    super(
      place,
      { class: "rx-agenda" },
      {
        heard: (reply, batch) => this.heard(reply, batch),
        busy: typing,
        leave: () => this.giveAll(),
      },
    );
    this.items = new Standing("agenda");
    this.notes = new Standing("presenter_note");
    /** @type {Map<string, Row>} */
    this.rows = new Map();
    /** Headings by the first case of their section. */
    this.headings = new Map();
    this.dragged = null;
    this.taken = null; // the last removed case, which can be restored
    this.total = html("p", { class: "total" });
    this.scorer = new ScorerLine(tr("Writing as {name}"));
    this.saved = html("p", { class: "saved", role: "status" });
    this.notice = html("div", { class: "notice", role: "alert" });
    this.list = html("ol", {});
    const head = html("header", {}, this.total, this.saved, this.scorer.node);
    this.root.append(head, this.notice, this.list);
    this.root.addEventListener("click", followLink);
    this.abort = new AbortController();
    window.addEventListener("pagehide", () => this.giveAll(), { signal: this.abort.signal });
  }

  close() {
    this.giveAll();
    this.abort.abort();
    super.close();
  }

  update(data, tell) {
    if (data.meeting !== this.items.meeting) {
      this.giveAll();
      this.rows.clear();
      this.headings.clear();
      this.taken = null;
    }
    outbox.configure(data.outbox); // whose entries wait is known before they are looked at
    this.items.update(data.meeting, data.items, data.revision);
    this.notes.update(data.meeting, data.notes, data.revision);
    super.update(data, tell);
  }

  heard(reply, batch) {
    this.items.heard(reply, batch);
    this.notes.heard(reply, batch);
    const ours = batch.some(({ subject }) => subject === this.items.meeting);
    if (ours) this.tell("refresh", Date.now()); // notes on cases may have changed
  }

  giveAll() {
    for (const { typed } of [...this.rows.values(), ...this.headings.values()]) typed.commit();
  }

  // ---- actions ----

  change(name, /** @type {Record<string, any>} */ fields) {
    this.changeAll([[name, fields]]);
  }

  changeAll(/** @type {Iterable<[string, Record<string, any>]>} */ changes) {
    for (const [name, fields] of changes) {
      const stands = this.items.value(name);
      if (stands) this.items.put(name, { ...stands, ...fields });
    }
    this.draw();
  }

  takeOff(name) {
    const value = this.items.value(name);
    this.rows.get(name)?.typed.commit();
    this.taken = { name, value };
    this.items.put(name, null);
    this.draw();
  }

  putBack() {
    const { name, value } = this.taken;
    this.taken = null;
    this.items.put(name, value);
    this.draw();
    this.rows.get(name)?.handle.focus();
  }

  /** Start a section with a case; the following cases of its section move along. */
  beginSection(name) {
    const run = this.runOf(name);
    const used = new Set(this.items.all().map(([, { section }]) => section));
    let section = NEW_SECTION;
    for (let n = 2; used.has(section); n += 1) section = `${NEW_SECTION} ${n}`;
    this.changeAll(run.slice(run.indexOf(name)).map((one) => [one, { section }]));
    this.headings.get(name)?.field.select();
  }

  rename(name, section) {
    this.changeAll(this.runOf(name).map((one) => [one, { section: section.trim() || null }]));
  }

  /** The cases of the same section. */
  runOf(name) {
    const runs = [];
    for (const [one, { section }] of inOrder(this.items.all())) {
      const last = runs.at(-1);
      if (last && last.section === (section ?? "")) last.cases.push(one);
      else runs.push({ section: section ?? "", cases: [one] });
    }
    return runs.find((run) => run.cases.includes(name))?.cases ?? [];
  }

  // ---- order ----

  /** Move a row by keys or buttons: also over a heading, into the section above or below. */
  step(/** @type {Row} */ row, by, pressed = row.handle) {
    const lines = [...this.list.children];
    const at = lines.indexOf(row.node);
    const to = Math.min(Math.max(at + by, 0), lines.length - 1);
    if (to === at) return;
    this.list.insertBefore(row.node, to > at ? lines[to].nextSibling : lines[to]);
    this.moved(row);
    pressed.focus();
    row.node.scrollIntoView({ block: "nearest" });
  }

  drag(event, /** @type {Row} */ row) {
    if (event.button !== 0) return;
    event.preventDefault();
    row.handle.focus();
    this.dragged = row;
    set(row.node, { "data-dragged": true });
    const over = new AbortController();
    const end = (/** @type {boolean} */ counts) => {
      over.abort();
      set(row.node, { "data-dragged": false });
      this.dragged = null;
      if (counts) this.moved(row);
      else this.draw();
    };
    // on the document: moving its node would end a capture of the pointer
    const options = { signal: over.signal };
    document.addEventListener("pointermove", (move) => this.dragTo(row, move.clientY), options);
    document.addEventListener("pointerup", () => end(true), options);
    document.addEventListener("pointercancel", () => end(false), options);
    document.addEventListener(
      "keydown",
      (key) => {
        if (key.key === "Escape") end(false);
      },
      options,
    );
  }

  dragTo(/** @type {Row} */ row, /** @type {number} */ y) {
    const middle = (line) => {
      const { top, height } = line.getBoundingClientRect();
      return top + height / 2;
    };
    const others = [...this.list.children].filter((line) => line !== row.node);
    const after = others.find((line) => middle(line) > y) ?? null;
    if (after === row.node.nextSibling) return;
    this.list.insertBefore(row.node, after);
    row.node.scrollIntoView({ block: "nearest" });
  }

  /** A row was dropped: derive its place and section. */
  moved(/** @type {Row} */ row) {
    const order = every("[data-case]", this.list).map((line) => line.dataset.case);
    const places = placesFor(order, row.name, (name) => this.items.value(name)?.place ?? 0);
    let line = row.node.previousElementSibling;
    while (line && !line.hasAttribute("data-section")) line = line.previousElementSibling;
    const section = line?.getAttribute("data-section") || null;
    const before = inOrder(this.items.all()).map(([name]) => name);
    const stays = before.every((name, index) => name === order[index]);
    /** @type {Map<string, Record<string, any>>} */
    const changes = new Map(stays ? [] : [...places].map(([name, place]) => [name, { place }]));
    changes.set(row.name, { ...changes.get(row.name), section });
    this.changeAll(changes);
  }

  // ---- drawing ----

  draw() {
    if (this.dragged) return;
    const { data } = this;
    const lines = [];
    let section = "";
    const ordered = inOrder(this.items.all());
    for (const [index, [name, value]] of ordered.entries()) {
      if ((value.section ?? "") !== section) {
        section = value.section ?? "";
        lines.push(this.heading(name, section));
      }
      if (!this.rows.has(name)) this.rows.set(name, new Row(this, name));
      const row = this.rows.get(name);
      const { mayEdit, mayNote } = data;
      const note = this.notes.value(name);
      row.update({ value, info: data.cases[name], note, number: index + 1, mayEdit, mayNote });
      lines.push(row.node);
    }
    if (lines.some((line, at) => line !== this.list.children[at]) || lines.length === 0) {
      const focused = /** @type {HTMLElement} */ (document.activeElement);
      const had = this.list.contains(focused);
      this.list.replaceChildren(...lines);
      if (had) focused.focus({ preventScroll: true });
    } else while (this.list.children.length > lines.length) this.list.lastChild.remove();
    this.drawTotal(ordered.map(([, value]) => value));
    this.scorer.draw(outbox.scorer);
    const status = outbox.status("agenda", "presenter_note", "meeting");
    this.saved.textContent = `${status.message} ${status.reason}`.trim();
    this.saved.hidden = status.state === "idle";
    this.notice.replaceChildren(...this.noticeNodes());
  }

  heading(first, section) {
    if (!this.headings.has(first)) {
      const field = html("input", {
        "aria-label": tr("Section"),
        placeholder: tr("Without a section"),
        maxlength: 200,
        onkeydown: (event) => event.key === "Enter" && field.blur(),
      });
      const typed = new TypedText(
        field,
        () => `section/${this.items.meeting}/${first}`,
        (text) => this.rename(first, text),
      );
      this.headings.set(first, { field, typed, node: html("li", { class: "section" }, field) });
    }
    const { field, typed, node } = this.headings.get(first);
    typed.fill(section);
    field.disabled = !this.data.mayEdit;
    set(node, { "data-section": section });
    return node;
  }

  drawTotal(values) {
    const { words, over } = totalOf(values, this.data.minutes);
    this.total.textContent = words;
    set(this.total, { "data-over": over });
  }

  noticeNodes() {
    const nodes = [];
    for (const standing of [this.items, this.notes]) {
      for (const [, one] of standing.returned()) {
        const said = standing === this.notes ? ` “${one.value.text}”` : "";
        const again = () => {
          standing.put(one.case, one.value);
          this.draw();
        };
        const away = () => {
          standing.putAway(one.case);
          this.draw();
        };
        nodes.push(
          html("p", {}, `${one.case}: ${tr("not saved.")} ${one.reason}${said} `),
          button(tr("Enter it again"), again),
          button(tr("Dismiss"), away),
        );
      }
      if (standing.problem && nodes.length === 0) nodes.push(html("p", {}, standing.problem));
    }
    if (this.taken) {
      nodes.push(
        html(
          "p",
          { class: "quiet" },
          `${tr("{case} is off the agenda.", { case: this.taken.name })} `,
        ),
        button(tr("Undo"), () => this.putBack()),
      );
    }
    return nodes;
  }
}

export const mount = mounting((place) => new Agenda(place));
