// Types of the presenting view. Content is made in presenting/presented_case.py, the page's data in
// presenting/presenting_view.py.

import type { ViewerData } from "../../../viewer/assets/types.d.ts";
import type { Proposal } from "../../decisions/assets/decision_words.js";
import type { Ticket } from "../../live/assets/types.d.ts";

export type Letter = { letter: string; name: string; colour: string; model: string | null };
/** A level of harm, with the set's name. */
export type Grade = [level: number, name: string, meaning: string];
/** The revealed part of a case. */
export type Content = {
  case: string;
  step: number;
  steps: [key: string, name: string][];
  viewer: ViewerData;
  question: string;
  panels: Record<string, string>;
  letters: Letter[];
  notice: string;
  /** Proposed decisions, by letter, "" for the case; none before failures are shown. */
  proposals: Record<string, Proposal>;
};
export type AgendaItem = {
  case: string;
  section: string;
  minutes: number | null;
  seconds: number;
  note: string;
  /** The worst failure, null if there is none; absent until requested. */
  headline?: { words: string; harm: number } | null;
};
export type MeetingData = {
  meeting: { id: string; name: string; closed: boolean; steps: [key: string, name: string][] };
  leads: boolean;
  decisions: any;
  harm: Grade[];
  room: Ticket;
  agenda: AgendaItem[];
  start: string | null;
  outbox: any;
  viewerStyle: string;
  exit: string;
};

/** Places are pixels of the stored image: x, y, x, y … */
export type Mark = { kind: "arrow" | "draw"; view: string; points: number[] };
export type Pointed = { view: string; point: number[] };
/** A screen's view in its shared form. */
export type Shared = {
  case: string;
  step: number;
  look: string;
  marks: [kind: string, view: string, ...points: number[]][];
  pointed: [view: string, x: number, y: number] | null;
};
