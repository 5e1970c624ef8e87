/**
 * The background: a service worker in Chromium, an event page in Firefox.
 *
 * Both are stopped when idle and started again for an event, so listeners are registered at once, and nothing that matters
 * is only in memory.
 */
import { finishLeaving } from "./deletion.ts";
import { respond } from "./handlers.ts";
import { guardNetwork } from "./network.ts";
import { registerOmnibox } from "./omnibox.ts";
import { ALARM, setAlarm } from "./schedule.ts";
import { readSettings } from "./settings.ts";
import { takeTurn } from "./turn.ts";

guardNetwork();

chrome.runtime.onMessage.addListener((message, sender, reply) => {
  respond(message, sender).then(reply);
  return true; // the response comes later
});

chrome.alarms.onAlarm.addListener(async ({ name }) => {
  if (name === ALARM) await takeTurn();
});

chrome.runtime.onInstalled.addListener(async ({ reason }) => {
  if (reason === "install" && (await readSettings()).consent === "none") await chrome.tabs.create({ url: "consent.html" });
});

chrome.runtime.onStartup.addListener(() => {}); // so that the browser starts the background, which sets the alarm again

registerOmnibox();
void resume();

/** Continue what an earlier run of the background has started. */
async function resume(): Promise<void> {
  await setAlarm();
  const settings = await readSettings();
  if (settings.left) await finishLeaving(settings);
}
