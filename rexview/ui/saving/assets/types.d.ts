// What pages give to the parts that save.

/** What a page gives its outbox (outbox.py). */
export type OutboxData = {
  address: string;
  page: string;
  owner: string | null;
  unowned: string;
  ticket: string | null;
};
