// Types for turning to other cases. Cases are made in case/case_page.py and
// score_cases/scored_case.py.

import type { PadCase } from "../../score_cases/pad/assets/types.d.ts";
import type { ViewerData } from "../../viewer/assets/types.d.ts";

export type Step = 1 | -1;
/** The page's data (turning/ticket.py). */
export type TurningData = { address: string; version: string; asked: number; task: string | null } | null;
/** One case; one sent with the page has only some parts. */
export type CaseRecord = {
  case: string;
  viewer?: ViewerData;
  texts?: Record<string, string>;
  judged?: { case: string; revision: number; answers: Record<string, any> };
  pad?: PadCase;
};
/** A part that shows a case, or waits for cases. */
export type Listener = {
  has?: (record: CaseRecord) => boolean;
  show?: (record: CaseRecord) => void;
  waiting?: (waits: boolean) => void;
  arrived?: () => void;
};
