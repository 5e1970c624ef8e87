/**
 * Which of the stored records is reported in a round: the one with the smallest HMAC-SHA-256, under a random key of this
 * device, of the round and the record.
 *
 * - Every different record is equally likely, however often it was searched. How often it is searched already decides how
 *   many devices have it; a choice that preferred frequent records would count that twice.
 * - Nobody without the key can predict or influence the choice, and a new round chooses anew.
 * - Repeating the choice gives the same record. A choice that is drawn again after a failure would let an upload that is
 *   repeated reveal a second record. For the same reason the choice is stored: later searches do not change it.
 */
import { reading, writing } from "./database.ts";
import type { StoredRecord } from "./history.ts";

/** How many rounds' choices are stored: a hostile collector can name any number of rounds. */
const MAX_CHOICES = 100;

/** The chosen record, or null if there is none. A record with a URL is preferred to a query alone, which says less. */
export async function choose(
  key: Uint8Array<ArrayBuffer>,
  round: string,
  records: StoredRecord[],
): Promise<StoredRecord | null> {
  const opened = records.filter(({ url }) => url !== "");
  const candidates = opened.length > 0 ? opened : records;
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const secret = await crypto.subtle.importKey("raw", key, algorithm, false, ["sign"]);
  const rank = async ({ query, url }: StoredRecord) => {
    const text = new TextEncoder().encode(JSON.stringify([round, query, url]));
    return [...new Uint8Array(await crypto.subtle.sign("HMAC", secret, text))].map(hexadecimal).join("");
  };
  const ranks = await Promise.all(candidates.map(rank));
  const smallest = ranks.reduce((best, one, place) => (one < (ranks[best] ?? one) ? place : best), 0);
  return candidates[smallest] ?? null;
}

interface Choice {
  record: StoredRecord | null;
  time: number;
  /** Whether its upload has arrived. */
  confirmed: boolean;
}

/** The choice of a round, made now unless it was made before. */
export async function choiceOf(
  round: string,
  time: number,
  make: () => Promise<StoredRecord | null>,
): Promise<StoredRecord | null> {
  const stored = await storedChoice(round);
  if (stored) return stored.record;
  const record = await make();
  await storeChoice(round, { record, time, confirmed: false });
  return record;
}

/** Whether a record was chosen for this round whose upload may not have arrived. */
export async function isPending(round: string): Promise<boolean> {
  return (await storedChoice(round))?.confirmed === false;
}

/** Note that the upload of this round has arrived. */
export async function confirmChoice(round: string): Promise<void> {
  const stored = await storedChoice(round);
  if (stored) await storeChoice(round, { ...stored, confirmed: true });
}

function storedChoice(round: string): Promise<Choice | undefined> {
  return reading<Choice | undefined>(["choices"], (transaction) => transaction.objectStore("choices").get(round), undefined);
}

function storeChoice(round: string, choice: Choice): Promise<void> {
  return writing(["choices"], (transaction) => {
    const store = transaction.objectStore("choices");
    store.put(choice, round);
    const keys = store.index("time").getAllKeys();
    keys.onsuccess = () => {
      for (const old of keys.result.slice(0, -MAX_CHOICES)) store.delete(old);
    };
  });
}

function hexadecimal(byte: number): string {
  return byte.toString(16).padStart(2, "0");
}
