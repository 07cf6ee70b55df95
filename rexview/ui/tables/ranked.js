// Long rankings (rexview/ui/tables/ranked.py): all of them on request, and a search by name.

import { tr } from "../web/components/words.js";

const RANKING = ".rx-ranked";

function search(/** @type {Element} */ ranking, /** @type {string} */ text) {
  const wanted = text.trim().toLowerCase();
  const names = new Set();
  for (const item of ranking.querySelectorAll("[data-rx-ranked]")) {
    const name = item.getAttribute("data-rx-ranked");
    const found = name.includes(wanted);
    item.classList.toggle("rx-found", found);
    if (found) names.add(name);
  }
  ranking.classList.toggle("rx-searching", wanted !== "");
  const none = wanted && !names.size;
  ranking.querySelector("[role=status]").textContent = none ? tr("No name matches.") : "";
}

function showAll(/** @type {Element} */ ranking, /** @type {boolean} */ all) {
  const button = ranking.querySelector("[data-rx-all]");
  if (!button || all === ranking.classList.contains("rx-all")) return;
  ranking.classList.toggle("rx-all", all);
  const words = button.textContent;
  button.textContent = button.getAttribute("data-rx-fewer");
  button.setAttribute("data-rx-fewer", words);
  button.setAttribute("aria-expanded", String(all));
}

/** Make the rankings in an element expandable and searchable: once for each element. */
export function listenToRankings(/** @type {Element} */ root) {
  root.addEventListener("click", (event) => {
    const button = /** @type {Element} */ (event.target).closest?.("[data-rx-all]");
    const ranking = button?.closest(RANKING);
    if (ranking) showAll(ranking, !ranking.classList.contains("rx-all"));
  });
  root.addEventListener("input", (event) => {
    const field = /** @type {HTMLInputElement} */ (event.target);
    if (field.matches?.("[data-rx-search]")) search(field.closest(RANKING), field.value);
  });
}

/**
 * The expanded rankings and searches of an element, to be restored when its HTML is replaced.
 *
 * @returns {() => void}
 */
export function heldRankings(/** @type {Element} */ root) {
  const held = [...root.querySelectorAll(RANKING)].map((ranking) => {
    const field = /** @type {HTMLInputElement} */ (ranking.querySelector("[data-rx-search]"));
    return {
      all: ranking.classList.contains("rx-all"),
      text: field?.value ?? "",
      focused: field !== null && field === document.activeElement,
    };
  });
  return () => {
    [...root.querySelectorAll(RANKING)].forEach((ranking, place) => {
      if (!held[place]) return;
      const { all, text, focused } = held[place];
      showAll(ranking, all);
      const field = /** @type {HTMLInputElement} */ (ranking.querySelector("[data-rx-search]"));
      if (!field) return;
      field.value = text;
      if (text) search(ranking, text);
      if (focused) field.focus({ preventScroll: true });
    });
  };
}
