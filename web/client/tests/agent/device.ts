/** Devices in Node: IndexedDB and Web Locks as browsers have them, in memory, and a collector that a test commands. */
import { IDBFactory } from "fake-indexeddb";
import { afterEach, beforeEach, vi } from "vitest";
import { FakeCollector, PINNED } from "../../../e2e/fakeCollector.ts";
import { Agent, type AgentOptions } from "../../src/index.ts";

export let fake: FakeCollector;

beforeEach(async () => {
  vi.stubGlobal("indexedDB", new IDBFactory());
  vi.stubGlobal("isSecureContext", true);
  vi.stubGlobal("navigator", { locks: new Locks() });
  fake = await FakeCollector.start();
});

afterEach(async () => {
  await fake.close();
  vi.unstubAllGlobals();
});

/** Start the device again, with these changes to its settings. */
export function agent(changed: Partial<AgentOptions> = {}): Promise<Agent> {
  return Agent.open({ collector: fake.url, key: fake.key, ...PINNED, ...changed });
}

/** What is stored under a key of a store, or all that a test puts there. */
export async function stored(store: string, key: string, ...value: unknown[]): Promise<unknown> {
  const database = await finished(indexedDB.open("blender-dp"));
  const objects = database.transaction(store, "readwrite").objectStore(store);
  const request: IDBRequest = value.length ? objects.put(value[0], key) : objects.get(key);
  const result = await finished(request);
  database.close();
  return result;
}

export function finished<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

/** Exclusive locks: the next act starts when the one before has ended. */
export class Locks {
  readonly #last = new Map<string, Promise<unknown>>();

  request<T>(name: string, act: () => Promise<T>): Promise<T> {
    const result = (this.#last.get(name) ?? Promise.resolve()).then(act, act);
    this.#last.set(
      name,
      result.catch(() => {}),
    );
    return result;
  }
}
