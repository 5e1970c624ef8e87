/** IndexedDB and Web Locks in Node, as browsers have them, in memory and new for every test. */
import { IDBFactory } from "fake-indexeddb";
import { afterEach, beforeEach, vi } from "vitest";
import { Locks } from "./locks.ts";

/** Replace both before every test of this file, and restore what was there. */
export function withStorage(): void {
  beforeEach(() => {
    vi.stubGlobal("indexedDB", new IDBFactory());
    vi.stubGlobal("isSecureContext", true);
    vi.stubGlobal("navigator", { locks: new Locks() });
  });

  afterEach(() => {
    vi.unstubAllGlobals();
  });
}
