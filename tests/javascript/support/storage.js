// A browser's storage, which several tabs can share.

export class FakeStorage {
  /** @returns {string | null} */
  getItem(key) {
    return Object.hasOwn(this, key) ? this[key] : null;
  }

  setItem(key, value) {
    this[key] = String(value);
  }

  removeItem(key) {
    delete this[key];
  }

  clear() {
    for (const key of Object.keys(this)) delete this[key];
  }
}
