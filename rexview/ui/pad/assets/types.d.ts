// The page's data for the pads of the tasks (score_cases/reader_pads.py).

import type { TurningData } from "../../turning/assets/types.d.ts";
import type { OutboxData } from "../../web/saving/assets/types.d.ts";

/** The texts about the items of a task (task_words.js). */
export type ItemWords = {
  plural: string;
  meter: string;
  previous: string;
  previousKey: string;
  nextKey: string;
  place: (values: { place: number; total: number }) => string;
  done: (n: number) => string;
  first: string;
  last: string;
  changed: string;
  allDone: string;
  allDoneOrOut: string;
};

/** The reader's entries on an item; further fields by task (reader_tasks.py). */
export type Own = { shown: string; report: boolean; revision: number; [more: string]: any };
export type TaskItem = {
  case: string;
  place: number;
  previous: string | null;
  next: string | null;
  own: Own;
  report: { state: "never" | "hidden" | "shown"; html: string | null; always: boolean } | null;
  content: any;
};
export type TaskData = {
  height: string;
  outbox: OutboxData;
  turning: TurningData;
  case: TaskItem;
  worklist: { total: number; done: number; skipped: number };
  report: string;
  reveal: string;
  reference: boolean;
  words: {
    severities: Record<string, string>;
    kinds: Record<string, string>;
    significances: string[];
  };
};
