/** Devices in Node, and a collector that a test commands. */
import { afterEach, beforeEach } from "vitest";
import { FakeCollector, PINNED } from "../../../e2e/fakeCollector.ts";
import { Agent, type AgentOptions } from "../../src/index.ts";
import { withStorage } from "./storage.ts";

export let fake: FakeCollector;

/** Give every test of this file a new collector and empty storage. */
export function withDevices(): void {
  withStorage();

  beforeEach(async () => {
    fake = await FakeCollector.start();
  });

  afterEach(() => fake.close());
}

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
