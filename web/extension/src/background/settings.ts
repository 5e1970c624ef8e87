/** What the user has decided, and when the next turn is. Read from disk whenever it is needed, changed in one transaction. */
import type { Consent } from "../shared/messages.ts";
import { reading, writing } from "./database.ts";

export interface Settings {
  consent: Consent;
  /** The invitation as it was pasted; it is verified again whenever it is read. */
  invitation: string | null;
  /** What the curator issued to an opt-in user. */
  token: string | null;
  paused: boolean;
  /** Whether the user has left for ever. */
  left: boolean;
  /** The key of the choice of records, drawn once. */
  choiceKey: Uint8Array<ArrayBuffer> | null;
  /** When the next turn is due, in seconds since 1970. */
  nextTurn: number | null;
  /** Why the last turn failed. */
  problem: string | null;
}

const KEY = "settings";
const NOTHING: Settings = {
  consent: "none",
  invitation: null,
  token: null,
  paused: false,
  left: false,
  choiceKey: null,
  nextTurn: null,
  problem: null,
};

/** The settings as stored; those of someone who was never asked if there are none. */
export async function readSettings(): Promise<Settings> {
  const stored = await reading(["settings"], (transaction) => transaction.objectStore("settings").get(KEY), {});
  return { ...NOTHING, ...stored };
}

/** Do this in a transaction of the store `settings`, if searches are stored and turns are taken at that moment. */
export function ifActive(transaction: IDBTransaction, work: () => void): void {
  const request = transaction.objectStore("settings").get(KEY);
  request.onsuccess = () => {
    if (isActive({ ...NOTHING, ...request.result })) work();
  };
}

/** Change some settings, depending on the others; null changes nothing, and once the user has left, nothing changes. */
export function changeSettings(change: (current: Settings) => Partial<Settings> | null): Promise<void> {
  return writing(["settings"], (transaction) => {
    const store = transaction.objectStore("settings");
    const request = store.get(KEY);
    request.onsuccess = () => {
      const current: Settings = { ...NOTHING, ...request.result };
      const changed = current.left ? null : change(current);
      if (changed) store.put({ ...current, ...changed }, KEY);
    };
  });
}

/** Store that the user declined, and nothing else. */
export function storeRefusal(): Promise<void> {
  return writing(["settings"], (transaction) => {
    const store = transaction.objectStore("settings");
    const request = store.get(KEY);
    request.onsuccess = () => {
      if (!request.result?.left) store.put({ consent: "declined" }, KEY);
    };
  });
}

/** Whether the user participates, apart from a pause. */
export function hasJoined({ consent, invitation, left }: Settings): boolean {
  return (consent === "client" || consent === "opt-in") && invitation !== null && !left;
}

/** Whether searches are stored and turns are taken. */
export function isActive(settings: Settings): boolean {
  return hasJoined(settings) && !settings.paused;
}
