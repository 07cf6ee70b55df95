// The page's data for the pad (reader_pads.py), and a reader's entries.

import type { OutboxData } from "../../../web/saving/assets/types.d.ts";
import type { TurningData } from "../../../turning/assets/types.d.ts";

export type Item = { dimension: string; picture: number | null };
export type Answer = {
  slot: string;
  shown: string;
  name: string;
  colour: string;
  html: string;
  items: Item[];
  needed: boolean;
  note: string | null;
  failures: string[];
};
export type Score = { score: number | null; comment: string; earlier?: number | null };
/** When something was seen, and whether the reader scores the case nevertheless. */
export type Seen = { at?: string; timing?: "before" | "during" | "after"; accepted?: boolean };
/** A reader's entries on a case: scores by "A/process/", failures by "A/omission". */
export type CaseRecord = {
  scores: Record<string, Score>;
  flags: Record<string, boolean>;
  earlierFlags: string[];
  shown: Record<string, string>;
  skip: string | null;
  revealed: boolean;
  report: boolean;
  seen?: { report?: Seen; unblinded?: Seen };
  revision: number;
};
export type PadCase = {
  case: string;
  place: number;
  previous: string | null;
  next: string | null;
  question: string;
  report: { state: "never" | "hidden" | "shown"; html: string | null; always: boolean };
  answers: Answer[];
  pictures: boolean;
  own: CaseRecord;
  names: Record<string, string> | null;
};
export type CaseState = "open" | "begun" | "done" | "skipped";
export type Dimension = {
  id: string;
  name: string;
  question: string;
  anchors: Record<string, string>;
};
export type PadData = {
  height: string;
  outbox: OutboxData;
  turning: TurningData;
  case: PadCase;
  worklist: {
    total: number;
    done: number;
    skipped: number;
    first: number;
    entries: [string, CaseState][];
  };
  rubric: Dimension[];
  failures: Record<string, { name: string; meaning: string }>;
  protocol: { report: string; reveal: string };
};
/** The page's knowledge at an entry: the revision, the answer, the start of its text. */
export type Context = { seen: number; shown?: string; began?: string };
