/** Consent, invitation, pause, deletion and leaving, with the real client and its account in a database. */
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { storeSearch } from "../../src/background/capture.ts";
import * as decisions from "../../src/background/decisions.ts";
import { agentOf } from "../../src/background/participant.ts";
import { setAlarm } from "../../src/background/schedule.ts";
import { changeSettings, readSettings } from "../../src/background/settings.ts";
import { currentStatus } from "../../src/background/status.ts";
import { type Asked, finished, freshBrowser, HOST, invitation, stored } from "./browser.ts";

let asked: Asked;
let profiles = 0; // the agent of an earlier test, with its database, must not be used again

beforeEach(() => {
  asked = freshBrowser();
});

afterEach(() => {
  vi.useRealTimers();
});

async function joined(): Promise<void> {
  await decisions.consent({ answer: "client" });
  asked.granted.add(HOST);
  await decisions.invitation({ text: invitation({ name: `searches-${++profiles}` }) });
}

test("before an answer nothing is stored, whatever is searched or shown", async () => {
  await storeSearch("weather", "https://weather.example/");
  expect((await currentStatus()).consent).toBe("none");
  await setAlarm();
  expect(await stored()).toEqual({});
  await expect(decisions.invitation({ text: invitation() })).rejects.toThrow("consent: is missing");
  expect(await stored()).toEqual({});
});

test("declining stores the refusal and nothing else", async () => {
  await decisions.consent({ answer: "declined" });
  await storeSearch("weather", null);
  expect(await stored()).toEqual({ "blender-dp-extension": [{ consent: "declined" }] });
});

test("declining later deletes everything but the refusal, and gives the permission back", async () => {
  await joined();
  await storeSearch("weather", null);
  await decisions.consent({ answer: "declined" });
  expect((await stored())["blender-dp-extension"]).toEqual([{ consent: "declined" }]);
  expect(asked).toEqual({ granted: new Set(), alarms: new Map() });
});

test("an opt-in user needs a token that can be sent", async () => {
  for (const token of [undefined, "", "a b", "a\r\nX: y", "ä"]) {
    await expect(decisions.consent({ answer: "opt-in", ...(token === undefined ? {} : { token }) })).rejects.toThrow(
      "token",
    );
  }
  expect(await stored()).toEqual({});
  await decisions.consent({ answer: "opt-in", token: "0".repeat(64) });
  await decisions.consent({ answer: "client" });
  expect((await readSettings()).token).toBeNull();
});

test("an invitation needs the permission for its collector, and plans a turn", async () => {
  await decisions.consent({ answer: "client" });
  await expect(decisions.invitation({ text: invitation() })).rejects.toThrow("permission");
  expect((await currentStatus()).invitation).toBeNull();
  asked.granted.add(HOST);
  await decisions.invitation({ text: invitation() });
  const { nextRound, spent, remaining } = await currentStatus();
  expect(asked.alarms.get("turn")).toBe((nextRound ?? 0) * 1000);
  expect({ spent, remaining }).toEqual({ spent: "0", remaining: "48" });
});

test("another collector takes the place of the first one, whose permission is given back", async () => {
  await joined();
  asked.granted.add("http://localhost/*");
  await decisions.invitation({ text: invitation({ collector: "http://localhost:8000" }) });
  expect(asked.granted).toEqual(new Set(["http://localhost/*"]));
});

test.each([
  "javascript:alert(1)",
  "http://collector.example",
  "https://user:secret@collector.example",
  "https://collector.example/?x=1",
  "https://collector.example/#x",
  "file:///etc/passwd",
  "https://",
  "chrome-extension://own",
  "http://localhost.evil.example",
  "http://127.0.0.1.evil.example",
  "",
])("an invitation to %j is refused", async (collector) => {
  await decisions.consent({ answer: "client" });
  await expect(decisions.invitation({ text: invitation({ collector }) })).rejects.toThrow("invitation");
  expect((await readSettings()).invitation).toBeNull();
});

test("searches are stored in canonical form, and not if they look personal or participation is paused", async () => {
  await joined();
  await storeSearch("  WEATHER ", "HTTPS://Weather.example:443");
  await storeSearch("jane.doe@mail.example", null);
  await decisions.pause({ paused: true });
  await storeSearch("paused", null);
  expect((await currentStatus()).stored).toBe(1);
  expect(asked.alarms.size).toBe(0);
  await decisions.pause({ paused: false });
  expect(asked.alarms.size).toBe(1);
});

test("what is too long ever to be reported is not stored", async () => {
  await joined();
  await storeSearch("x".repeat(2_100), null);
  await storeSearch("x", `https://site.example/${"y".repeat(10_000)}`);
  expect((await currentStatus()).stored).toBe(0);
});

test.each([{}, { campaign: "f".repeat(32) }])(
  "another invitation raises the limit only with the user's yes",
  async (changed) => {
    await joined();
    for (const [lifetime_epsilon, raise, remaining, agreed] of [
      ["1000", false, "48", "48"],
      ["20", false, "20", null],
      ["48", false, "20", "20"],
      ["48", true, "48", "20"],
      ["1000/3", undefined, "48", "48"],
    ] as const) {
      const text = invitation({ ...changed, lifetime_epsilon });
      const question = agreed && { epsilon: "4", agreed, wanted: lifetime_epsilon, spent: "0" };
      expect(await decisions.limit({ text })).toEqual(question);
      await decisions.invitation(raise === undefined ? { text } : { text, raise });
      expect(await currentStatus()).toMatchObject({ remaining, invitation: { lifetimeEpsilon: remaining } });
    }
  },
);

test("declining and joining again resets neither the limit nor what was spent", async () => {
  await joined();
  const sent = { campaign: "c".repeat(32), round: 1, round_id: "1".repeat(32), epsilon: "4", body: "{}" };
  const database = await finished(indexedDB.open("blender-dp"));
  const account = database.transaction("account", "readwrite").objectStore("account");
  const stored = JSON.parse(await finished(account.get("account")));
  await finished(account.put(JSON.stringify({ ...stored, sent: [sent] }), "account"));
  database.close();
  for (const raise of [false, true]) {
    await decisions.consent({ answer: "declined" });
    await expect(decisions.limit({ text: invitation() })).rejects.toThrow("consent: is missing");
    await decisions.consent({ answer: "client" });
    asked.granted.add(HOST);
    const text = invitation({ lifetime_epsilon: "1000" });
    expect(await decisions.limit({ text })).toEqual({ epsilon: "4", agreed: "48", wanted: "1000", spent: "4" });
    await decisions.invitation({ text, raise });
    expect(await currentStatus()).toMatchObject({ spent: "4", remaining: raise ? "996" : "44" });
  }
});

test.each([
  { epsilon: "21", lifetime_epsilon: "210" },
  { epsilon: "64", lifetime_epsilon: "640" },
  { delta: "1/1000" },
  { delta: "1/2" },
])("an invitation that promises nothing is refused: %j", async (changed) => {
  await decisions.consent({ answer: "client" });
  asked.granted.add(HOST);
  await expect(decisions.invitation({ text: invitation(changed) })).rejects.toThrow("no real privacy");
  await expect(decisions.limit({ text: invitation(changed) })).rejects.toThrow("no real privacy");
  expect((await currentStatus()).invitation).toBeNull();
});

test("an invitation that is no longer valid, or an unreadable account, is a problem, and nobody must stay", async () => {
  await joined();
  await decisions.invitation({ text: invitation({ name: "damaged" }) }); // an agent of its own, which opens the database
  expect((await currentStatus()).spent).toBe("0");
  const database = await finished(indexedDB.open("blender-dp"));
  const account = database.transaction("account", "readwrite").objectStore("account");
  await finished(account.put({ damaged: true }, "account"));
  database.close();
  const damaged = { consent: "client", spent: null, remaining: null, problem: expect.any(String) };
  expect(await currentStatus()).toMatchObject(damaged);
  await decisions.pause({ paused: true });
  expect(await currentStatus()).toMatchObject({ ...damaged, paused: true });
  await changeSettings(() => ({ invitation: "{}" }));
  expect(await currentStatus()).toMatchObject({ ...damaged, invitation: null, bundle: null });
  await decisions.leave();
  expect(await currentStatus()).toMatchObject({ left: true, stored: 0 });
});

test("deleting everything keeps the group, what was spent, and nothing else", async () => {
  await joined();
  await storeSearch("weather", null);
  const before = await readSettings();
  await decisions.deleteEverything();
  const after = await readSettings();
  expect(await currentStatus()).toMatchObject({ stored: 0, consent: "client", remaining: "48" });
  expect(after).toEqual({ ...before, choiceKey: after.choiceKey });
  expect(after.choiceKey).not.toEqual(before.choiceKey);
});

test("leaving opts out for ever: no decision, search or alarm is accepted afterwards", async () => {
  await joined();
  await storeSearch("weather", null);
  await decisions.leave();
  expect(await (await agentOf(await readSettings()))?.optedOut()).toBe(true);
  expect(asked).toEqual({ granted: new Set(), alarms: new Map() });
  for (const decide of [
    () => decisions.consent({ answer: "client" }),
    () => decisions.consent({ answer: "declined" }),
    () => decisions.invitation({ text: invitation() }),
    () => decisions.pause({ paused: false }),
    () => decisions.withdraw(),
  ]) {
    await expect(decide()).rejects.toThrow("participation: has ended for ever");
  }
  await decisions.deleteEverything();
  await storeSearch("weather", null);
  await setAlarm();
  expect(await currentStatus()).toMatchObject({ left: true, stored: 0, nextRound: null });
  expect(asked.alarms.size).toBe(0);
});

test("leaving deletes the token and the key of the choice", async () => {
  await joined();
  await decisions.consent({ answer: "opt-in", token: "5".repeat(64) });
  await decisions.leave();
  expect(await readSettings()).toMatchObject({ token: null, choiceKey: null, nextTurn: null });
});

test("leaving wins over any other decision at the same moment", async () => {
  await joined();
  const others = [
    decisions.consent({ answer: "declined" }),
    decisions.pause({ paused: false }),
    decisions.deleteEverything(),
  ];
  await Promise.allSettled([...others, decisions.leave()]);
  expect((await readSettings()).left).toBe(true);
  expect(asked).toEqual({ granted: new Set(), alarms: new Map() });
});
