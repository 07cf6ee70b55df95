// A reader's settings in the browser; without storage they last as long as the page.

const PREFIX = "rexview-viewer-";
const page = new Map(); // values that could not be stored

/** Whether stored values outlive the page. */
export function remember(name, value) {
  try {
    localStorage.setItem(PREFIX + name, JSON.stringify(value));
    page.delete(name);
    return true;
  } catch {
    page.set(name, value);
    return false;
  }
}

/** The value stored under a name, null without. */
export function remembered(name) {
  if (page.has(name)) return page.get(name);
  try {
    return JSON.parse(localStorage.getItem(PREFIX + name));
  } catch {
    return null;
  }
}

export function forget(name) {
  page.delete(name);
  try {
    localStorage.removeItem(PREFIX + name);
  } catch {
    // nothing was stored
  }
}
