// Findings in the page and their boxes light each other.
//
// Anything on the page that carries `data-rx-finding="KEY"`, or links to "#finding-KEY", belongs to
// the boxes whose `finding` is KEY. Pointing at it or focusing it lights those boxes and marks the
// other words of that finding with `data-rx-lit`; pointing at a box marks its words. The page may
// also say it directly: dispatch `rexview:light` on window with detail {findings: [KEY]} or
// {boxes: [id]}, or detail null to end.

const ANCHOR = "#finding-";
const SELECTOR = `[data-rx-finding], a[href^="${ANCHOR}"]`;

function findingOf(element) {
  if (element.dataset.rxFinding) return element.dataset.rxFinding;
  return decodeURIComponent(element.getAttribute("href").slice(ANCHOR.length));
}

export class Linking {
  /** @param {function} light called with a test for boxes, or null */
  constructor(light) {
    this.light = light;
    this.marked = [];
    this.abort = new AbortController();
    const { signal } = this.abort;
    for (const [starts, ends] of [["pointerover", "pointerout"], ["focusin", "focusout"]]) {
      document.addEventListener(starts, (event) => this.#start(event), { signal });
      document.addEventListener(ends, (event) => this.#end(event), { signal });
    }
    document.addEventListener("click", (event) => this.#click(event), { signal, capture: true });
    window.addEventListener("rexview:light", (event) => this.#said(event.detail), { signal });
  }

  close() {
    this.mark([]);
    this.abort.abort();
  }

  #finding(event) {
    const element = event.target instanceof Element ? event.target.closest(SELECTOR) : null;
    return element ? findingOf(element) : null;
  }

  #start(event) {
    const finding = this.#finding(event);
    if (finding === null) return;
    this.light((box) => box.finding === finding);
    this.#markWords(new Set([finding]));
  }

  #end(event) {
    if (this.#finding(event) === null) return;
    this.light(null);
    this.#markWords(new Set());
  }

  /** A click on such a link stays on the page and keeps the address. */
  #click(event) {
    const link = event.target instanceof Element ? event.target.closest(`a[href^="${ANCHOR}"]`) : null;
    if (link) event.preventDefault();
  }

  #said(detail) {
    const { findings = [], boxes = [] } = detail ?? {};
    const any = findings.length > 0 || boxes.length > 0;
    this.light(any ? (box) => boxes.includes(box.id) || findings.includes(box.finding) : null);
  }

  /** Mark the words on the page that belong to these boxes. */
  mark(boxes) {
    this.#markWords(new Set(boxes.map((box) => box.finding).filter(Boolean)));
  }

  #markWords(findings) {
    for (const element of this.marked) delete element.dataset.rxLit;
    const all = findings.size === 0 ? [] : [...document.querySelectorAll(SELECTOR)];
    this.marked = all.filter((one) => findings.has(findingOf(one)));
    for (const element of this.marked) element.dataset.rxLit = "";
  }
}
