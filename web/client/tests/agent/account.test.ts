/** A device's account: never replaced by a new one, whatever happens to it or to the browser's storage. */
import { IDBDatabase, IDBObjectStore } from "fake-indexeddb";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { Agent } from "../../src/index.ts";
import { agent, fake, stored, withDevices } from "./device.ts";

withDevices();

const EMPTY = { sent: [], records: [], newest: {}, bundles: {}, charged: null };
const SENT = { campaign: "c".repeat(32), round: 1, round_id: "1".repeat(32), epsilon: "4", body: "" };
const RECORD = { campaign: "c".repeat(32), round_id: "1".repeat(32), receipt: "ab".repeat(32) };
const with_ = (changed: object) => JSON.stringify({ ...EMPTY, ...changed });

const COSTS = ["x", "1e400000000", "1/0", "-4", "", 4, null, "9".repeat(5_000)].map((epsilon) => ({ epsilon }));
const SENT_WRONGS = [
  ...COSTS,
  { round: "1" },
  { round: true },
  { round: -1 },
  { round_id: "../../x" },
  { campaign: 7 },
  { body: 7 },
  { arrived: "no" },
  { over: 0 },
  { more: 1 },
];
const RECORD_WRONGS = [
  { receipt: null },
  { epsilon: "1e400000000" },
  { epsilon: "-4" },
  { epsilon: 4 },
  { delta: "x" },
  { withdrawn: "no" },
  { round: "1" },
  { round_id: 7 },
  { campaign: null },
  { more: 1 },
];
const NUMBERS = ["x", "1", 0.5, true, -5, null];
const DAMAGED: unknown[] = [
  "",
  "{",
  "{}",
  "[".repeat(100_000),
  7,
  null,
  { ...EMPTY },
  with_({ sent: [{}] }),
  with_({ sent: {} }),
  with_({ sent: null }),
  ...SENT_WRONGS.map((wrong) => with_({ sent: [{ ...SENT, ...wrong }] })),
  ...RECORD_WRONGS.map((wrong) => with_({ records: [{ ...RECORD, ...wrong }] })),
  ...NUMBERS.map((wrong) => with_({ newest: { c: wrong } })),
  ...NUMBERS.map((wrong) => with_({ bundles: { c: wrong } })),
  ...["x", "1", "nan", true].map((charged) => with_({ charged })),
  with_({ charged: 1 }).replace('"charged":1', '"charged":NaN'), // every comparison with NaN is false
  with_({ charged: 1 }).replace('"charged":1', '"charged":1e999'),
  ...["x", "-4", "1e400000000", "1/0", 4, true, []].map((limit) => with_({ limit })),
  with_({ newest: [] }),
  with_({ bundles: null }),
];

/** Everything that reads or spends. */
const ACTS: [string, (device: Agent) => Promise<unknown>][] = [
  ["takePart", (device) => device.takePart("query 1")],
  ["upload", (device) => device.upload("t", "query", "a.example")],
  ["withdraw", (device) => device.withdraw()],
  ["refreshBundle", (device) => device.refreshBundle()],
  ["account", (device) => device.account()],
  ["agreeToLimit", (device) => device.agreeToLimit()],
];

describe("a damaged account", () => {
  test("is not replaced, and nothing is sent; its user can opt out", async () => {
    fake.publishBundle(1);
    for (const [i, value] of DAMAGED.entries()) {
      const device = await agent();
      await stored("account", "account", value);
      for (const [name, act] of ACTS) await expect(act(device), `${i} ${name}`).rejects.toThrow("account: cannot be read");
      expect(await stored("account", "account")).toEqual(value);
    }
    expect(fake.requests).toEqual([]);
    const device = await agent();
    await device.optOut();
    expect(await device.takePart("query 1")).toBeNull();
  });

  test("of an earlier version is not damaged: its uploads were not charged", async () => {
    const device = await agent({ lifetimeEpsilon: 40 });
    await stored("account", "account", with_({ records: [RECORD] }));
    expect(await device.account()).toMatchObject({ spent: "4", uploaded: [{ ...RECORD, round: 0, epsilon: null }] });
    expect(await device.takePart("query 1")).toBeNull();
    fake.round = { ...fake.round, state: "open" };
    await expect(device.upload("t", "query", "a.example")).rejects.toThrow("different number");
    fake.records.set(RECORD.receipt, "");
    expect(await device.withdraw()).toBe(1);
    expect((await device.account()).uploaded.map((one) => one.withdrawn)).toEqual([true]);
  });
});

/** Abort a transaction after its requests have succeeded, as a browser does if the disk is full. */
function endSoon(transaction: IDBTransaction): void {
  const store = transaction.objectStore.bind(transaction);
  transaction.objectStore = (name) => {
    const objects = store(name);
    const put = objects.put.bind(objects);
    objects.put = (...values) => {
      const request = put(...values);
      request.addEventListener("success", () => transaction.abort());
      return request;
    };
    return objects;
  };
}

describe("a browser whose storage fails", () => {
  let device: Agent;

  beforeEach(async () => {
    device = await agent();
  });

  afterEach(() => {
    vi.restoreAllMocks();
  });

  const failing = (method: "put" | "get", fail: () => never) =>
    vi.spyOn(IDBObjectStore.prototype, method).mockImplementation(fail);

  test("while the account is written: nothing is sent", async () => {
    const full = failing("put", () => {
      throw new DOMException("full", "QuotaExceededError");
    });
    await expect(device.takePart("query 1")).rejects.toThrow("account: cannot be");
    fake.round = { ...fake.round, state: "open" };
    await expect(device.upload("t", "query", "a.example")).rejects.toThrow("account: cannot be");
    await expect(device.optOut()).rejects.toThrow("account: cannot be"); // the user must know that it is not stored
    full.mockRestore();
    expect(fake.posted).toEqual([]);
    expect((await device.account()).left).toBe("8");
  });

  test("when the transaction ends: nothing is sent", async () => {
    const begin = IDBDatabase.prototype.transaction;
    const aborted = vi.spyOn(IDBDatabase.prototype, "transaction").mockImplementation(function (this: IDBDatabase, ...more) {
      const transaction = begin.apply(this, more);
      if (more[1] === "readwrite") endSoon(transaction);
      return transaction;
    });
    const results = await Promise.allSettled([device.takePart("query 1")]);
    aborted.mockRestore();
    expect(results).toMatchObject([{ status: "rejected", reason: { name: "DocumentError", subject: "account" } }]);
    expect(fake.posted).toEqual([]);
    expect((await device.account()).sent).toEqual([]);
  });

  test("while the account or the opt-out is read: nothing is sent", async () => {
    const failed = failing("get", () => {
      throw new DOMException("lost", "UnknownError");
    });
    for (const [name, act] of ACTS) await expect(act(device), name).rejects.toThrow("account: cannot be");
    await expect(device.optedOut()).rejects.toThrow("account: cannot be");
    failed.mockRestore();
    expect(fake.requests).toEqual([]);
  });

  test("because its user deletes it: this agent does not start a new account", async () => {
    await device.takePart("query 1");
    const request = indexedDB.deleteDatabase("blender-dp");
    await new Promise((resolve) => {
      request.onsuccess = resolve;
    });
    fake.nextRound(2);
    const before = fake.requests.length;
    for (const [name, act] of ACTS) await expect(act(device), name).rejects.toThrow("account: cannot be");
    expect(fake.requests.length).toBe(before);
  });

  test("or refuses to open it", async () => {
    vi.spyOn(indexedDB, "open").mockImplementation(() => {
      throw new DOMException("private", "SecurityError");
    });
    await expect(agent()).rejects.toThrow("account: cannot be");
  });

  test("or was written by a later version", async () => {
    const request = indexedDB.open("later", 2);
    await new Promise((resolve) => {
      request.onsuccess = resolve;
    });
    await expect(agent({ database: "later" })).rejects.toThrow("account: cannot be");
  });

  test("or has no locks, or the page is not secure", async () => {
    vi.stubGlobal("navigator", {});
    await expect(agent()).rejects.toThrow("browser: offers no locks");
    vi.stubGlobal("isSecureContext", false);
    await expect(agent()).rejects.toThrow("not secure");
  });
});

test("the account is stored durably, and its lock is not held during any request", async () => {
  const begin = vi.spyOn(IDBDatabase.prototype, "transaction");
  let held = 0;
  const request = navigator.locks.request.bind(navigator.locks) as (
    name: string,
    act: () => Promise<unknown>,
  ) => Promise<unknown>;
  Object.assign(navigator.locks, {
    request: (name: string, act: () => Promise<unknown>) =>
      request(name, async () => {
        held++;
        return await act().finally(() => held--);
      }),
  });
  const seen: number[] = [];
  fake.instead = () => {
    seen.push(held);
    return undefined;
  };
  await (await agent()).takePart("query 1");
  expect(seen).toEqual([0, 0, 0]);
  const writes = begin.mock.calls.filter(([, mode]) => mode === "readwrite");
  expect(writes).toEqual([1, 2].map(() => [["account"], "readwrite", { durability: "strict" }]));
  begin.mockRestore();
});

describe("one account for the campaigns of two collectors", () => {
  test("what belongs to one is not sent to the other", async () => {
    const { FakeCollector } = await import("../../../e2e/fakeCollector.ts");
    const other = await FakeCollector.start();
    const campaign = "d".repeat(32);
    const limit = { lifetimeEpsilon: 40 };
    const elsewhere = await agent({ collector: other.url, key: other.key, campaign, ...limit });
    fake.lost = true;
    await expect((await agent(limit)).takePart("query 1")).rejects.toThrow("does not respond");
    fake.lost = false;
    other.round = { ...other.round, id: "9".repeat(32) };
    other.publishList({ campaign });
    expect((await elsewhere.takePart("query 1"))?.arrived).toBe(true);
    expect(other.posted).not.toContain(fake.posted[0]);
    const flags = async () => (await elsewhere.account()).sent.map((one) => [one.campaign[0], one.arrived]);
    expect(await flags()).toEqual([
      ["c", false],
      ["d", true],
    ]);
    await (await agent(limit)).takePart("query 2");
    expect(fake.posted[1]).toBe(fake.posted[0]);
    expect(await flags()).toEqual([
      ["c", true],
      ["d", true],
    ]);
    expect((await elsewhere.account()).left).toBe("32"); // both are charged to one lifetime budget
    fake.nextRound(2, "open");
    expect(await (await agent(limit)).upload("t", "query", "a.example")).toBeTruthy();
    expect(await elsewhere.withdraw()).toBe(0);
    expect(other.paths.filter((path) => path.startsWith("DELETE"))).toEqual([]); // a receipt is for its own collector
    await other.close();
  });
});
