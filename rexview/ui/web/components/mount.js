// One instance of a component for its place on the page.
//
// Streamlit runs a component's script again whenever its data changes, and afterwards calls the
// clean-up of the previous run: only that of the last run removes the instance.

/** @import { Component, Tell } from "./events.js" */

/**
 * @template {{update: (data: any, tell: Tell) => void, close: () => void}} T
 * @param {(place: HTMLElement) => T} make called for a new place
 * @returns {(component: Component) => () => void} what a component's module exports as `mount`
 */
export function mounting(make) {
  const mounted = new WeakMap();
  return ({ parentElement: place, data, setTriggerValue }) => {
    const held = mounted.get(place) ?? { instance: make(place), runs: 0 };
    mounted.set(place, held);
    held.runs += 1;
    const run = held.runs;
    held.instance.update(data, setTriggerValue);
    return () => {
      if (held.runs !== run) return;
      mounted.delete(place);
      held.instance.close();
    };
  };
}
