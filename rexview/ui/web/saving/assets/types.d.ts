// The data of pages for the parts that save.

/** The data of a page for its outbox (outbox.py). */
export type OutboxData = {
  address: string;
  page: string;
  owner: string | null;
  unowned: string;
  ticket: string | null;
  scorer: Scorer;
};

/** The person of these entries, and names to choose from before; null where people sign in. */
export type Scorer = {
  name: string | null;
  change: string;
  cookie: string | null;
  proposed: string;
  used: string[];
} | null;
