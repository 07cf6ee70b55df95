// Values in this browser's storage, each under its own key, so that tabs do not overwrite each
// other's. What the storage refuses lasts as long as the page.

export class Kept {
  /** @param {string} prefix of all keys; the owner's name follows */
  constructor(prefix) {
    this.prefix = prefix;
    /** @type {Map<string, any>} */
    this.memory = new Map();
  }

  /** The values of an owner: [key, value], in the order of their keys. */
  all(owner) {
    const begin = `${this.prefix}${owner}:`;
    const found = new Map([...this.memory].filter(([key]) => key.startsWith(begin)));
    for (const key of keysOf(begin)) {
      const value = read(key);
      if (value) found.set(key, value);
    }
    return [...found].sort(([a], [b]) => (a < b ? -1 : 1));
  }

  get(owner, name) {
    const key = `${this.prefix}${owner}:${name}`;
    return this.memory.get(key) ?? read(key);
  }

  put(owner, name, value) {
    const key = `${this.prefix}${owner}:${name}`;
    try {
      localStorage.setItem(key, JSON.stringify(value));
      this.memory.delete(key);
    } catch {
      this.memory.set(key, value);
    }
  }

  drop(key) {
    this.memory.delete(key);
    try {
      localStorage.removeItem(key);
    } catch {
      // no storage in this browser
    }
  }

  dropNamed(owner, name) {
    this.drop(`${this.prefix}${owner}:${name}`);
  }

  /** Move all values of one owner to another. */
  move(from, to) {
    const begin = `${this.prefix}${from}:`;
    for (const [key, value] of this.all(from)) {
      this.put(to, key.slice(begin.length), value);
      this.drop(key);
    }
  }
}

function keysOf(begin) {
  try {
    return Object.keys(localStorage).filter((key) => key.startsWith(begin));
  } catch {
    return [];
  }
}

function read(key) {
  try {
    const found = JSON.parse(localStorage.getItem(key) ?? "null");
    return found && typeof found === "object" ? found : null;
  } catch {
    return null;
  }
}
