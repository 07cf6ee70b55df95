// What pages give to the parts that save.

/** What a page gives its outbox (outbox.py). */
export type OutboxData = {
  address: string;
  page: string;
  owner: string | null;
  unowned: string;
  ticket: string | null;
  scorer: Scorer;
};

/** Whose entries these are, and names to choose from before; null where people sign in. */
export type Scorer = {
  name: string | null;
  change: string;
  cookie: string | null;
  proposed: string;
  used: string[];
} | null;
