// Pins cases to the agenda of a meeting: a button on each card, or one for the shown case, and a
// key.
// Pressed once more, it removes the case.

import { turning } from "../../../turning/assets/turning.js";
import { icon } from "../../../viewer/assets/controls/icons.js";
import { button, every, html, set, whenPageChanges } from "../../../web/components/dom.js";
import { dialogIsOpen, isPlain, TYPING } from "../../../web/components/key_guards.js";
import { mounting } from "../../../web/components/mount.js";
import { tr } from "../../../web/components/words.js";
import { OutboxView } from "../../../web/saving/assets/outbox_view.js";
import { Standing } from "../../assets/standing.js";

const KEY = "M"; // with Shift: without it, it measures
const NONE = tr("No meeting is planned yet. Begin one under “Meeting…”.");

/** The label of a button: {@link name} is that of the meeting, if there is one. */
function pinWords(/** @type {string | undefined} */ name, pinned, saved) {
  if (name === undefined) return tr("Pin for a meeting");
  if (!pinned) return tr("Pin for “{name}”", { name });
  return saved
    ? tr("Pinned to “{name}”", { name })
    : tr("Pinned, but not saved yet, to “{name}”", { name });
}

class Pins extends OutboxView {
  constructor(/** @type {HTMLElement} */ place) {
    super(place, { class: "rx-pins" }, { heard: (reply, batch) => this.heard(reply, batch) });
    this.agenda = new Standing("agenda");
    /** The values of cases that were removed here: restored with them. */
    this.before = new Map();
    this.said = "";
    this.own = button(null, null, { class: "rx-pin rx-pin-case", "data-rx-pin": "" });
    this.status = html("span", { role: "status" });
    this.root.append(this.own, this.status);
    const abort = new AbortController();
    document.addEventListener("click", (event) => this.clicked(event), {
      signal: abort.signal,
      capture: true, // before the card's link is followed
    });
    document.addEventListener("keydown", (event) => this.pressed(event), { signal: abort.signal });
    const unturn = turning.listen({ show: () => this.turned() });
    const ignore = whenPageChanges(() => this.mark());
    this.end = () => {
      abort.abort();
      unturn();
      ignore();
    };
  }

  close() {
    this.end();
    super.close();
  }

  update(data, tell) {
    const { meeting, pinned, revision } = data;
    if (meeting?.id !== this.agenda.meeting) this.before.clear();
    if (data.case !== this.data?.case || meeting?.id !== this.agenda.meeting) this.said = "";
    this.agenda.update(meeting?.id ?? null, pinned, revision);
    super.update(data, tell);
  }

  heard(reply, batch) {
    this.agenda.heard(reply, batch);
    if (this.agenda.problem) this.said = "";
  }

  turned() {
    this.said = "";
    if (this.data) this.draw();
  }

  /** The case that the key applies to: the shown one, or that of the card in focus. */
  get inHand() {
    if (this.data.case !== null) return turning.shown ?? this.data.case;
    const card = document.activeElement?.closest(".rx-card-place");
    return card?.querySelector("[data-rx-pin]")?.getAttribute("data-rx-pin") ?? null;
  }

  clicked(event) {
    const pressed = event.target.closest?.("[data-rx-pin]");
    if (!pressed || !this.data) return;
    event.preventDefault();
    event.stopPropagation();
    this.toggle(pressed === this.own ? this.inHand : pressed.dataset.rxPin);
  }

  pressed(event) {
    if (event.key !== KEY || !this.data || !isPlain(event) || event.repeat) return;
    const [target] = event.composedPath();
    if ((target instanceof Element && target.closest(TYPING)) || dialogIsOpen()) return;
    const name = this.inHand;
    if (name === null || turning.waits) return;
    event.preventDefault();
    this.toggle(name);
  }

  toggle(name) {
    const { meeting, last, foundBy } = this.data;
    if (meeting === null) {
      this.said = NONE;
      return this.draw();
    }
    const stands = this.agenda.value(name);
    if (stands) this.before.set(name, stands);
    const places = this.agenda.all().map(([, value]) => value.place ?? 0);
    const place = Math.max(last, ...places) + 1;
    const fresh = { place, section: null, minutes: null, found_by: foundBy };
    this.agenda.put(name, stands ? null : (this.before.get(name) ?? fresh));
    this.said = stands ? tr("Removed from “{name}”.", { name: meeting.name }) : "";
    return this.draw();
  }

  draw() {
    const { meeting, case: of } = this.data;
    const [, refused] = this.agenda.returned().at(-1) ?? [];
    const problem = refused
      ? tr("{case} is not pinned: {reason}", { case: refused.case, reason: refused.reason })
      : this.agenda.problem;
    const away = button(tr("Dismiss"), () => {
      this.agenda.putAway();
      this.draw();
    });
    this.own.hidden = of === null;
    this.own.dataset.rxPin = of === null ? "" : (turning.shown ?? of);
    // if cards show it, only errors need a message
    const said = of === null && meeting !== null ? "" : this.said;
    this.status.replaceChildren(problem ?? said, ...(problem ? [" ", away] : []));
    this.root.toggleAttribute("data-rx-problem", Boolean(problem));
    this.mark();
  }

  /** Show on every button whether its case is on the agenda. */
  mark() {
    if (!this.data) return;
    const { meeting } = this.data;
    for (const one of every("[data-rx-pin]")) {
      const pinned = meeting !== null && this.agenda.value(one.dataset.rxPin) !== null;
      const saved = !pinned || this.agenda.isSaved(one.dataset.rxPin);
      const words = pinWords(meeting?.name, pinned, saved);
      const state = `${pinned}/${words}`;
      if (one.dataset.rxState === state) continue;
      one.dataset.rxState = state;
      const key = one === this.own ? ` (${tr("Shift + M")})` : "";
      set(one, {
        "aria-pressed": String(pinned),
        "aria-label": `${words}: ${one.dataset.rxPin}`,
        title: `${words}${pinned ? `; ${tr("press to remove it")}` : ""}${key}`,
      });
      one.replaceChildren(icon("pin"));
    }
  }
}

export const mount = mounting((place) => new Pins(place));
