// Words of an answer that a comment is on: found again in the text, or chosen on the page.

const WORD = /[\p{L}\p{N}_]+/gu;

/** The text of an element and its words, each with its offsets. */
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

/** The range of the nth place with these words, null when it is not there. */
export function findWords(element, wanted, nth) {
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

/** What is selected on the page as whole words of one answer, null when it is not that. */
export function chosenWords() {
  const selection = window.getSelection();
  if (!selection || selection.isCollapsed || selection.rangeCount === 0) return null;
  const range = selection.getRangeAt(0);
  const { startContainer: node } = range;
  const element = node instanceof Element ? node : node.parentElement;
  /** @type {HTMLElement} */
  const answer = element?.closest("[data-rx-answer]");
  const body = answer?.querySelector(".rx-text");
  if (!body?.contains(range.startContainer)) return null;
  const read = wordsOf(body);
  const touched = (word) => {
    const own = rangeOf(read, word, word);
    return (
      range.compareBoundaryPoints(Range.END_TO_START, own) < 0 &&
      range.compareBoundaryPoints(Range.START_TO_END, own) > 0
    );
  };
  const first = read.words.findIndex(touched);
  if (first < 0) return null;
  const last = read.words.findLastIndex(touched);
  const quote = read.text.slice(read.words[first].start, read.words[last].end);
  return { key: answer.dataset.rxAnswer, quote, before: first, range };
}
