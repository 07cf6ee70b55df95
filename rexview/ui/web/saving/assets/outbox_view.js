// A part of a page that shows the outbox's state: drawn again at each of its changes.

import { html } from "../../components/dom.js";
import { outbox } from "./outbox.js";

export class OutboxView {
  // `listener` adds further listener functions (see outbox.listen).
  constructor(place, attributes, listener = {}) {
    this.data = null;
    this.root = html("div", attributes);
    this.unlisten = outbox.listen({
      changed: () => this.data && this.draw(),
      refresh: () => this.tell("refresh", Date.now()),
      ...listener,
    });
    place.append(this.root);
  }

  close() {
    this.unlisten();
    this.root.remove();
  }

  update(data, tell) {
    this.data = data;
    this.tell = tell;
    outbox.configure(data.outbox);
    this.draw();
  }

  draw() {}
}
