// What live.js gives to the pages of a meeting, and takes from them. Made in live/room.py, seats.py.

/** What a page joins with (live/ticket.py). */
export type Ticket = { address: string; room: string; may_lead: boolean };

/** What a screen shows; beside these whatever the presenting page wants, 2,048 bytes in all. */
export type State = { case: string; step: number; [more: string]: unknown };
export type Person = { number: number; name: string; here: boolean; looking: boolean };
export type People = {
  you: number;
  leader: number | null;
  may_lead: boolean;
  asking: number[];
  people: Person[];
};
/** Of the cases that were shown: [place on the agenda from 1, id, farthest step]. */
export type Cases = {
  epoch: string;
  total: number;
  steps: string[];
  reached: [place: number, id: string, step: number][];
};
/** `right` is a letter, "none" or "unsure"; `harm` is 0 to 4. */
export type Vote = { right: string | null; harm: number | null };
/** Of the case that is shown; `of` is how many could vote; null: there is nothing to vote on. */
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
/** A case as far as it was revealed: `content` is what the meeting's steps made of it. */
export type Shown = { case: string; step: number; content: any };

export type Listeners = {
  /** What the presenter shows; whoever leads hears it once, to go on from there. */
  onState?: (state: State) => void;
  onPresence?: (people: People) => void;
  onCases?: (cases: Cases) => void;
  onVotes?: (votes: Votes) => void;
  /** Whether this window leads now. */
  onLeading?: (leading: boolean) => void;
  onConnection?: (connection: Connection) => void;
  /** The ticket is not good any more: get another from the page, and give it to `renew`; once. */
  onRenew?: () => void;
  /** Something was not taken: a sentence for the person. */
  onProblem?: (problem: string) => void;
};
export type Joining = Listeners & { ticket: Ticket; role: "lead" | "follow" };
