// What the Failures page gives the pad of a sample (failures/written/validate/data.py).

import type { TaskData } from "../../../../pad/assets/types.d.ts";

export type Word = "yes" | "no" | "unsure";
export type ValidateData = TaskData & {
  /** HTML of ours. */
  definition: string;
  round: { failure: string; version: string; judge: string };
};
export type Content = { question: string; options: string[]; answer: string };
