/**
 * The user's searches, on this device only: each different record once, however often it was searched.
 *
 * Records are stored in canonical form, and those that look personal are not stored at all. Their number and age are
 * limited, and so is how many are added in a day: a page that floods cannot displace what the user searched before.
 */
import { reading, writing } from "./database.ts";
import { ifActive } from "./settings.ts";

/** A record in canonical form; the URL is empty if no result was opened. */
export interface StoredRecord {
  query: string;
  url: string;
}

interface Row extends StoredRecord {
  /** When it was first and last seen, in seconds since 1970. */
  first: number;
  time: number;
}

const DAY = 86_400;

export const LIMITS = { records: 1000, seconds: 30 * DAY, newPerDay: 200 };

/**
 * Store a record, unless the user has paused, left or declined: one transaction decides and stores, so that a search cannot
 * be stored after a deletion that it overlaps. An opened result takes the place of the query alone.
 */
export function addRecord(record: StoredRecord, now: number): Promise<void> {
  return writing(["settings", "records"], (transaction) => {
    ifActive(transaction, () => add(transaction.objectStore("records"), record, now));
  });
}

function add(store: IDBObjectStore, { query, url }: StoredRecord, now: number): void {
  const known = store.get([query, url]);
  const opened = store.count(IDBKeyRange.bound([query, "\0"], [query, []])); // [] sorts after every string
  const recent = store.index("first").count(IDBKeyRange.lowerBound(now - DAY, true));
  recent.onsuccess = () => {
    const isNew = known.result === undefined;
    if (isNew && (recent.result >= LIMITS.newPerDay || (url === "" && opened.result > 0))) return;
    if (url !== "") store.delete([query, ""]);
    store.put({ query, url, first: known.result?.first ?? now, time: now } satisfies Row);
    prune(store, now);
  };
}

/** All records that are not too old. */
export async function allRecords(now: number): Promise<StoredRecord[]> {
  const recent = IDBKeyRange.lowerBound(now - LIMITS.seconds);
  const rows = await reading<Row[]>(
    ["records"],
    (transaction) => transaction.objectStore("records").index("time").getAll(recent),
    [],
  );
  return rows.map(({ query, url }) => ({ query, url }));
}

/** How many records are stored. */
export function countRecords(): Promise<number> {
  return reading(["records"], (transaction) => transaction.objectStore("records").count(), 0);
}

/** Delete what is too old, and the oldest if there are too many. */
function prune(store: IDBObjectStore, now: number): void {
  deleteWhile(store.index("time").openCursor(IDBKeyRange.upperBound(now - LIMITS.seconds, true)), () => true);
  const count = store.count();
  count.onsuccess = () => {
    let excess = count.result - LIMITS.records;
    if (excess > 0) deleteWhile(store.index("time").openCursor(), () => excess-- > 0);
  };
}

function deleteWhile(request: IDBRequest<IDBCursorWithValue | null>, wanted: () => boolean): void {
  request.onsuccess = () => {
    if (!request.result || !wanted()) return;
    request.result.delete();
    request.result.continue();
  };
}
