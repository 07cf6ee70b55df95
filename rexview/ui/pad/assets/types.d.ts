// What the pads of the tasks get from the page (tasks/content.py, tasks/widgets.py).

import type { TurningData } from "../../turning/assets/types.d.ts";
import type { OutboxData } from "../../saving/assets/types.d.ts";

/** What the reader gave on an item; by task also more (reader_tasks.py). */
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
