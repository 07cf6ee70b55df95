// What turning to other cases needs. Cases are made in case/case_texts.py and score_cases/widgets.py.

import type { PadCase } from "../../score_cases/pad/assets/types.d.ts";
import type { ViewerData } from "../../viewer/assets/types.d.ts";

export type Step = 1 | -1;
/** What a page says (turning/ticket.py). */
export type TurningData = { address: string; version: string; asked: number; task: string | null } | null;
/** One case; what a page gives along has only some parts of it. */
export type CaseRecord = {
  case: string;
  viewer?: ViewerData;
  texts?: Record<string, string>;
  judged?: { case: string; revision: number; answers: Record<string, any> };
  pad?: PadCase;
};
/** Whoever shows a part of a case, or waits for cases. */
export type Listener = {
  has?: (record: CaseRecord) => boolean;
  show?: (record: CaseRecord) => void;
  waiting?: (waits: boolean) => void;
  arrived?: () => void;
};
