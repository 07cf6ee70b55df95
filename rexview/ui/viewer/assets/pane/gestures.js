// Mouse, trackpad, pen and fingers over one pane, reported as the reader's intention.
//
// Left drag performs the chosen tool's action; right, middle or shift drag always moves the image;
// the
// wheel and a pinch zoom at the pointer. For fingers, moving is the default: while the image is
// fitted
// a finger scrolls the page, and once it is zoomed in a finger moves the image.

const CLICK_PX = 4; // less than that is a click, not a drag
const WHEEL_ZOOM = 0.0016; // per pixel of wheel
const PINCH_ZOOM = 0.012; // per pixel of a trackpad pinch, which arrives as a wheel event with Ctrl
const LINE_PX = 24; // for wheels that count lines
const LARGEST_WHEEL_PX = 240;
const DOUBLE_MS = 350;

/**
 * @typedef {object} Meaning actions of the pane; positions are CSS pixels in the pane
 * @property {function} press (event, x, y): a drag starts; returns the drag's kind or an object
 *   {move(x, y, dx, dy), end(cancelled, pressed)}; pressed if it did not move before it ended
 * @property {function} hover (x, y) or (null)
 * @property {function} click (x, y, event)
 * @property {function} doubleClick (x, y)
 * @property {function} zoom (factor, x, y)
 * @property {function} pan (dx, dy)
 * @property {function} scrollsPage () whether a single finger scrolls the page
 */

export class Gestures {
  constructor(element, meaning) {
    this.element = element;
    this.meaning = meaning;
    this.pointers = new Map();
    this.drag = null;
    this.pinch = null;
    this.lastClick = { time: 0, x: 0, y: 0 };
    const listen = (name, method, options) =>
      element.addEventListener(name, (event) => method.call(this, event), options);
    listen("pointerdown", this.#down);
    listen("pointermove", this.#move);
    listen("pointerup", this.#up);
    listen("pointercancel", this.#cancel);
    listen("pointerleave", () => this.meaning.hover(null));
    listen("wheel", this.#wheel, { passive: false });
    listen("contextmenu", (event) => event.preventDefault());
  }

  #at(event) {
    const frame = this.element.getBoundingClientRect();
    return [event.clientX - frame.left, event.clientY - frame.top];
  }

  #down(event) {
    if (event.target.closest?.("button, a, input, select")) return;
    const [x, y] = this.#at(event);
    this.pointers.set(event.pointerId, [x, y]);
    if (this.pointers.size === 2) {
      this.#abandon();
      this.pinch = this.#spread();
      return;
    }
    if (this.pointers.size > 2) return;
    if (event.pointerType === "mouse" && event.button !== 0) event.preventDefault();
    const action = this.meaning.press(event, x, y);
    this.drag = { id: event.pointerId, action, from: [x, y], last: [x, y], moved: false };
    if (event.pointerType !== "touch" || !this.meaning.scrollsPage()) {
      this.element.setPointerCapture(event.pointerId);
    }
  }

  #move(event) {
    const [x, y] = this.#at(event);
    if (!this.pointers.has(event.pointerId)) {
      if (event.pointerType !== "touch") this.meaning.hover(x, y, event);
      return;
    }
    this.pointers.set(event.pointerId, [x, y]);
    if (this.pinch) {
      const now = this.#spread();
      this.meaning.pan(now.x - this.pinch.x, now.y - this.pinch.y);
      if (this.pinch.size > 0) this.meaning.zoom(now.size / this.pinch.size, now.x, now.y);
      this.pinch = now;
      return;
    }
    const { drag } = this;
    if (!drag || drag.id !== event.pointerId) return;
    const [fromX, fromY] = drag.from;
    if (!drag.moved && Math.hypot(x - fromX, y - fromY) < CLICK_PX) return;
    drag.moved = true;
    drag.action?.move(x, y, x - drag.last[0], y - drag.last[1]);
    drag.last = [x, y];
  }

  #up(event) {
    if (!this.pointers.delete(event.pointerId)) return;
    if (this.pinch) {
      if (this.pointers.size < 2) this.pinch = null;
      return;
    }
    const { drag } = this;
    if (!drag || drag.id !== event.pointerId) return;
    this.drag = null;
    drag.action?.end(!drag.moved, !drag.moved);
    if (!drag.moved && event.button === 0) this.#clicked(...this.#at(event), event);
  }

  #clicked(x, y, event) {
    const { time, x: lastX, y: lastY } = this.lastClick;
    const double = event.timeStamp - time < DOUBLE_MS && Math.hypot(x - lastX, y - lastY) < 12;
    this.lastClick = double ? { time: 0, x: 0, y: 0 } : { time: event.timeStamp, x, y };
    if (double) this.meaning.doubleClick(x, y);
    else this.meaning.click(x, y, event);
  }

  #cancel(event) {
    this.pointers.delete(event.pointerId);
    if (this.pointers.size < 2) this.pinch = null;
    if (this.drag?.id === event.pointerId) this.#abandon();
  }

  #abandon() {
    this.drag?.action?.end(true);
    this.drag = null;
  }

  #spread() {
    const [[x1, y1], [x2, y2]] = [...this.pointers.values()];
    return { x: (x1 + x2) / 2, y: (y1 + y2) / 2, size: Math.hypot(x1 - x2, y1 - y2) };
  }

  #wheel(event) {
    event.preventDefault();
    const unit = event.deltaMode === 1 ? LINE_PX : event.deltaMode === 2 ? LARGEST_WHEEL_PX : 1;
    const delta = Math.min(Math.max(event.deltaY * unit, -LARGEST_WHEEL_PX), LARGEST_WHEEL_PX);
    const factor = Math.exp(-delta * (event.ctrlKey ? PINCH_ZOOM : WHEEL_ZOOM));
    this.meaning.zoom(factor, ...this.#at(event));
  }
}
