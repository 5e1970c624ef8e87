/** As much of a browser as the background needs, with an empty profile. */
import { IDBFactory, IDBKeyRange } from "fake-indexeddb";
import { vi } from "vitest";

type Act = (lock: object | null) => Promise<unknown>;

/** Exclusive locks, as `navigator.locks` has them. */
class Locks {
  readonly #last = new Map<string, Promise<unknown>>();

  request(name: string, options: { ifAvailable?: boolean } | Act, given?: Act): Promise<unknown> {
    const act = typeof options === "function" ? options : (given as Act);
    if (typeof options !== "function" && options.ifAvailable && this.#last.has(name)) return act(null);
    const result = (this.#last.get(name) ?? Promise.resolve()).then(() => act({}));
    const ended: Promise<unknown> = result
      .catch(() => {})
      .then(() => this.#last.get(name) === ended && this.#last.delete(name));
    this.#last.set(name, ended);
    return result;
  }
}

export const OWN = "chrome-extension://own/";

/** What the extension has asked of the browser. */
export interface Asked {
  granted: Set<string>;
  alarms: Map<string, number>;
}

/** Start with an empty profile. */
export function freshBrowser(): Asked {
  const asked: Asked = { granted: new Set(), alarms: new Map() };
  vi.stubGlobal("indexedDB", new IDBFactory());
  vi.stubGlobal("IDBKeyRange", IDBKeyRange);
  vi.stubGlobal("isSecureContext", true);
  vi.stubGlobal("navigator", { locks: new Locks() });
  vi.stubGlobal("chrome", {
    runtime: { id: "own", getURL: (path: string) => OWN + path },
    permissions: {
      contains: async ({ origins }: { origins: string[] }) => origins.every((one) => asked.granted.has(one)),
      remove: async ({ origins }: { origins: string[] }) => origins.every((one) => asked.granted.delete(one)),
    },
    alarms: {
      get: async (name: string) => (asked.alarms.has(name) ? { scheduledTime: asked.alarms.get(name) } : undefined),
      create: async (name: string, { when }: { when: number }) => asked.alarms.set(name, when),
      clear: async (name: string) => asked.alarms.delete(name),
    },
  });
  return asked;
}

/** The names of all databases, and everything in them. */
export async function stored(): Promise<Record<string, unknown[]>> {
  const names = (await indexedDB.databases()).map(({ name }) => name ?? "");
  const entries = names.map(async (name) => [name, await everything(name)] as const);
  return Object.fromEntries(await Promise.all(entries));
}

async function everything(name: string): Promise<unknown[]> {
  const database = await finished(indexedDB.open(name));
  const stores = [...database.objectStoreNames];
  const all = stores.map((store) => finished(database.transaction(store).objectStore(store).getAll()));
  const values = (await Promise.all(all)).flat();
  database.close();
  return values;
}

export function finished<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

/** A valid invitation; the collector need not exist. */
export function invitation(changed: Record<string, unknown> = {}): string {
  return JSON.stringify({
    schema: "blender-dp/invitation/1",
    collector: "https://collector.example",
    key: "ZXlqvWU1f+gEgtX7VLPWbdSTx8xQ3IQIRF+DiBRzFM4=",
    campaign: "0123456789abcdef0123456789abcdef",
    epsilon: "4",
    delta: "1/1000000",
    lifetime_epsilon: "48",
    name: "searches",
    ...changed,
  });
}

export const HOST = "https://collector.example/*";
