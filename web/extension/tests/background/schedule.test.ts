import { beforeEach, expect, test } from "vitest";
import * as decisions from "../../src/background/decisions.ts";
import { nextTime, planNext, setAlarm } from "../../src/background/schedule.ts";
import { readSettings } from "../../src/background/settings.ts";
import { type Asked, freshBrowser, HOST, invitation } from "./browser.ts";

const PERIOD = 6 * 3600;
const now = Date.now() / 1000;

let asked: Asked;

beforeEach(async () => {
  asked = freshBrowser();
  await decisions.consent({ answer: "client" });
  asked.granted.add(HOST);
});

test("a turn is half a period to one and a half periods away, at random", () => {
  expect(nextTime(0, 0)).toBe(PERIOD / 2);
  expect(nextTime(0, 2 ** 31)).toBe(PERIOD);
  expect(nextTime(0, 2 ** 32 - 1)).toBeLessThan(1.5 * PERIOD);
  expect(nextTime(0)).not.toBe(nextTime(0)); // false alarm: 2^-32
});

test("an alarm that the browser has lost is set again, for the same time", async () => {
  await decisions.invitation({ text: invitation() });
  const before = new Map(asked.alarms);
  asked.alarms.clear();
  await setAlarm();
  expect(asked.alarms).toEqual(before);
});

test("a start of the background does not clear the alarm that an invitation sets at the same time", async () => {
  Object.assign(chrome.alarms, {
    clear: async (name: string) => {
      await new Promise((resolve) => setTimeout(resolve, 100));
      asked.alarms.delete(name);
    },
  });
  const starts = [setAlarm(), setAlarm()];
  const joining = decisions.invitation({ text: invitation() });
  await Promise.all([...starts, joining, setAlarm()]);
  expect(asked.alarms.size).toBe(1);
});

test("a clock that was set back does not postpone the turn for years", async () => {
  await decisions.invitation({ text: invitation() });
  await planNext(now + 1e9);
  await setAlarm(now);
  expect((asked.alarms.get("turn") ?? 0) / 1000).toBeCloseTo(now + 1.5 * PERIOD, 0);
});

test("no turn is planned during a pause", async () => {
  await decisions.invitation({ text: invitation() });
  await decisions.pause({ paused: true });
  const before = await readSettings();
  await planNext(now);
  expect(await readSettings()).toEqual(before);
  expect(asked.alarms.size).toBe(0);
});
