// Findings in the page and their boxes light each other.
//
// Anything on the page that carries `data-rx-finding="KEY"`, or links to "#finding-KEY", belongs to
// the boxes whose `finding` is KEY; either may name several keys, parted by spaces. Pointing at it or
// focusing it lights those boxes and marks the other words of those findings with `data-rx-lit`;
// pointing at a box marks its words. The page may also say it directly: dispatch `rexview:light` on
// window with detail {findings: [KEY]} or {boxes: [id]}, or detail null to end; or
// `rexview:evidence` with {flags: [key], pinned: key or null}: lights the boxes that carry these
// flags, and keeps those of the pinned one lit, with their group shown, until another is.

const ANCHOR = "#finding-";
const SELECTOR = `[data-rx-finding], a[href^="${ANCHOR}"]`;

function findingsOf(element) {
  const { rxFinding } = element.dataset;
  return rxFinding
    ? split(rxFinding)
    : [decodeURIComponent(element.getAttribute("href").slice(ANCHOR.length))];
}

function split(keys) {
  return (keys ?? "").split(" ").filter(Boolean);
}

function shows(box, findings) {
  return split(box.finding).some((key) => findings.has(key));
}

export class Linking {
  /** @param {object} groups the viewer's: what lights boxes and keeps them lit */
  constructor(groups) {
    this.groups = groups;
    this.light = (isLit) => groups.lightWhere(isLit);
    this.marked = [];
    this.abort = new AbortController();
    const { signal } = this.abort;
    for (const [starts, ends] of [
      ["pointerover", "pointerout"],
      ["focusin", "focusout"],
    ]) {
      document.addEventListener(starts, (event) => this.#start(event), { signal });
      document.addEventListener(ends, (event) => this.#end(event), { signal });
    }
    document.addEventListener("click", (event) => this.#click(event), { signal, capture: true });
    window.addEventListener("rexview:light", (event) => this.#said(event.detail), { signal });
    window.addEventListener("rexview:evidence", (event) => this.#shown(event.detail), { signal });
  }

  close() {
    this.mark([]);
    this.abort.abort();
  }

  #findings(event) {
    const element = event.target instanceof Element ? event.target.closest(SELECTOR) : null;
    return element ? new Set(findingsOf(element)) : null;
  }

  #start(event) {
    const findings = this.#findings(event);
    if (findings === null) return;
    this.light((box) => shows(box, findings));
    this.#markWords(findings);
  }

  #end(event) {
    if (this.#findings(event) === null) return;
    this.light(null);
    this.#markWords(new Set());
  }

  /** A click on such a link stays on the page and keeps the address. */
  #click(event) {
    const link =
      event.target instanceof Element ? event.target.closest(`a[href^="${ANCHOR}"]`) : null;
    if (link) event.preventDefault();
  }

  #said(detail) {
    const { findings = [], boxes = [] } = detail ?? {};
    const any = findings.length > 0 || boxes.length > 0;
    const named = new Set(findings);
    this.light(any ? (box) => boxes.includes(box.id) || shows(box, named) : null);
  }

  #shown({ flags, pinned }) {
    const carries = (keys) => (box) => (box.flags ?? []).some((key) => keys.includes(key));
    this.groups.pin(pinned, pinned ? carries([pinned]) : null);
    this.light(flags.length > 0 ? carries(flags) : null);
  }

  /** Mark the words on the page that belong to these boxes. */
  mark(boxes) {
    this.#markWords(new Set(boxes.flatMap((box) => split(box.finding))));
  }

  #markWords(findings) {
    for (const element of this.marked) delete element.dataset.rxLit;
    const all = findings.size === 0 ? [] : [...document.querySelectorAll(SELECTOR)];
    this.marked = all.filter((one) => findingsOf(one).some((key) => findings.has(key)));
    for (const element of this.marked) element.dataset.rxLit = "";
  }
}
