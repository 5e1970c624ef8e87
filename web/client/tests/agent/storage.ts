/** IndexedDB and Web Locks in Node, as browsers have them, in memory and new for every test. */
import { IDBFactory } from "fake-indexeddb";
import { afterEach, beforeEach, vi } from "vitest";

beforeEach(() => {
  vi.stubGlobal("indexedDB", new IDBFactory());
  vi.stubGlobal("isSecureContext", true);
  vi.stubGlobal("navigator", { locks: new Locks() });
});

afterEach(() => {
  vi.unstubAllGlobals();
});

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
