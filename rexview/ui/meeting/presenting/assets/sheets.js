// Lists over the whole screen: the agenda, to go to a case, and the keys.

import { button, focusedElement, html, rootOf } from "../../../web/components/dom.js";
import { tr } from "../../../web/components/words.js";
import { ELSEWHERE, KEYS, PRESSABLE } from "./keys.js";
import { minutes } from "./timer.js";

/** @import { AgendaItem } from "./types.d.ts" */

/** @typedef {Pick<AgendaItem, "case" | "minutes" | "seconds" | "headline"> & { section?: string, place?: number }} Listed */

class Sheet {
  constructor(name) {
    this.content = html("div", { class: "content" });
    this.shut = button("✕", () => this.close(), { class: "shut", "aria-label": tr("Close") });
    this.node = html(
      "div",
      { class: "sheet", role: "dialog", "aria-label": name, hidden: true },
      html("header", {}, html("h2", {}, name), this.shut),
      this.content,
    );
    this.node.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" && !(event.key === "g" || event.key === "?")) return;
      event.stopPropagation();
      event.preventDefault();
      this.close();
    });
  }

  get isOpen() {
    return !this.node.hidden;
  }

  open() {
    this.before = /** @type {HTMLElement} */ (rootOf(this.node).activeElement);
    this.node.hidden = false;
    const chosen = this.node.querySelector("[aria-current]");
    /** @type {HTMLElement} */ (chosen ?? this.shut).focus();
  }

  close() {
    // a focused button would take the next press of the space bar; browsers remove the focus from
    // hidden
    // elements only at the next drawing
    if (this.before?.closest(PRESSABLE)) focusedElement()?.blur();
    else this.before?.focus?.({ preventScroll: true });
    this.node.hidden = true;
  }
}

export class CaseList extends Sheet {
  /**
   * @param {(id: string) => void} go
   * @param {() => void} ask requests the failures of the cases: they are sent with the agenda
   */
  constructor(go, ask) {
    super(tr("Cases"));
    this.go = go;
    this.ask = ask;
    this.tells = false; // failures
    this.told = html("div", { class: "told" });
    this.node.insertBefore(this.told, this.content);
  }

  /**
   * @param {Listed[]} agenda
   * @param {string} current
   * @param {Set<string>} shown
   * @param {boolean} leads
   */
  fill(agenda, current, shown, leads) {
    this.filled = { agenda, current, shown, leads };
    this.tells = false;
    this.#drawTold();
    this.#drawRows();
  }

  /** The agenda has more data than before. */
  renew(/** @type {Listed[]} */ agenda) {
    if (!this.filled?.leads) return;
    this.filled.agenda = agenda;
    if (!this.isOpen || !this.tells) return;
    this.#drawTold();
    this.#drawRows();
  }

  /** Failures are requested each time: a room may see the list. */
  #drawTold() {
    const leads = this.filled?.leads ?? false;
    this.told.hidden = !leads;
    if (!leads) return;
    const known = this.filled?.agenda.some(({ headline }) => headline !== undefined);
    if (this.tells)
      return this.told.replaceChildren(html("p", {}, known ? "" : tr("Loading failures…")));
    const tell = () => {
      this.tells = true;
      if (!known) this.ask();
      this.#drawTold();
      this.#drawRows();
      this.shut.focus();
    };
    this.told.replaceChildren(
      button(tr("Show what failed in each case"), tell),
      html("p", {}, tr("Everyone who sees this screen sees it, for later cases, too.")),
    );
  }

  #drawRows() {
    const { agenda, current, shown } = /** @type {any} */ (this.filled);
    const sections = [...new Set(agenda.map(({ section }) => section ?? ""))];
    this.content.replaceChildren(
      ...sections
        .flatMap((section) => [
          section ? html("h3", {}, section) : null,
          html(
            "ol",
            {},
            ...agenda.flatMap((item, place) =>
              (item.section ?? "") === section
                ? [this.#row(item, item.place ?? place + 1, current, shown)]
                : [],
            ),
          ),
        ])
        .filter(Boolean),
    );
  }

  #row(item, place, current, shown) {
    const planned = item.minutes === null ? "" : tr("{n} min", { n: item.minutes });
    const seen = shown.has(item.case) || item.seconds > 0 ? tr("shown") : "";
    const act = () => {
      this.close();
      this.go(item.case);
    };
    return html(
      "li",
      { value: place },
      button(
        [
          html("b", {}, String(place)),
          html("span", {}, item.case, this.tells ? headlineNode(item) : null),
          html(
            "small",
            {},
            [seen, item.seconds ? minutes(item.seconds) : "", planned].filter(Boolean).join(" · "),
          ),
        ],
        act,
        { "aria-current": item.case === current ? "true" : null },
      ),
    );
  }
}

/** The worst failure of a case. */
function headlineNode(/** @type {Listed} */ { headline }) {
  if (headline === undefined) return null;
  const words = headline?.words ?? tr("No failure found");
  return html("em", { "data-harm": headline?.harm ?? null }, words);
}

export class KeyList extends Sheet {
  /** @param {() => void} ofPicture opens the list of the viewer's own keys */
  constructor(ofPicture) {
    super(tr("Keys"));
    this.ofPicture = ofPicture;
  }

  fill(/** @type {boolean} */ leads) {
    const rows = KEYS.filter(([, , own]) => leads || !own).flatMap(([key, words]) => [
      html("dt", {}, html("kbd", {}, key)),
      html("dd", {}, words),
    ]);
    const picture = button(tr("Keys of the picture"), () => {
      this.close();
      this.ofPicture();
    });
    const elsewhere = html("p", { class: "elsewhere" }, ELSEWHERE);
    this.content.replaceChildren(html("dl", {}, ...rows), elsewhere, picture);
  }
}

export class JoinSheet extends Sheet {
  /** @param {() => { address: string }} ticket */
  constructor(ticket) {
    super(tr("Follow this meeting"));
    this.ticket = ticket;
  }

  async fill() {
    this.content.replaceChildren(html("p", {}, "…"));
    const app = document.baseURI.replace(/[?#].*/, "").replace(/[^/]*$/, "");
    const asked = new URL(`${this.ticket().address}/join`, document.baseURI);
    asked.searchParams.set("app", app);
    const answer = await fetch(asked).catch(() => null);
    const said = answer ? await answer.json().catch(() => ({})) : {};
    if (!answer?.ok) {
      const why = said.error ?? tr("The server cannot be reached.");
      this.content.replaceChildren(html("p", { role: "alert" }, why));
      return;
    }
    this.content.replaceChildren(
      html("p", {}, tr("Read the code with a phone, or type:")),
      html("p", { class: "typed" }, said.typed),
      html("img", { src: said.picture, alt: tr("Code that leads to {link}", { link: said.link }) }),
      said.elsewhere
        ? ""
        : html("p", {}, tr("This address works on this computer only (docs/team.md).")),
    );
  }
}
