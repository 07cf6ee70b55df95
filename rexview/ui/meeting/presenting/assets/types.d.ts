// What the presenting view gets and hands on. Content is made in presenting/payload.py, data of the page
// in presenting/widgets.py.

import type { ViewerData } from "../../../viewer/assets/types.d.ts";
import type { Proposal } from "../../decisions/assets/decision_words.js";
import type { Ticket } from "../../live/assets/types.d.ts";

export type Letter = { letter: string; name: string; colour: string; model: string | null };
/** A level of harm, as the set names it. */
export type Grade = [level: number, name: string, meaning: string];
/** A case as far as it was revealed. */
export type Content = {
  case: string;
  step: number;
  steps: [key: string, name: string][];
  viewer: ViewerData;
  question: string;
  panels: Record<string, string>;
  letters: Letter[];
  notice: string;
  /** What may be decided, by letter, "" for the case; nothing before failures are shown. */
  proposals: Record<string, Proposal>;
};
export type AgendaItem = {
  case: string;
  section: string;
  minutes: number | null;
  seconds: number;
  note: string;
  /** What failed worst, null where nothing did; not there until it is asked for. */
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
/** What a screen shows, as it is shared. */
export type Shared = {
  case: string;
  step: number;
  look: string;
  marks: [kind: string, view: string, ...points: number[]][];
  pointed: [view: string, x: number, y: number] | null;
};
