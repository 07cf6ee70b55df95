// Threads of comments: the replies to each comment, and how they are shown.

import { clock, dayUnlessToday } from "../../web/components/clock.js";
import { button, html } from "../../web/components/dom.js";
import { tellPage } from "../../web/components/events.js";
import { tr, trc } from "../../web/components/words.js";

function when(iso) {
  const at = new Date(iso);
  return `${dayUnlessToday(at)} ${clock(at)}`.trim();
}

export const shorter = (text, most = 90) =>
  text.length > most ? `${text.slice(0, most - 1)}…` : text;

/** The comments by thread: the first of each is the one that the others reply to. */
export function threadsOf(comments) {
  const byId = new Map(comments.map((one) => [one.id, one]));
  const rootOf = (one) => {
    let found = one;
    for (let up = 0; byId.has(found.replyTo) && up < 100; up += 1) found = byId.get(found.replyTo);
    return found.id;
  };
  const threads = new Map(comments.map((one) => [rootOf(one), []]));
  for (const one of comments) threads.get(rootOf(one)).push(one);
  return [...threads.values()];
}

/**
 * @typedef {"goTo" | "reply" | "resolve" | "change"} Act
 * @typedef {Record<Act, (comment: any) => void> & {remove: (comment: any, button: any) => void}} Acts
 */

/** A thread, with buttons for users who may write. */
export function threadNode(comments, may, /** @type {Acts} */ acts) {
  const [first] = comments;
  const act = (name, what, run) => button(what, run, { "data-focus": `${name}:${first.id}` });
  const actions = [
    act("reply", trc("verb", "Reply"), () => acts.reply(first)),
    act("settle", first.resolved ? tr("Open again") : tr("Resolve"), () => acts.resolve(first)),
  ];
  return html(
    "div",
    { class: "rx-c-thread", "data-thread": first.id },
    first.what === "case" ? null : whereNode(first, acts),
    comments.map((one) => commentNode(one, may, acts)),
    may ? html("div", { class: "rx-c-row" }, actions) : null,
  );
}

/** The target of a thread; pointing at it highlights its box. */
function whereNode(one, /** @type {Acts} */ acts) {
  const where = {
    span: `${one.where}: “${shorter(one.quote ?? "")}”`,
    box: tr("{answer}, box {label}", { answer: one.where, label: shorter(one.quote ?? "") }),
  };
  const light = one.box ? () => tellPage("light", { boxes: [one.box] }) : null;
  const dim = one.box ? () => tellPage("light", null) : null;
  return button(where[one.what] ?? one.where, () => acts.goTo(one), {
    class: "rx-c-where",
    "data-focus": `where:${one.id}`,
    title: tr("Show where"),
    onpointerenter: light,
    onpointerleave: dim,
    onfocus: light,
    onblur: dim,
  });
}

function commentNode(one, may, /** @type {Acts} */ acts) {
  const edited = one.edited ? `, ${tr("edited {when}", { when: when(one.edited) })}` : "";
  const remove = (event) => acts.remove(one, event.currentTarget);
  const actions = [
    button(tr("Edit"), () => acts.change(one), { "data-focus": `edit:${one.id}` }),
    button(tr("Remove"), remove, { "data-focus": `remove:${one.id}` }),
  ];
  return html(
    "article",
    { class: "rx-c-one", "data-comment": one.id },
    html(
      "header",
      {},
      html("b", {}, one.who),
      one.at ? html("time", { datetime: one.at }, `${when(one.at)}${edited}`) : null,
      one.mine && may ? html("span", { class: "rx-c-row rx-c-own" }, actions) : null,
    ),
    html("p", {}, one.text),
  );
}
