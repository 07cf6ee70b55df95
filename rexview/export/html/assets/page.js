// The page of an exported file: the list of cases, a case's film, and its texts.
//
// The page contains all texts, one article a case. The viewer's data are read when a case is
// opened. The page makes no requests.

import { decode } from "../../../ui/viewer/assets/address.js";
import { remember, remembered } from "../../../ui/viewer/assets/storage.js";
import { Viewer } from "../../../ui/viewer/assets/viewer.js";
import { button, every, html } from "../../../ui/web/components/dom.js";
import { isPlain } from "../../../ui/web/components/key_guards.js";

const THEME = "exported-theme";
const MINUTES = "minutes";
const MOST_LETTERS = 200; // of a question, in the list

class Page {
  constructor() {
    this.articles = every("article[data-case]");
    this.minutes = document.getElementById(MINUTES);
    this.list = document.getElementById("cases");
    this.search = /** @type {HTMLInputElement} */ (document.getElementById("search"));
    this.found = document.getElementById("found");
    this.viewer = new Viewer(document.getElementById("film"));
    this.list.append(...this.articles.map((article) => this.#entry(article)));
    this.search.addEventListener("input", () => this.#filter());
    document.addEventListener("click", (event) => this.#clicked(event));
    document.addEventListener("keydown", (event) => this.#key(event));
    document.getElementById("print").addEventListener("click", () => window.print());
    this.#startTheme();
  }

  /** Open the case named in the address, otherwise the minutes, otherwise the first case. */
  begin() {
    const named = decode(location.hash)?.caseId;
    const article = this.articles.find(({ dataset }) => dataset.case === named);
    if (article) this.open(article.dataset.number);
    else if (this.minutes) this.open(MINUTES);
    else if (this.articles.length > 0) this.open("1");
  }

  #entry(article) {
    const { number, case: name, section, told } = article.dataset;
    const question = article.querySelector(".question").textContent;
    const lines = [
      html("span", { class: "number" }, number),
      html("span", { class: "name", dir: "auto" }, name),
      html("small", { class: "quiet", dir: "auto" }, question.slice(0, MOST_LETTERS)),
      section && html("small", { class: "quiet", dir: "auto" }, section),
      told && html("small", { class: "told", dir: "auto" }, told),
    ].filter(Boolean);
    return html("li", {}, button(lines, null, { "data-open": number }));
  }

  /** Show a case by its number, or the minutes. */
  open(/** @type {string} */ wanted) {
    const shown = wanted === MINUTES ? this.minutes : document.getElementById(`case-${wanted}`);
    if (!shown) return;
    for (const article of every("article")) article.hidden = article !== shown;
    document.body.classList.toggle("minuted", shown === this.minutes);
    document.getElementById("report")?.removeAttribute("id");
    shown.querySelector(".report")?.setAttribute("id", "report"); // the viewer's key for it looks there
    document.getElementById("texts").scrollTop = 0;
    for (const one of every("nav [data-open]")) {
      const current = one.dataset.open === wanted;
      one.toggleAttribute("aria-current", current);
      if (current) one.scrollIntoView({ block: "nearest" });
    }
    if (shown === this.minutes) return;
    const data = JSON.parse(document.getElementById(`viewer-${wanted}`).textContent);
    this.viewer.update(data, (name, value) => {
      if (name === "navigate") this.open(String(value));
    });
  }

  #clicked(event) {
    const opener = event.target.closest?.("[data-open]");
    if (!opener) return;
    event.preventDefault();
    this.open(opener.dataset.open);
  }

  #key(event) {
    if (event.key === "/" && !event.target.closest?.("input")) {
      event.preventDefault();
      this.search.focus();
    } else if (event.key === "Enter" && event.target === this.search) {
      every("li:not([hidden]) [data-open]", this.list)[0]?.click();
    } else if (event.key === "j" && this.minutes?.hidden === false && isPlain(event)) {
      if (event.target !== this.search) this.open("1");
    }
  }

  /** Show only the cases whose texts contain all searched words. */
  #filter() {
    const words = this.search.value.toLowerCase().split(/\s+/).filter(Boolean);
    let count = 0;
    this.articles.forEach((article, place) => {
      const text = `${article.dataset.case} ${article.dataset.told} ${article.textContent}`;
      const fits = words.every((word) => text.toLowerCase().includes(word));
      /** @type {HTMLElement} */ (this.list.children[place]).hidden = !fits;
      if (fits) count += 1;
    });
    this.found.textContent = words.length > 0 ? `${count} of ${this.articles.length}` : "";
  }

  #startTheme() {
    const { dataset } = document.documentElement;
    const usual = matchMedia("(prefers-color-scheme: light)").matches ? "light" : "dark";
    dataset.theme = remembered(THEME) === null ? usual : String(remembered(THEME));
    document.getElementById("theme").addEventListener("click", () => {
      dataset.theme = dataset.theme === "light" ? "dark" : "light";
      remember(THEME, dataset.theme);
    });
  }
}

new Page().begin();
