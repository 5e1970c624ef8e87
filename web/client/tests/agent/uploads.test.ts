/** Uploads of opt-in users' records. */
import { beforeEach, describe, expect, test } from "vitest";
import { type Agent, DocumentError } from "../../src/index.ts";
import { agent, fake, withDevices } from "./device.ts";

withDevices();

const TOKEN = "5".repeat(64);
const upload = (device: Agent) => device.upload(TOKEN, "query", "a.example");
const state = (name: string) => {
  fake.round = { ...fake.round, state: name };
};

beforeEach(() => state("open"));

test("upload and withdraw", async () => {
  const device = await agent();
  const made = await device.upload(TOKEN, " Query ", "Site.example?utm_source=x");
  const { query, url, receipt } = JSON.parse(fake.posted[0] ?? "");
  expect([query, url, receipt]).toEqual(["query", "https://site.example/", made?.receipt]);
  expect(fake.requests.map((one) => one.headers.authorization)).toEqual([undefined, undefined, `Bearer ${TOKEN}`]);
  const stored = { campaign: "c".repeat(32), round_id: "1".repeat(32), round: 1, epsilon: "4", delta: "1/1000000" };
  expect(made).toEqual({ ...stored, receipt, withdrawn: false, stopped: false });
  expect(receipt).toMatch(/^[0-9a-f]{64}$/);
  expect(await (await agent()).account()).toMatchObject({ uploaded: [made], spent: "4", left: "4" });
  await device.optOut();
  expect(await (await agent()).withdraw()).toBe(1);
  expect(fake.paths.at(-1)).toBe(`DELETE /v1/records/${receipt}`);
  expect(await device.withdraw()).toBe(0);
  expect(await device.account()).toMatchObject({ uploaded: [{ withdrawn: true }], left: "4" }); // the collector has seen it
});

test("nothing is sent in a round other than the one that the record was chosen for", async () => {
  const device = await agent();
  expect(await device.upload(TOKEN, "query", "a.example", { round: "2".repeat(32) })).toBeNull();
  state("listed");
  expect(await device.takePart("query", "a.example", { round: "2".repeat(32) })).toBeNull();
  expect(new Set(fake.paths)).toEqual(new Set(["GET /v1/rounds/current"]));
  expect(await device.takePart("query", "a.example", { round: "1".repeat(32) })).not.toBeNull();
});

test.each(["1/0", "0/00"])("an opening with the number %s cannot be read", async (epsilon) => {
  fake.publishOpening({ epsilon });
  await expect(upload(await agent())).rejects.toThrow(DocumentError);
  expect(fake.posted).toEqual([]);
});

test.each([
  ["joe@example.com", "a.example"],
  ["query", "https://a.example/?token=x"],
  ["query", null],
  [null, "a.example"],
  ["", ""],
  ["\ud800\x00", "a.example"],
  ["x".repeat(2_048), "a.example"],
  ['"'.repeat(1_024), "a.example"], // twice as long in JSON
  ["ä".repeat(1_024), "a.example"],
  ["x".repeat(10_000_000), "a.example"],
])("an unusable record is uploaded as no record: %.20s", async (query, url) => {
  const made = await (await agent()).upload("t", query, url);
  expect(JSON.parse(fake.posted[0] ?? "")).toEqual({ query: null, url: null, receipt: made?.receipt });
  state("listed");
  expect(await (await agent()).takePart(query, url)).toBeNull();
});

test("all uploads have the same length, whatever they contain", async () => {
  const records: [string | null, string | null][] = [
    [null, null],
    ["a", "a.example"],
    ["é".repeat(300), "b.example/🦊"],
    ["x".repeat(2_000), "c.example"],
    ["x".repeat(9_999), "d"],
    ['a"b\\c'.repeat(100), 'e.example/""\\'],
    ["joe@example.com", "f.example"],
    ["\u2028\n\x1f\x7f", "g.example"],
  ];
  for (const [query, url] of records) await (await agent()).upload(TOKEN, query, url);
  expect(new Set(fake.posted.map((body) => Buffer.byteLength(body)))).toEqual(new Set([2_304]));
  expect(fake.posted.filter((body) => JSON.parse(body).query !== null).length).toBe(4);
});

test("the longest record fits", async () => {
  const room = 2_048 - '["", "https://a.example/"]'.length;
  for (const length of [room, room + 1]) await (await agent()).upload("t", "x".repeat(length), "a.example");
  expect(fake.posted.map((body) => JSON.parse(body).query === null)).toEqual([false, true]);
});

test("a second upload has the same receipt and is charged once", async () => {
  const first = await upload(await agent({ leastSeconds: 86_400 }));
  expect(await (await agent({ leastSeconds: 86_400 })).upload(TOKEN, "other", "a.example")).toEqual(first);
  expect(fake.posted.map((body) => JSON.parse(body).query)).toEqual(["query", "other"]);
  expect(await (await agent()).account()).toMatchObject({ uploaded: [first], left: "4" });
});

test("after a withdrawal the device does not participate in the round", async () => {
  const first = await upload(await agent());
  expect(await (await agent()).withdraw()).toBe(1);
  expect(await upload(await agent())).toBeNull();
  state("listed");
  expect(await (await agent()).takePart("query 1")).toBeNull();
  expect(fake.posted.length).toBe(1);
  fake.nextRound(2, "open");
  expect((await upload(await agent()))?.receipt).not.toBe(first?.receipt);
});

test("an upload that may have arrived prevents a report, and can be withdrawn", async () => {
  fake.lost = true;
  await expect(upload(await agent())).rejects.toThrow("does not respond");
  fake.lost = false;
  const [made] = (await (await agent()).account()).uploaded;
  expect(JSON.parse(fake.posted[0] ?? "").receipt).toBe(made?.receipt);
  state("listed");
  expect(await (await agent()).takePart("query 1")).toBeNull();
  expect(await (await agent()).withdraw()).toBe(1);
  expect(fake.records.size).toBe(0);
  expect(await (await agent()).takePart("query 1")).toBeNull();
});

test.each([403, 404, 409, 422, 429, 500, 503])("an upload refused with %i still prevents a report", async (status) => {
  fake.instead = ({ method }) => (method === "POST" ? { status } : undefined);
  await expect(upload(await agent())).rejects.toMatchObject({ name: /^(Response|Busy)Error$/, status });
  fake.instead = () => undefined;
  state("listed");
  expect(await (await agent()).takePart("query 1")).toBeNull();
  expect(await (await agent()).account()).toMatchObject({ uploaded: [{}], left: "4" });
});

test("a response with another receipt is refused", async () => {
  fake.receipt = "f".repeat(64);
  await expect(upload(await agent())).rejects.toThrow("different receipt");
  expect(await (await agent()).withdraw()).toBe(1);
});

test("too late to withdraw", async () => {
  const made = await upload(await agent());
  fake.records.clear();
  expect(await (await agent()).withdraw()).toBe(0);
  expect((await (await agent()).account()).uploaded).toEqual([{ ...made, stopped: true }]);
});

test.each([401, 403, 500])("a withdrawal refused with %i can be tried again", async (status) => {
  await upload(await agent());
  fake.instead = () => ({ status });
  await expect((await agent()).withdraw()).rejects.toMatchObject({ status });
  fake.instead = () => undefined;
  expect(await (await agent()).withdraw()).toBe(1);
});

test("a device without a delta uploads nothing", async () => {
  const { delta: _, ...options } = { delta: null };
  await expect(upload(await agent({ ...options, delta: null }))).rejects.toThrow("delta: is not set");
  expect(fake.requests).toEqual([]);
  state("listed");
  expect((await (await agent({ delta: null })).takePart("query 1"))?.arrived).toBe(true); // a report has no δ
});

describe("replays", () => {
  test("an older round, after an upload or a report", async () => {
    fake.publishOpening({ round: 5 });
    expect(await upload(await agent({ lifetimeEpsilon: 40 }))).toBeTruthy();
    fake.round = { ...fake.round, id: "2".repeat(32) };
    for (const round of [4, 5, 1]) {
      fake.publishOpening({ round });
      await expect(upload(await agent({ lifetimeEpsilon: 40 }))).rejects.toThrow("older");
      fake.publishList({ round });
      state("listed");
      await expect((await agent({ lifetimeEpsilon: 40 })).takePart("query 1")).rejects.toThrow("older round");
      state("open");
    }
    expect(fake.posted.length).toBe(1);
    fake.publishOpening({ round: 6 });
    expect((await upload(await agent({ lifetimeEpsilon: 40 })))?.round).toBe(6);
  });

  test("a round that was reported to", async () => {
    state("listed");
    await (await agent()).takePart("query 1");
    state("open");
    await expect(upload(await agent())).rejects.toThrow("older");
    expect(fake.posted.length).toBe(1);
  });

  test("the same round under another number", async () => {
    await upload(await agent({ lifetimeEpsilon: 40 }));
    await (await agent()).withdraw();
    fake.publishOpening({ round: 2 });
    await expect(upload(await agent({ lifetimeEpsilon: 40 }))).rejects.toThrow("different number");
    expect(fake.posted.length).toBe(1);
  });

  test("an opening that has expired since", async () => {
    fake.publishOpening({ expires: 2_000 });
    expect(await upload(await agent({ clock: () => 1_000 }))).toBeTruthy();
    await expect(upload(await agent({ clock: () => 2_001 }))).rejects.toThrow("expired");
    expect(fake.posted.length).toBe(1);
  });
});
