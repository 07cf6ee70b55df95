// When a key is meant for a component that listens on the whole page.

/** Where keys type or choose: a selector. */
export const TYPING =
  "input, textarea, select, [contenteditable=''], [contenteditable='true'], [role='combobox'], [role='listbox'], [role='menu']";

// A short message of Streamlit is an alertdialog, too, but needs no answer: aria-modal is "false".
const DIALOGS = ["dialog", "alertdialog"]
  .map((role) => `[role='${role}']:not([aria-modal='false'])`)
  .join(", ");

/** Whether a key is pressed by itself (or with Shift) and is not handled yet. */
export function isPlain(/** @type {KeyboardEvent} */ event) {
  const held = event.ctrlKey || event.metaKey || event.altKey;
  return !(held || event.defaultPrevented || event.isComposing);
}

/**
 * Whether the page shows a dialog that must be answered first.
 *
 * @param {Element | null} component its root: the dialogs in it do not count
 */
export function dialogIsOpen(component = null) {
  const dialogs = [...document.querySelectorAll(DIALOGS)];
  return dialogs.some((one) => !component?.contains(one) && one.getClientRects().length > 0);
}
