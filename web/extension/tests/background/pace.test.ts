/** At most one round a day: what happens in rounds that come too early. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { FakeCollector, PINNED } from "../../../e2e/fakeCollector.ts";
import * as decisions from "../../src/background/decisions.ts";
import { currentStatus } from "../../src/background/status.ts";
import { takeTurn } from "../../src/background/turn.ts";
import { type Asked, freshBrowser, invitation } from "./browser.ts";

let asked: Asked;
let fake: FakeCollector;

beforeEach(async () => {
  asked = freshBrowser();
  fake = await FakeCollector.start();
  await decisions.consent({ answer: "client" });
  asked.granted.add("http://127.0.0.1/*");
  await decisions.invitation({ text: invitation({ collector: fake.url, key: fake.key, campaign: PINNED.campaign }) });
});

afterEach(() => fake.close());

const lists = () => fake.paths.filter((path) => path.startsWith("GET /v1/head-lists/")).length;

test("a second round on the same day is not a problem, and its list is not fetched", { timeout: 20_000 }, async () => {
  await takeTurn();
  fake.nextRound(2);
  await takeTurn();
  expect([fake.posted.length, lists()]).toEqual([1, 1]);
  expect(await currentStatus()).toMatchObject({ spent: "4", problem: null });
});

test("a report that has not arrived is sent again in a round that comes too early", { timeout: 20_000 }, async () => {
  fake.lost = true;
  await takeTurn();
  expect((await currentStatus()).problem).toMatch(/^collector: /);
  fake.lost = false;
  fake.nextRound(2);
  await takeTurn();
  expect(fake.posted).toHaveLength(2);
  expect(fake.posted[1]).toBe(fake.posted[0]);
  expect(await currentStatus()).toMatchObject({ spent: "4", problem: null, lastReport: { arrived: true } });
});

test("a volunteer's second round on the same day is not a problem", { timeout: 20_000 }, async () => {
  await decisions.consent({ answer: "opt-in", token: "0".repeat(64) });
  fake.nextRound(1, "open");
  await takeTurn();
  fake.nextRound(2, "open");
  await takeTurn();
  expect(fake.posted).toHaveLength(1);
  expect(await currentStatus()).toMatchObject({ spent: "4", problem: null, uploads: { rounds: 1 } });
});
