/** One report per round, charged before it leaves, and sent again with the same bytes. */
import { beforeEach, describe, expect, test } from "vitest";
import { agent, fake, withDevices } from "./device.ts";

withDevices();

const cells = (body: string | undefined): number[] => JSON.parse(body ?? "").reports[0].cells;

test("one report per round is sent and accounted for", async () => {
  const device = await agent();
  const first = await device.takePart("query 1", "https://site1.example/");
  expect(first?.arrived).toBe(true);
  expect([await (await agent()).takePart("query 2"), await device.takePart("query 3")]).toEqual([first, first]);
  expect(fake.posted).toEqual([first?.body]);
  expect(await device.account()).toMatchObject({ sent: [first], uploaded: [], spent: "4", left: "4" });
});

test("a round without a list", async () => {
  fake.round = { ...fake.round, state: "open" };
  expect(await (await agent()).takePart("query 1")).toBeNull();
  fake.round = null;
  expect(await (await agent()).takePart("query 1")).toBeNull();
  expect(fake.posted).toEqual([]);
});

test("a report that may not have arrived is sent again unchanged", async () => {
  fake.lost = true;
  for (let i = 0; i < 3; i++) {
    await expect((await agent()).takePart("query 1", "https://site1.example/")).rejects.toThrow("does not respond");
  }
  expect((await (await agent()).account()).left).toBe("4"); // charged once
  fake.lost = false;
  const sent = await (await agent()).takePart("query 2", "https://site2.example/"); // even if the record is another one now
  expect(sent?.arrived).toBe(true);
  expect([fake.posted.length, new Set(fake.posted).size]).toEqual([4, 1]);
  expect((await (await agent()).account()).left).toBe("4");
});

describe("reports of earlier rounds that may not have arrived", () => {
  let undelivered: string | undefined;

  beforeEach(async () => {
    fake.lost = true;
    await expect((await agent()).takePart("query 1")).rejects.toThrow("does not respond");
    fake.lost = false;
    fake.nextRound(2);
    undelivered = fake.posted[0];
    fake.requests.length = 0;
  });

  const flags = async () => (await (await agent()).account()).sent.map((one) => [one.arrived, one.over]);

  test("are sent again first, under their own round's id", async () => {
    expect((await (await agent()).takePart("query 2"))?.round).toBe(2);
    const posts = fake.paths.filter((path) => path.startsWith("POST"));
    expect(posts).toEqual(["1", "2"].map((one) => `POST /v1/rounds/${one.repeat(32)}/reports`));
    expect(fake.posted[0]).toBe(undelivered);
    expect(await flags()).toEqual([
      [true, false],
      [true, false],
    ]);
  });

  test("are sent again even without a current list", async () => {
    fake.round = { ...fake.round, state: "open" };
    expect(await (await agent()).takePart("query 2")).toBeNull();
    expect(fake.posted).toEqual([undelivered]);
  });

  test("are not sent again when their round is over, and stay charged", async () => {
    fake.over.add("1".repeat(32));
    expect((await (await agent()).takePart("query 2"))?.arrived).toBe(true);
    expect(await flags()).toEqual([
      [false, true],
      [true, false],
    ]);
    expect((await (await agent()).account()).left).toBe("0");
    await (await agent()).takePart("query 2");
    expect(fake.posted.length).toBe(2);
  });

  test("stay arrived if another tab was faster, and the round is over since", async () => {
    fake.round = { ...fake.round, state: "open" };
    const other = await agent();
    fake.instead = async ({ method }) => {
      if (method !== "POST") return undefined;
      fake.instead = () => undefined;
      await other.takePart("query 1");
      return { status: 409 };
    };
    expect(await (await agent()).takePart("query 2")).toBeNull();
    expect(fake.posted).toEqual([undelivered, undelivered]);
    expect(await flags()).toEqual([[true, false]]);
  });

  test("are kept when they are refused again", async () => {
    fake.refused = [{ index: 0, reason: "another head list" }];
    fake.round = { ...fake.round, state: "open" };
    expect(await (await agent()).takePart("query 2")).toBeNull();
    expect(await flags()).toEqual([[false, false]]);
  });

  test("are not sent after an opt-out, and neither is anything else", async () => {
    const device = await agent();
    fake.instead = async ({ method }) => {
      if (method === "POST") await device.optOut();
      return undefined;
    };
    expect(await (await agent()).takePart("query 2")).toBeNull();
    expect(fake.paths).toEqual(["GET /v1/rounds/current", `POST /v1/rounds/${"1".repeat(32)}/reports`]);
  });
});

test("a silent collector gets one request, however many reports there are", async () => {
  fake.lost = true;
  for (const number of [1, 2, 3]) {
    fake.nextRound(number);
    await expect((await agent({ lifetimeEpsilon: 40 })).takePart("query 1")).rejects.toThrow("does not respond");
  }
  fake.round = { ...fake.round, state: "open" };
  const before = fake.posted.length;
  expect(await (await agent()).takePart("query 1")).toBeNull();
  expect(fake.posted.length).toBe(before + 1);
});

test("a refused report stays charged", async () => {
  fake.refused = [{ index: 0, reason: "another head list" }];
  await expect((await agent()).takePart("query 1")).rejects.toThrow("refused");
  expect(await (await agent()).account()).toMatchObject({ left: "4", sent: [{ arrived: false, over: false }] });
});

test("all reports on a list have the same length and random ids", async () => {
  const queries = Array.from({ length: 300 }, (_, i) => ({ query: `query ${i}`, urls: [`https://site${i}.example/`] }));
  queries.sort((a, b) => (a.query < b.query ? -1 : 1));
  fake.publishList({ channel: { subset_size: 3 }, queries });
  for (let i = 0; i < 40; i++) await (await agent({ database: `${i}` })).takePart(i % 3 ? `query ${i}` : null);
  expect(new Set(fake.posted.map((body) => body.length)).size).toBe(1);
  expect(new Set(fake.posted.map((body) => cells(body).join().length)).size).toBeGreaterThan(1); // the padding hides it
  const ids = fake.posted.map((body) => JSON.parse(body).reports[0].id);
  expect(new Set(ids).size).toBe(40);
  expect(ids.every((id) => /^[0-9a-f]{32}$/.test(id))).toBe(true);
});
