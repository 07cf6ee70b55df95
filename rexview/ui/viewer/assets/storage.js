// What the browser keeps of a reader's settings; without storage they last as long as the page.

const PREFIX = "rexview-viewer-";
const page = new Map(); // what could not be kept

/** Whether what is remembered outlives the page. */
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

/** What was remembered under a name, null without. */
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
    // nothing was kept
  }
}
