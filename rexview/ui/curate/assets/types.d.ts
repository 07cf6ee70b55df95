// The Curate page's data for its desk (curate/curation_round.py).

import type { Own, TaskData } from "../../pad/assets/types.d.ts";

/** The decision on a candidate; null: nothing was decided or edited. */
export type Select = {
  decision: "chosen" | "rejected" | null;
  question: string | null;
  boxes_question: string | null;
  category: string | null;
  comment: string | null;
};
/** A person's scores by criterion, and `risk`; all null: they saw the model's without scoring. */
export type Rate = Record<string, number | boolean | string | null>;
export type Tags = Record<string, string[]>;
export type Rows = { select?: Select | null; rate?: Rate | null; tag?: { tags: Tags } | null; propose?: { question: string; category: string | null } | null };
export type Candidate = {
  id: string;
  question: string;
  category: string | null;
  source: string;
  by: string;
  given: Rows;
  tags: Tags;
  /** The model's scores: null if there are none, or while they are hidden. */
  model: { scores: Record<string, number | null>; sum: number | null; stated: number | null; risk: boolean | null; comment: string } | null;
  hidden: boolean;
  others: { name: string; words: string }[];
  /** Why it cannot be chosen, and the question that this applies to. */
  blocked: string | null;
  judged: string;
  alike: { words: string; question: string; href: string | null }[];
  alike_count: number;
  history: { at: string; name: string; words: string }[];
};
export type DeskOwn = Own & { rows: Record<string, Rows & { by?: string }> };
export type Counts = { chosen: number; categories: Record<string, number>; tags: Record<string, Record<string, number>> };
export type DeskData = TaskData & {
  words: {
    criteria: Record<string, string>;
    categories: Record<string, string>;
    tags: Record<string, string>;
    values: Tags;
  };
  counts: Counts;
  /** Whether all studies are selected, not some by a filter. */
  whole: boolean;
  targets: { all: number | null; categories: Record<string, number> };
};
