import { beforeEach, expect, test } from "vitest";
import * as decisions from "../../src/background/decisions.ts";
import { addRecord, allRecords, countRecords, LIMITS } from "../../src/background/history.ts";
import { freshBrowser, HOST, invitation } from "./browser.ts";

const NOW = 1_800_000_000;
const DAY = 86_400;

beforeEach(async () => {
  const asked = freshBrowser();
  await decisions.consent({ answer: "client" });
  asked.granted.add(HOST);
  await decisions.invitation({ text: invitation() });
});

test("a record is stored once, however often it is searched", async () => {
  await addRecord({ query: "weather", url: "https://w.example/" }, NOW);
  await addRecord({ query: "weather", url: "https://w.example/" }, NOW + 5);
  expect(await allRecords(NOW + 5)).toEqual([{ query: "weather", url: "https://w.example/" }]);
});

test("an opened result takes the place of the query alone, in either order", async () => {
  await addRecord({ query: "a", url: "" }, NOW);
  await addRecord({ query: "a", url: "https://a.example/" }, NOW);
  await addRecord({ query: "a", url: "" }, NOW);
  await addRecord({ query: "ab", url: "" }, NOW);
  const records = await allRecords(NOW);
  expect(records.toSorted((one, other) => (one.query < other.query ? -1 : 1))).toEqual([
    { query: "a", url: "https://a.example/" },
    { query: "ab", url: "" },
  ]);
});

test("old records disappear, also before anything new is stored", async () => {
  await addRecord({ query: "old", url: "" }, NOW);
  const later = NOW + LIMITS.seconds + 1;
  expect(await allRecords(later)).toEqual([]);
  await addRecord({ query: "new", url: "" }, later);
  expect(await countRecords()).toBe(1);
});

test("a flood is limited, and displaces nothing that was stored before", async () => {
  await addRecord({ query: "mine", url: "" }, NOW);
  for (let i = 0; i < LIMITS.newPerDay + 50; i++) await addRecord({ query: `flood ${i}`, url: "" }, NOW + 1);
  expect(await countRecords()).toBe(LIMITS.newPerDay);
  expect((await allRecords(NOW + 1)).map(({ query }) => query)).toContain("mine");
  await addRecord({ query: "next day", url: "" }, NOW + DAY + 2);
  expect(await countRecords()).toBe(LIMITS.newPerDay + 1);
});

test("the oldest records make room for new ones", async () => {
  const days = Math.ceil(LIMITS.records / LIMITS.newPerDay) + 1;
  for (let day = 0; day < days; day++) {
    for (let i = 0; i < LIMITS.newPerDay; i++) await addRecord({ query: `${day} ${i}`, url: "" }, NOW + day * (DAY + 1));
  }
  const left = await allRecords(NOW + days * (DAY + 1));
  expect(left).toHaveLength(LIMITS.records);
  expect(left.map(({ query }) => query.split(" ")[0])).not.toContain("0");
});

test.each([
  ["leaving", () => decisions.leave()],
  ["declining", () => decisions.consent({ answer: "declined" })],
  ["pausing", () => decisions.pause({ paused: true })],
])("after %s nothing is stored, even if the search was noticed before", async (_, decide) => {
  await decide();
  await addRecord({ query: "late", url: "" }, NOW);
  expect(await countRecords()).toBe(0);
});
