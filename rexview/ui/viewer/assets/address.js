// The state of the view in the address after "#", so that a link or a reload shows the same.
//
// Streamlit owns the query string and never sends the part after "#" to the server, so writing it
// costs no rerun. Streamlit drops it when the query changes: the viewer then writes it again.
//
//   #v=c017;pa~z1.8,0.1,-0.05~w2048,1200~i~o4;lat&b=gen,reference&t=l
//
// v: the case, then each view shown, the active one marked by "*", with zoom and position, window
// (centre, width; or p and a preset's name), invert, orientation where they are not the usual ones.
// b: the groups of boxes shown. t: toggles, "l" views linked, "n" not linked.

import { FITTED } from "./image/geometry.js";

/** @import { Seen, WantedWindow } from "./types.d.ts" */
/** @import { Viewer } from "./viewer.js" */

const PREFIX = "v=";
const WRITE_MS = 250;
const RESTORE_MS = 1500; // a changed query often means the next case: its data should arrive first

function number(value) {
  return String(Number(value.toPrecision(5)));
}

function escaped(text) {
  return encodeURIComponent(text).replaceAll("~", "%7E").replaceAll("*", "%2A");
}

function encodeLook({ pose, window, inverted }) {
  const parts = [];
  const moved = pose.zoom !== 1 || pose.x !== 0 || pose.y !== 0;
  if (moved) parts.push(`z${[pose.zoom, pose.x, pose.y].map(number).join(",")}`);
  if (window?.preset) parts.push(`p${escaped(window.preset)}`);
  else if (window) parts.push(`w${number(window.centre)},${number(window.width)}`);
  if (inverted) parts.push("i");
  if (pose.orientation) parts.push(`o${pose.orientation}`);
  return parts.map((part) => `~${part}`).join("");
}

function decodeLook(codes) {
  const look = { pose: { zoom: 1, x: 0, y: 0, orientation: 0 }, window: null, inverted: false };
  for (const code of codes) {
    const rest = code.slice(1);
    const numbers = rest.split(",").map(Number);
    const finite = numbers.every(Number.isFinite);
    if (code[0] === "z" && finite && numbers.length === 3 && numbers[0] > 0) {
      [look.pose.zoom, look.pose.x, look.pose.y] = numbers;
    } else if (code[0] === "w" && finite && numbers.length === 2 && numbers[1] > 0) {
      look.window = { centre: numbers[0], width: numbers[1] };
    } else if (code[0] === "p") look.window = { preset: decodeURIComponent(rest) };
    else if (code[0] === "i") look.inverted = true;
    else if (code[0] === "o" && finite) look.pose.orientation = numbers[0] & 7;
  }
  return look;
}

export function encode(/** @type {Seen} */ seen) {
  const views = seen.views.map(
    (view) => `${view.id === seen.active ? "*" : ""}${escaped(view.id)}${encodeLook(view)}`,
  );
  const parts = [PREFIX + [escaped(seen.caseId), ...views].join(";")];
  if (seen.groups !== null) parts.push(`b=${seen.groups.map(escaped).join(",")}`);
  if (!seen.linked) parts.push("t=n");
  return parts.join("&");
}

/** The opposite of encode; null if the text is not ours or invalid. */
export function decode(text) {
  const hash = text.replace(/^#/, "");
  if (!hash.startsWith(PREFIX)) return null;
  try {
    const fields = Object.fromEntries(hash.split("&").map((field) => [field[0], field.slice(2)]));
    const [caseId, ...rest] = fields.v.split(";");
    let active = null;
    const views = rest.filter(Boolean).map((view) => {
      const [name, ...codes] = view.replace(/^\*/, "").split("~");
      const id = decodeURIComponent(name);
      if (view.startsWith("*")) active = id;
      return { id, ...decodeLook(codes) };
    });
    const groups =
      fields.b === undefined ? null : fields.b.split(",").filter(Boolean).map(decodeURIComponent);
    return { caseId: decodeURIComponent(caseId), active, views, groups, linked: fields.t !== "n" };
  } catch {
    return null;
  }
}

/** Writes the address with a delay, and again when something else has removed it. */
export class Address {
  constructor(current, /** @type {AbortSignal} */ signal) {
    this.current = current; // returns the text, "" for the usual state, null to leave the address
    this.timer = null;
    const restore = () => this.written && !location.hash && this.touch(RESTORE_MS);
    window.navigation?.addEventListener("currententrychange", restore, { signal });
  }

  /** Schedule one write after a change. */
  touch(delay = WRITE_MS) {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.write(), delay);
  }

  write() {
    clearTimeout(this.timer);
    const text = this.current();
    if (text === null) return;
    const ours = decode(location.hash) !== null;
    if (!text && !ours) return; // leave a foreign anchor alone
    if (text === location.hash.replace(/^#/, "")) return;
    this.written = Boolean(text);
    const address = location.pathname + location.search + (text ? `#${text}` : "");
    history.replaceState(history.state, "", address);
  }

  close() {
    clearTimeout(this.timer);
  }
}

const USUAL = { pose: FITTED, window: null, inverted: false };

/** The text for the address; "" while everything is as the page requested. */
export function addressOf(/** @type {Viewer} */ viewer) {
  if (!viewer.data || !viewer.root.isConnected || viewer.views.blink.on) return null;
  const { state, views, groups } = viewer;
  const shown = state.shown.map((id) => {
    const { pose, inverted } = state.look(id);
    return { id, pose, inverted, window: windowToShare(viewer, id) };
  });
  const seen = {
    caseId: viewer.data.case,
    active: state.active,
    views: shown,
    groups: groups.changedIds(),
    linked: state.habits.linked,
  };
  const usual = views.usual === null ? [] : [{ id: views.usual, ...USUAL }];
  const plain = { ...seen, active: views.usual, views: usual, groups: null, linked: true };
  const text = encode(seen);
  return text === encode(plain) ? "" : text;
}

/**
 * The window in the address: null for the usual one, a preset by its name.
 *
 * @returns {WantedWindow | null}
 */
function windowToShare(/** @type {Viewer} */ viewer, id) {
  const look = viewer.state.look(id);
  if (look.window === null) return look.wanted;
  const header = viewer.panes.find((pane) => pane.view?.id === id)?.raster?.header;
  if (look.window.name === null) return look.window;
  const usual = header?.presets[header.initial]?.name;
  return look.window.name === usual ? null : { preset: look.window.name };
}

/** Apply an address if it is for the case on screen; return whether it was. */
export function adopt(/** @type {Viewer} */ viewer, /** @type {Seen} */ seen) {
  if (!seen || seen.caseId !== viewer.data?.case) return false;
  const { state, views, groups } = viewer;
  for (const { id, pose, window, inverted } of seen.views) {
    if (!views.get(id)) continue;
    state.looks.set(id, { pose, window: null, inverted, wanted: window });
    const header = viewer.panes.find((pane) => pane.view?.id === id)?.raster?.header;
    if (header) state.initWindow(id, header);
  }
  views.showOnly(
    seen.views.map(({ id }) => id),
    seen.active,
  );
  state.habits.linked = seen.linked;
  for (const group of viewer.data.oneGroup ? [] : groups.list) {
    state.setGroup(group, seen.groups ? seen.groups.includes(group.id) : group.shown);
  }
  return true;
}
