// Time that passes only when a test says so.

import { mock } from "node:test";

let now = 0;

export function holdTime() {
  now = 0;
  mock.timers.enable({ apis: ["setTimeout", "setInterval"] });
  mock.method(performance, "now", () => now);
  mock.method(AbortSignal, "timeout", (milliseconds) => {
    const control = new AbortController();
    setTimeout(() => control.abort(), milliseconds);
    return control.signal;
  });
}

export function letTimeGo() {
  mock.timers.reset();
  mock.restoreAll();
}

/** Let milliseconds pass, and then whatever waits for answers happen. */
export async function passes(milliseconds = 0) {
  await answersCome();
  now += milliseconds;
  mock.timers.tick(milliseconds);
  await answersCome();
  mock.timers.tick(0); // what was begun meanwhile
  await answersCome();
}

async function answersCome() {
  for (let turn = 0; turn < 5; turn += 1) await new Promise(setImmediate);
}
