/**
 * When turns are taken: at random times, so that neither the time of a report nor its distance from the last one says
 * anything about the user. The time is stored, because alarms do not survive everywhere that the user's browser does.
 */
import { randomBytes } from "@blender-dp/client";
import { changeSettings, isActive, readSettings } from "./settings.ts";
import { PERIOD_SECONDS } from "./timing.ts";

export const ALARM = "turn";

const UNIT = 2 ** 32;

/** A random time from half a period to one and a half periods from now. */
export function nextTime(now: number, random = new DataView(randomBytes(4).buffer).getUint32(0)): number {
  return now + PERIOD_SECONDS / 2 + (PERIOD_SECONDS * random) / UNIT;
}

/** Set the alarm for the stored time, or clear it. Called on every start, and after every change; the last call decides. */
export function setAlarm(now = Date.now() / 1000): Promise<void> {
  return navigator.locks.request("blender-dp-alarm", async () => {
    const settings = await readSettings();
    if (!isActive(settings) || settings.nextTurn === null) {
      await chrome.alarms.clear(ALARM);
      return;
    }
    const latest = now + 1.5 * PERIOD_SECONDS; // unless the clock was set back meanwhile
    await chrome.alarms.create(ALARM, { when: Math.min(settings.nextTurn, latest) * 1000 });
  });
}

/** Store the next time and set the alarm, before the turn: a turn that fails is not repeated at once. */
export async function planNext(now: number): Promise<void> {
  await changeSettings((current) => (isActive(current) ? { nextTurn: nextTime(now) } : null));
  await setAlarm();
}
