/** A device limits what it spends in its lifetime and how often, whatever a collector signs. */
import { expect, test } from "vitest";
import { PINNED } from "../../../e2e/fakeCollector.ts";
import { Agent } from "../../src/index.ts";
import { agent, fake, withDevices } from "./device.ts";

withDevices();

test("the lifetime budget, of reports and uploads together", async () => {
  expect((await (await agent()).takePart("query 1"))?.arrived).toBe(true);
  fake.nextRound(2, "open");
  expect(await (await agent()).upload("t", "query", "a.example")).toBeTruthy();
  expect((await (await agent()).account()).left).toBe("0");
  fake.nextRound(3);
  await expect((await agent()).takePart("query 1")).rejects.toThrow("used up");
  fake.round = { ...fake.round, state: "open" };
  await expect((await agent()).upload("t", "query", "a.example")).rejects.toThrow("used up");
  expect(fake.posted.length).toBe(2);
  fake.round = { ...fake.round, state: "listed" };
  const larger = await agent({ lifetimeEpsilon: "12" }); // an application cannot raise it by itself
  await expect(larger.takePart("query 1")).rejects.toThrow("used up");
  expect(await larger.account()).toMatchObject({ limit: "8", left: "0" });
  await larger.agreeToLimit();
  expect((await larger.takePart("query 1"))?.arrived).toBe(true);
  expect(await (await agent({ lifetimeEpsilon: 40 })).account()).toMatchObject({ limit: "12", spent: "12", left: "0" });
});

test("a budget is exact: ten tenths are one, and not a bit more", async () => {
  const third = { epsilon: "1/3", lifetimeEpsilon: 1 };
  for (const number of [1, 2, 3]) {
    fake.nextRound(number);
    fake.publishList({ round: number, channel: { epsilon: "1/3" } });
    await (await agent(third)).takePart("query 1");
  }
  expect(await (await agent(third)).account()).toMatchObject({ spent: "1", left: "0" });
});

test("the same number under many ids", async () => {
  await (await agent({ lifetimeEpsilon: 40 })).takePart("query 1");
  for (const one of "23456") {
    fake.round = { ...fake.round, id: one.repeat(32) };
    fake.publishList({ round: 1 });
    await expect((await agent({ lifetimeEpsilon: 40 })).takePart("query 1")).rejects.toThrow("older round");
  }
  expect(fake.posted.length).toBe(1);
});

test("rounds that come faster than once a day", async () => {
  let now = 1_000_000;
  const patient = { lifetimeEpsilon: 40, leastSeconds: 86_400, clock: () => now };
  await (await agent(patient)).takePart("query 1");
  for (const number of [2, 3, 4, 5]) {
    fake.nextRound(number);
    now += 20_000;
    await expect((await agent(patient)).takePart("query 1")).rejects.toThrow("a short while ago");
    fake.round = { ...fake.round, state: "open" };
    await expect((await agent(patient)).upload("t", "query", "a.example")).rejects.toThrow("a short while ago");
  }
  expect(fake.posted.length).toBe(1);
  now += 6_400;
  fake.round = { ...fake.round, state: "listed" };
  expect((await (await agent(patient)).takePart("query 1"))?.arrived).toBe(true);
});

test("one round a day by default", async () => {
  const { leastSeconds: _, ...settings } = PINNED;
  const device = await Agent.open({ collector: fake.url, key: fake.key, ...settings });
  await device.takePart("query 1");
  fake.nextRound(2);
  await expect(device.takePart("query 1")).rejects.toThrow("86400 s between rounds");
});

test("a clock that is set back neither ends the wait nor makes it last for years", async () => {
  let now = 9e9;
  const patient = { leastSeconds: 100, clock: () => now };
  await (await agent(patient)).takePart("query 1");
  fake.nextRound(2);
  for (now of [5e9, 5e9 + 99, 4e9, 4e9 + 99]) {
    await expect((await agent(patient)).takePart("query 1")).rejects.toThrow("a short while ago");
  }
  now = 4e9 + 100;
  expect((await (await agent(patient)).takePart("query 1"))?.arrived).toBe(true);
});

test.each([Number.NaN, Number.POSITIVE_INFINITY])("a clock that shows %d", async (now) => {
  await expect((await agent({ clock: () => now })).takePart("query 1")).rejects.toThrow("clock");
  expect(fake.posted).toEqual([]);
});

test("everything is checked again when a report is charged: another tab has reported in the meantime", async () => {
  let first = true;
  fake.instead = async ({ url }) => {
    if (first && url.pathname.startsWith("/v1/head-lists/")) {
      first = false;
      await (await agent()).takePart("query 1");
    }
    return undefined;
  };
  expect((await (await agent()).takePart("query 2"))?.arrived).toBe(true);
  expect([(await (await agent()).account()).sent.length, new Set(fake.posted).size]).toEqual([1, 1]);
});

test("everything is checked again: another tab has reported to a later round, or uploaded", async () => {
  let first = true;
  fake.instead = async ({ url }) => {
    if (first && url.pathname.startsWith("/v1/head-lists/")) {
      first = false;
      fake.nextRound(2);
      await (await agent()).takePart("query 1");
    }
    return undefined;
  };
  await expect((await agent()).takePart("query 2")).rejects.toThrow("older round");
  expect((await (await agent()).account()).sent.map((one) => one.round)).toEqual([2]);
});

test("two tabs at the same time spend once", async () => {
  const [one, other] = await Promise.all([agent({ lifetimeEpsilon: 4 }), agent({ lifetimeEpsilon: 4 })]);
  const [mine, others] = await Promise.all([one.takePart("query 1"), other.takePart("query 2")]);
  expect(mine?.body).toBe(others?.body);
  expect(new Set(fake.posted).size).toBe(1);
  expect((await one.account()).left).toBe("0");
});

test("eight campaigns at the same time do not exceed the budget of one device", async () => {
  const campaigns = [..."12345678"].map((one) => one.repeat(32));
  fake.instead = ({ url }) => {
    const campaign = url.searchParams.get("campaign");
    if (campaign) fake.publishList({ campaign });
    return undefined;
  };
  const acts = campaigns.map(async (campaign) => (await agent({ campaign, lifetimeEpsilon: 12 })).takePart("query 1"));
  const ends = await Promise.allSettled(acts);
  expect(ends.filter((end) => end.status === "fulfilled").length).toBe(3);
  expect(await (await agent({ lifetimeEpsilon: 12 })).account()).toMatchObject({ spent: "12", left: "0" });
});

test("a list that is too long is refused: every alternative reduces the weight of a report", async () => {
  const queries = Array.from({ length: 20_001 }, (_, i) => ({ query: `query ${String(i).padStart(5, "0")}`, urls: [] }));
  fake.publishList({ queries });
  await expect((await agent()).takePart("query 1")).rejects.toThrow("more than 20000 queries");
  fake.publishList({ queries: queries.slice(1) });
  expect((await (await agent()).takePart("query 1"))?.arrived).toBe(true);
});

test("no device is in both groups: another tab has uploaded in the meantime", async () => {
  fake.instead = async ({ url }) => {
    if (url.pathname.startsWith("/v1/head-lists/")) {
      fake.instead = () => undefined;
      fake.round = { ...fake.round, state: "open" };
      await (await agent()).upload("t", "query", "a.example");
    }
    return undefined;
  };
  expect(await (await agent()).takePart("query 1")).toBeNull();
  expect(await (await agent()).account()).toMatchObject({ sent: [], uploaded: [{}], spent: "4" });
});
