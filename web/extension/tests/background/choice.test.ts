import { beforeEach, expect, test } from "vitest";
import { choiceOf, choose, confirmChoice, isPending } from "../../src/background/choice.ts";
import type { StoredRecord } from "../../src/background/history.ts";
import { freshBrowser } from "./browser.ts";

const KEY = new Uint8Array(32).fill(7);
const RECORDS: StoredRecord[] = ["a", "b", "c", "d", "e"].map((query) => ({ query, url: `https://${query}.example/` }));

beforeEach(() => {
  freshBrowser();
});

test("the choice is the record with the smallest HMAC, as computed elsewhere", async () => {
  // python3 -c 'import hmac,json;print(min("abcde",key=lambda q:hmac.digest(bytes([7]*32),json.dumps(["round 1",q,f"https://{q}.example/"],separators=(",",":")).encode(),"sha256")))'
  expect((await choose(KEY, "round 1", RECORDS))?.query).toBe("e");
});

test("it depends on the round and the key, not on the order of the records", async () => {
  const rounds = Array.from({ length: 60 }, (_, i) => `round ${i}`);
  const chosen = await Promise.all(rounds.map((round) => choose(KEY, round, RECORDS)));
  expect(new Set(chosen.map((one) => one?.query)).size).toBe(5); // a fixed key: this always holds
  expect(await Promise.all(rounds.map((round) => choose(KEY, round, RECORDS.toReversed())))).toEqual(chosen);
  const otherKey = await Promise.all(rounds.map((round) => choose(new Uint8Array(32), round, RECORDS)));
  expect(otherKey).not.toEqual(chosen);
});

test("a query alone is only chosen if no result was opened at all", async () => {
  const alone = [{ query: "x", url: "" }];
  expect(await choose(KEY, "r", [...alone, ...RECORDS])).toEqual(await choose(KEY, "r", RECORDS));
  expect(await choose(KEY, "r", alone)).toEqual(alone[0]);
  expect(await choose(KEY, "r", [])).toBeNull();
});

test("repeating a choice gives the same record, whatever was searched since", async () => {
  const first = await choiceOf("r", 1, async () => RECORDS[3] ?? null);
  expect(await choiceOf("r", 2, async () => RECORDS[0] ?? null)).toEqual(first);
  expect(await choiceOf("none", 3, async () => null)).toBeNull();
  expect(await choiceOf("none", 4, async () => RECORDS[0] ?? null)).toBeNull();
});

test("an upload is pending from its choice until it is confirmed", async () => {
  expect(await isPending("r")).toBe(false);
  await choiceOf("r", 1, async () => null);
  expect(await isPending("r")).toBe(true);
  await confirmChoice("r");
  expect(await isPending("r")).toBe(false);
});

test("a collector that names rounds without end fills no disk", async () => {
  for (let i = 0; i < 130; i++) await choiceOf(`round ${i}`, i, async () => null);
  expect(await isPending("round 29")).toBe(false);
  expect(await isPending("round 30")).toBe(true);
});
