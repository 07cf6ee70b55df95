// Types between live.js and the pages of a meeting. Made in live/room.py.

/** What a page joins with (live/admission.py). */
export type Ticket = { address: string; room: string; may_lead: boolean };

/** The view of a screen; with further fields of the presenting page, 2,048 bytes in all. */
export type State = { case: string; step: number; [more: string]: unknown };
export type Person = { number: number; name: string; here: boolean; looking: boolean };
export type People = {
  you: number;
  leader: number | null;
  may_lead: boolean;
  asking: number[];
  people: Person[];
};
/** Cases that were shown: [place on the agenda from 1, id, farthest step]. */
export type Cases = {
  epoch: string;
  total: number;
  steps: string[];
  reached: [place: number, id: string, step: number][];
};
/** `right` is a letter, "none" or "unsure"; `harm` is 0 to 4. */
export type Vote = { right: string | null; harm: number | null };
/** Of the shown case; `of` is the number of voters; null: there is nothing to vote on. */
export type Votes = {
  case: string;
  open: boolean;
  resumed: boolean;
  count: number;
  of: number;
  result: { right: Record<string, number>; harm: Record<string, number> } | null;
  problem: string | null;
} | null;
export type Connection = "joining" | "here" | "away";
/** The revealed part of a case: `content` is made by the meeting's steps. */
export type Shown = { case: string; step: number; content: any };

export type Listeners = {
  /** The presenter's view; the leader gets it once, to continue from there. */
  onState?: (state: State) => void;
  onPresence?: (people: People) => void;
  onCases?: (cases: Cases) => void;
  onVotes?: (votes: Votes) => void;
  /** Whether this window leads now. */
  onLeading?: (leading: boolean) => void;
  onConnection?: (connection: Connection) => void;
  /** The ticket is no longer valid: get another from the page, and pass it to `renew`; once. */
  onRenew?: () => void;
  /** Something was refused: a sentence for the person. */
  onProblem?: (problem: string) => void;
};
export type Joining = Listeners & { ticket: Ticket; role: "lead" | "follow" };
