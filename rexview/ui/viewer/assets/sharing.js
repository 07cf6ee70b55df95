// From what is on screen to the address, and back.

import { encode } from "./address.js";
import { FITTED } from "./geometry.js";

const USUAL = { pose: FITTED, window: null, inverted: false };

/** The text for the address; "" while everything is as the page asked for. */
export function addressOf(viewer) {
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

/** The window as the address tells it: null for the usual one, a preset by its name. */
function windowToShare(viewer, id) {
  const look = viewer.state.look(id);
  if (look.window === null) return look.wanted;
  const header = viewer.panes.find((pane) => pane.view?.id === id)?.raster?.header;
  if (look.window.name === null) return look.window;
  const usual = header?.presets[header.initial]?.name;
  return look.window.name === usual ? null : { preset: look.window.name };
}

/** Take over what an address says, if it is about the case on screen; returns whether it was. */
export function adopt(viewer, seen) {
  if (!seen || seen.caseId !== viewer.data?.case) return false;
  const { state, views, groups } = viewer;
  for (const { id, pose, window, inverted } of seen.views) {
    if (!views.get(id)) continue;
    state.looks.set(id, { pose, window: null, inverted, wanted: window });
    const header = viewer.panes.find((pane) => pane.view?.id === id)?.raster?.header;
    if (header) state.settle(id, header);
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
