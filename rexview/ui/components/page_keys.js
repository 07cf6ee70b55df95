// When a key is meant for a component that listens on the whole page.

/** Where keys are typed, or choose: a selector. */
export const TYPING =
  "input, textarea, select, [contenteditable=''], [contenteditable='true'], [role='combobox'], [role='listbox'], [role='menu']";

/** Whether a key is pressed by itself (or with Shift) and nobody has taken it yet. */
export function isPlain(/** @type {KeyboardEvent} */ event) {
  const held = event.ctrlKey || event.metaKey || event.altKey;
  return !(held || event.defaultPrevented || event.isComposing);
}

/**
 * Whether the page asks something that must be answered first.
 *
 * @param {Element | null} component its root: the dialogs in it do not count
 */
export function dialogIsOpen(component = null) {
  const dialogs = [...document.querySelectorAll("[role='dialog'], [role='alertdialog']")];
  return dialogs.some((one) => !component?.contains(one) && one.getClientRects().length > 0);
}
