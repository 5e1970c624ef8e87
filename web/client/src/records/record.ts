/** One query and the URL clicked for it; null stands for "not on the list", or for the missing URL of a single item. */
export interface Record {
  readonly query: string | null;
  readonly url: string | null;
}

/** Neither a query nor a URL: it is reported and uploaded like any other record. */
export const NO_RECORD: Record = { query: null, url: null };
