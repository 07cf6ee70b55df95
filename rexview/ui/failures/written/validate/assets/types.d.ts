// The Failures page's data for the pad of a sample (failures/written_sample.py).

import type { TaskData } from "../../../../pad/assets/types.d.ts";

export type Word = "yes" | "no" | "unsure";
export type ValidateData = TaskData & {
  /** Our own HTML. */
  definition: string;
  round: { failure: string; version: string; judge: string };
};
export type Content = { question: string; options: string[]; answer: string };
