// The commented words of an answer: found again in the text and marked, or selected on the page.

import { button, every, scrollWithin, whenPageChanges } from "../../web/components/dom.js";
import { tr } from "../../web/components/words.js";

const WORD = /[\p{L}\p{N}_]+/gu;
const TEXT = ":is(.rx-text, .rx-pad .text)"; // of an answer, on the Case page and on the score pad

/** An element's text and its words, each with its offsets. */
function wordsOf(element) {
  const nodes = [];
  let text = "";
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    nodes.push({ node: walker.currentNode, start: text.length });
    text += walker.currentNode.textContent;
  }
  const words = [...text.matchAll(WORD)].map((found) => ({
    text: found[0],
    start: found.index,
    end: found.index + found[0].length,
  }));
  return { nodes, text, words };
}

/** @returns {[node: Node, offset: number]} */
function pointAt({ nodes }, offset, atEnd) {
  const fits = (one) => (atEnd ? one.start < offset : one.start <= offset);
  const one = nodes.findLast(fits) ?? nodes[0];
  return [one.node, offset - one.start];
}

/** The range from one word to another. */
function rangeOf(read, first, last) {
  const range = document.createRange();
  range.setStart(...pointAt(read, first.start, false));
  range.setEnd(...pointAt(read, last.end, true));
  return range;
}

/** The range of the nth place with these words, null if there is none. */
function findWords(element, wanted, nth) {
  if (wanted.length === 0) return null;
  const read = wordsOf(element);
  let seen = 0;
  for (let at = 0; at + wanted.length <= read.words.length; at += 1) {
    if (!wanted.every((word, place) => read.words[at + place].text === word)) continue;
    if (seen === nth) return rangeOf(read, read.words[at], read.words[at + wanted.length - 1]);
    seen += 1;
  }
  return null;
}

/** The selection on the page as whole words of one answer, null if it is something else. */
function chosenWords() {
  const selection = window.getSelection();
  if (!selection || selection.isCollapsed || selection.rangeCount === 0) return null;
  const range = selection.getRangeAt(0);
  const { startContainer: node } = range;
  const element = node instanceof Element ? node : node.parentElement;
  /** @type {HTMLElement} */
  const answer = element?.closest("[data-rx-answer]");
  const body = answer?.querySelector(TEXT);
  if (!body?.contains(range.startContainer)) return null;
  const read = wordsOf(body);
  const touched = (word) => {
    const ofWord = rangeOf(read, word, word);
    return (
      range.compareBoundaryPoints(Range.END_TO_START, ofWord) < 0 &&
      range.compareBoundaryPoints(Range.START_TO_END, ofWord) > 0
    );
  };
  const first = read.words.findIndex(touched);
  if (first < 0) return null;
  const last = read.words.findLastIndex(touched);
  const quote = read.text.slice(read.words[first].start, read.words[last].end);
  return { key: answer.dataset.rxAnswer, quote, before: first, range };
}

/** An answer's text on the page. */
function textOf(key) {
  return every(`[data-rx-answer="${CSS.escape(key)}"] ${TEXT}`)[0];
}

/** Marks the words of comments, and offers to comment on selected ones. */
export class Quotes {
  /**
   * @param {object} on
   * @param {(spot: {key: string, quote: string, before: number}) => void} on.taken the offer was
   * accepted
   * @param {(id: string) => void} on.pressed the words of this comment were pressed
   */
  constructor({ taken, pressed }, /** @type {AbortSignal} */ signal) {
    this.comments = [];
    this.ranges = []; // {id, range} of the marked words
    this.mayWrite = false;
    this.offer = button(tr("Comment on this"), () => this.#take(taken), {
      class: "rx-c-offer",
      hidden: true,
      onpointerdown: (event) => event.preventDefault(),
    });
    document.addEventListener("selectionchange", () => this.#offerSoon(), { signal });
    document.addEventListener("click", (event) => this.#click(event, pressed), { signal });
    signal.addEventListener(
      "abort",
      whenPageChanges(() => this.#mark()),
    );
  }

  /** Set the comments of the case. */
  show(comments, mayWrite) {
    this.comments = comments;
    this.mayWrite = mayWrite;
    this.#mark();
  }

  #mark() {
    if (!CSS.highlights) return;
    this.ranges = [];
    for (const one of this.comments) {
      if (one.what !== "span" || one.replyTo || one.resolved || one.key === null) continue;
      const text = textOf(one.key);
      const range = text && findWords(text, one.words, one.nth);
      if (range) this.ranges.push({ id: one.id, range });
    }
    CSS.highlights.set("rx-commented", new Highlight(...this.ranges.map(({ range }) => range)));
  }

  #offerSoon() {
    clearTimeout(this.offering);
    this.offering = setTimeout(() => {
      this.chosen = this.mayWrite ? chosenWords() : null;
      this.offer.hidden = !this.chosen;
      if (!this.chosen) return;
      const edge = this.chosen.range.getBoundingClientRect();
      const top = Math.min(Math.max(edge.bottom + 6, 60), window.innerHeight - 44);
      const left = Math.min(Math.max(edge.left, 8), window.innerWidth - 150);
      this.offer.style.top = `${top}px`;
      this.offer.style.left = `${left}px`;
    }, 150);
  }

  #take(taken) {
    if (!this.chosen) return;
    const { key, quote, before } = this.chosen;
    window.getSelection()?.removeAllRanges();
    taken({ key, quote, before });
  }

  #click(event, pressed) {
    if (!event.target.closest?.(`[data-rx-answer] ${TEXT}`)) return;
    if (!window.getSelection()?.isCollapsed) return;
    const at = document.caretRangeFromPoint?.(event.clientX, event.clientY);
    const hit =
      at &&
      this.ranges.find(({ range }) => range.isPointInRange(at.startContainer, at.startOffset));
    if (hit) pressed(hit.id);
  }

  /** Scroll the page to the target of a comment. */
  goTo(one) {
    const text = one.key === null ? null : textOf(one.key);
    if (!text) return;
    text.closest("article")?.scrollIntoView({ block: "nearest", inline: "nearest" });
    const range = one.what === "span" ? findWords(text, one.words, one.nth) : null;
    if (range) scrollWithin(text, range);
  }
}
