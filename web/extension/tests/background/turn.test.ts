/** Turns against a collector that a test commands: what is sent, in which round, and what is never sent. */
import { setTimeout as wait } from "node:timers/promises";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { FakeCollector, PINNED } from "../../../e2e/fakeCollector.ts";
import { json } from "../../../e2e/server.ts";
import { storeSearch } from "../../src/background/capture.ts";
import * as decisions from "../../src/background/decisions.ts";
import { guardNetwork, holdRequests, withNetwork } from "../../src/background/network.ts";
import { readSettings } from "../../src/background/settings.ts";
import { currentStatus } from "../../src/background/status.ts";
import { takeTurn } from "../../src/background/turn.ts";
import { type Asked, freshBrowser, invitation, stored } from "./browser.ts";

vi.mock("../../src/background/timing.ts", () => ({ PERIOD_SECONDS: 3600, ROUND_SECONDS: 0, CHOICE_SECONDS: 0 }));

// Before the guard is loaded: what it sends, and how.
const { modes, node } = vi.hoisted(() => {
  const [modes, node] = [[] as (string | undefined)[], globalThis.fetch];
  globalThis.fetch = (input, { mode, ...init } = {}) => {
    modes.push(mode);
    return node(input, init);
  };
  return { modes, node };
});
const HOST = "http://127.0.0.1/*";

let asked: Asked;
let fake: FakeCollector;

beforeEach(async () => {
  asked = freshBrowser();
  fake = await FakeCollector.start();
  guardNetwork();
  await decisions.consent({ answer: "client" });
  asked.granted.add(HOST);
  const { campaign } = PINNED;
  await decisions.invitation({ text: invitation({ collector: fake.url, key: fake.key, campaign, lifetime_epsilon: "12" }) });
});

afterEach(async () => {
  globalThis.fetch = node;
  modes.length = 0;
  await fake.close();
});

const now = () => Date.now() / 1000;

test("two alarms at the same time report once", async () => {
  await storeSearch("query 1", "https://site1.example/");
  await Promise.all([takeTurn(), takeTurn(), takeTurn()]);
  await takeTurn();
  expect(fake.posted).toHaveLength(1);
  expect(await currentStatus()).toMatchObject({ spent: "4", remaining: "8", problem: null });
});

test("the next turn is planned even if this one cannot be taken, or fails", async () => {
  const first = asked.alarms.get("turn");
  await withNetwork(() => takeTurn(now() + 10));
  const second = asked.alarms.get("turn");
  expect(second).not.toBe(first);
  expect(fake.requests).toEqual([]);
  fake.down = true;
  await takeTurn(now() + 20);
  expect(asked.alarms.get("turn")).not.toBe(second);
  expect((await currentStatus()).problem).toMatch(/^collector: /);
});

test("a collector's own words are not shown to the user", async () => {
  fake.instead = () => json({ detail: "Your account is locked. Visit https://evil.example" }, 409);
  await takeTurn();
  expect((await currentStatus()).problem).toBe("collector: responds with 409 (conflict). Check the current state.");
});

test("a turn waits for nobody: pausing ends its requests, and nothing follows", async () => {
  fake.instead = () => new Promise(() => {});
  const turn = takeTurn();
  await vi.waitFor(() => expect(fake.requests).toHaveLength(1));
  await decisions.pause({ paused: true });
  await turn;
  await takeTurn();
  expect(fake.requests).toHaveLength(1);
});

test("a permission that was taken back is a problem that the user sees, and no request", async () => {
  asked.granted.clear();
  await takeTurn();
  expect(fake.requests).toEqual([]);
  expect((await currentStatus()).problem).toMatch(/^permission: /);
});

test("every request has the mode in which no browser sends the origin of the extension", async () => {
  fake.publishBundle(1);
  await takeTurn();
  expect(fake.paths).toContain(`POST /v1/rounds/${fake.round?.id}/reports`);
  expect(modes.length).toBe(fake.requests.length);
  expect(new Set(modes)).toEqual(new Set(["same-origin"]));
});

test("during a pause only what the user asks for uses the network", async () => {
  const path = `${fake.url}/v1/rounds/current`;
  await decisions.pause({ paused: true });
  await withNetwork(async () => void (await expect(fetch(path)).rejects.toThrow("not allowed")));
  await withNetwork(async () => expect((await fetch(path)).ok).toBe(true), true);
});

test("no request leaves while requests are held", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout"] });
  try {
    await withNetwork(async () => {
      holdRequests(1);
      const response = fetch(`${fake.url}/v1/rounds/current`);
      await wait(100);
      expect(fake.requests).toEqual([]);
      vi.advanceTimersByTime(1000);
      expect((await response).ok).toBe(true);
    });
  } finally {
    vi.useRealTimers();
  }
});

test("no code can use the network outside of a task, for another server, or after leaving", async () => {
  const path = `${fake.url}/v1/rounds/current`;
  await expect(fetch(path)).rejects.toThrow("not allowed");
  let left: Promise<void> | null = null;
  await withNetwork(async () => {
    for (const other of ["https://evil.example/", fake.url.replace("http:", "https:"), `${fake.url.slice(0, -1)}/`]) {
      await expect(fetch(other)).rejects.toThrow("not allowed");
    }
    await expect(fetch(new Request(path))).rejects.toThrow("not allowed");
    expect((await fetch(path)).ok).toBe(true);
    left = decisions.leave();
    await vi.waitFor(async () => expect((await readSettings()).left).toBe(true));
    await expect(fetch(path)).rejects.toThrow("not allowed");
  });
  await left;
  await expect(fetch(path)).rejects.toThrow("not allowed");
});

test("an opt-in user's upload is repeated until it arrives, always with the same record, and then never again", async () => {
  await decisions.consent({ answer: "opt-in", token: "0".repeat(64) });
  fake.round = { ...fake.round, state: "open" };
  await storeSearch("query 1", "https://site1.example/");
  fake.lost = true;
  await takeTurn();
  expect((await currentStatus()).problem).toMatch(/^collector: does not respond/);
  for (let i = 0; i < 20; i++) await storeSearch(`later ${i}`, "https://later.example/");
  fake.lost = false;
  await takeTurn();
  await takeTurn();
  expect(fake.posted).toHaveLength(2);
  expect(fake.posted[1]).toBe(fake.posted[0]);
  expect(JSON.parse(fake.posted[0] ?? "")).toMatchObject({ query: "query 1" });
  expect(await currentStatus()).toMatchObject({ spent: "4", problem: null, uploads: { rounds: 1 } });
});

test("a collector that names a new round first and the open one second gets one record", async () => {
  await decisions.consent({ answer: "opt-in", token: "0".repeat(64) });
  for (let i = 0; i < 20; i++) await storeSearch(`query ${i}`, "https://site.example/");
  fake.round = { ...fake.round, state: "open" };
  await takeTurn();
  for (let turn = 0; turn < 5; turn++) {
    let asked = 0;
    fake.instead = ({ url }) => {
      if (url.pathname !== "/v1/rounds/current" || asked++ > 0) return undefined;
      return json({ key: "x", round: { ...fake.round, id: String(turn + 2).repeat(32) }, released: null });
    };
    await takeTurn();
  }
  expect(fake.posted).toHaveLength(1);
});

test("an upload can be withdrawn, also during a pause, and stays charged", async () => {
  await decisions.consent({ answer: "opt-in", token: "0".repeat(64) });
  fake.round = { ...fake.round, state: "open" };
  await takeTurn();
  await decisions.pause({ paused: true });
  expect(await decisions.withdraw()).toBe(1);
  expect(await currentStatus()).toMatchObject({ spent: "4", uploads: { rounds: 1, withdrawn: 1 } });
  expect(await decisions.withdraw()).toBe(0);
});

test("what was uploaded is not replaced by another record after everything was deleted", async () => {
  await decisions.consent({ answer: "opt-in", token: "0".repeat(64) });
  fake.round = { ...fake.round, state: "open" };
  fake.lost = true;
  await takeTurn();
  await decisions.deleteEverything();
  await storeSearch("another", "https://another.example/");
  fake.lost = false;
  await takeTurn();
  expect(fake.posted).toHaveLength(1);
});

test("a volunteer who changes groups does not report in the round of the upload", async () => {
  await decisions.consent({ answer: "opt-in", token: "0".repeat(64) });
  fake.round = { ...fake.round, state: "open" };
  await takeTurn();
  await decisions.consent({ answer: "client" });
  fake.round = { ...fake.round, state: "listed" };
  await takeTurn();
  expect(fake.posted).toHaveLength(1);
});

test("a round without a list makes no choice: the searches of its later days count as well", async () => {
  fake.round = { ...fake.round, state: "open" };
  await takeTurn();
  await storeSearch("query 1", "https://site1.example/");
  fake.round = { ...fake.round, state: "listed" };
  await takeTurn();
  expect(fake.posted).toHaveLength(1);
  expect(JSON.stringify(await stored())).toContain('"record":{"query":"query 1"');
});

test("a used-up budget is a problem that the user sees", async () => {
  for (const number of [1, 2, 3, 4]) {
    fake.nextRound(number);
    await takeTurn();
  }
  expect(fake.posted).toHaveLength(3);
  expect(await currentStatus()).toMatchObject({ spent: "12", remaining: "0", problem: expect.stringMatching(/^budget: /) });
});

test("cells of the last report are named, as long as its list is stored", async () => {
  await takeTurn();
  const { lastReport } = await currentStatus();
  const cells = JSON.parse(lastReport?.body ?? "").reports[0].cells;
  const names = [0, 1, 2, 3, 4].flatMap((i) => [
    { query: `query ${i}`, url: `https://site${i}.example/` },
    { query: `query ${i}`, url: null },
  ]);
  expect(lastReport?.cells).toEqual(cells.map((cell: number) => names[cell] ?? { query: null, url: null }));

  const queries = [{ query: "other", urls: ["https://other.example/"] }];
  fake.publishList({ queries, round: 1 }); // a list of a round that is over for this device: it is fetched, and refused
  fake.round = { ...fake.round, id: "7".repeat(32) };
  await takeTurn();
  expect(fake.posted).toHaveLength(1);
  expect((await currentStatus()).lastReport?.cells).toEqual(lastReport?.cells);

  await decisions.deleteEverything();
  expect((await currentStatus()).lastReport?.cells).toBeNull();
});

test("a list that does not have the digest in its address is not stored", async () => {
  await takeTurn();
  const before = (await currentStatus()).lastReport?.cells;
  for (const body of ["{}", JSON.stringify({ content: { head_list: { queries: [] } } })]) {
    fake.instead = ({ url }) => (url.pathname.startsWith("/v1/head-lists/") ? { body } : undefined);
    const digest = fake.round?.head_list;
    await withNetwork(async () => void (await (await fetch(`${fake.url}/v1/head-lists/${digest}`)).text()));
    expect((await currentStatus()).lastReport?.cells).toEqual(before);
  }
});

test("lists that were refused do not accumulate", async () => {
  for (const number of [2, 3, 4]) {
    fake.nextRound(number);
    fake.publishList({ round: number, campaign: "d".repeat(32) });
    await takeTurn();
  }
  expect(fake.posted).toEqual([]);
  expect(JSON.stringify(await stored())).not.toContain("site0.example");
});

test("the invitation of another collector forgets the results, lists and choices of the first one", async () => {
  fake.publishBundle(1);
  await storeSearch("query 1", "https://site1.example/");
  await takeTurn();
  expect((await currentStatus()).bundle).toEqual({ queries: 1 });
  await decisions.invitation({ text: invitation({ collector: fake.url }) });
  expect(await currentStatus()).toMatchObject({ bundle: null, problem: null, stored: 1, lastReport: { cells: null } });
  expect(JSON.stringify((await stored())["blender-dp-extension"])).not.toContain('"record":');
});

test("declining during a turn stores the refusal and nothing else, and deletes the results", async () => {
  fake.publishBundle(1);
  await takeTurn();
  expect((await currentStatus()).bundle).toEqual({ queries: 1 });
  fake.instead = () => new Promise(() => {});
  const before = fake.requests.length;
  const turn = takeTurn();
  await vi.waitFor(() => expect(fake.requests.length).toBe(before + 1));
  await decisions.consent({ answer: "declined" });
  await turn;
  const { "blender-dp-extension": own, "blender-dp": account } = await stored();
  expect(own).toEqual([{ consent: "declined" }]);
  expect(account).toHaveLength(1); // what was spent, and no results
  expect(asked.alarms.size).toBe(0);
});

test("all campaigns share one account, whatever their invitations are called", async () => {
  await takeTurn();
  const other = { name: "another", campaign: "d".repeat(32), collector: fake.url, key: fake.key, lifetime_epsilon: "12" };
  await decisions.invitation({ text: invitation(other) });
  expect(await currentStatus()).toMatchObject({ spent: "4", remaining: "8" });
  expect(Object.keys(await stored()).toSorted()).toEqual(["blender-dp", "blender-dp-extension"]);
});
