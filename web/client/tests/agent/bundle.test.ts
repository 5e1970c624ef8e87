/** The bundle for offline search. */
import { expect, test } from "vitest";
import type { Agent } from "../../src/index.ts";
import { agent, fake, stored, withDevices } from "./device.ts";

withDevices();

const queries = async (device: Agent, typed = "query") => (await device.search(typed)).map((row) => row.query);

test("search without a connection", async () => {
  const device = await agent();
  expect(await device.search("query")).toEqual([]);
  expect(await device.refreshBundle()).toBe(false);
  fake.publishBundle(1);
  expect(await device.refreshBundle()).toBe(true);
  fake.down = true;
  for (const one of [device, await agent()]) expect(await queries(one, " QUERY ")).toEqual(["query 1"]);
  expect(await queries(device, "else")).toEqual([]);
  await expect(device.refreshBundle()).rejects.toThrow("does not respond");
});

test("another tab's bundle is found, too", async () => {
  const device = await agent();
  fake.publishBundle(1);
  await device.refreshBundle();
  expect(await queries(device)).toEqual(["query 1"]);
  fake.publishBundle(2);
  await (await agent()).refreshBundle();
  expect(await queries(device)).toEqual(["query 2"]);
});

test("an older bundle is refused, even after one of another campaign", async () => {
  const device = await agent();
  fake.publishBundle(2);
  await device.refreshBundle();
  fake.publishBundle(1);
  await expect(device.refreshBundle()).rejects.toThrow("older");
  expect(await queries(device)).toEqual(["query 2"]);
  const campaign = "d".repeat(32);
  fake.publishBundle(3, { campaign });
  await expect(device.refreshBundle()).rejects.toThrow("another campaign");
  await (await agent({ campaign })).refreshBundle();
  expect(await queries(device)).toEqual([]); // the stored one belongs to the other campaign
  fake.publishBundle(1);
  await expect(device.refreshBundle()).rejects.toThrow("older");
});

test("a bundle that was changed in storage is refused", async () => {
  fake.publishBundle(1);
  await (await agent()).refreshBundle();
  const text = new TextDecoder().decode((await stored("bundle", "body")) as Uint8Array);
  for (const wrong of [new TextEncoder().encode(text.replace("query 1", "query 9")), new Uint8Array(), "text", null, 7]) {
    await stored("bundle", "body", wrong);
    await expect((await agent()).search("query")).rejects.toThrow("not signed");
  }
});

test("10,000 records are searched in memory: the bundle is read and verified once", async () => {
  const rows = Array.from({ length: 10_000 }, (_, i) => ({
    query: `query ${i}`,
    share: 1e-4,
    urls: [["https://a.example/", 0.5]],
  }));
  fake.publishBundle(1, { queries: rows });
  const device = await agent();
  await device.refreshBundle();
  await device.search("q");
  await stored("bundle", "body", "nothing"); // would be refused
  expect(await queries(device, "query 999")).toEqual(["query 999", ...[0, 1, 2, 3, 4, 5, 6].map((i) => `query 999${i}`)]);
});
