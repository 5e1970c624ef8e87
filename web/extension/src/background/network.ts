/**
 * The only door to the network: it takes the place of `fetch` in the background, so that every request passes through it.
 *
 * A request must belong to a task, of which there is one at a time; the user must have joined, and must not have paused or
 * left; and it must go to the collector of the invitation.
 *
 * The mode is "same-origin": browsers then require the permission that the user granted for this collector, and Firefox
 * does not send an Origin header with an identifier that is unique to this installation, which would link all reports.
 */
import { readInvitation } from "@blender-dp/client";
import { isList, storeList } from "./lists.ts";
import { hasJoined, readSettings } from "./settings.ts";

const LOCK = "blender-dp-network";

interface Task {
  stop: AbortController;
  whilePaused: boolean;
  copying?: Promise<void>;
  /** The next requests wait for this. */
  held?: Promise<void>;
}

const send = globalThis.fetch;
let task: Task | null = null;

/** Run a task that may send requests, and return true; or false if another task is running. */
export function withNetwork(work: () => Promise<void>, whilePaused = false): Promise<boolean> {
  return navigator.locks.request(LOCK, { ifAvailable: true }, async (lock) => {
    if (!lock) return false;
    const started: Task = { stop: new AbortController(), whilePaused };
    task = started;
    try {
      await work();
    } finally {
      await started.copying;
      task = null;
    }
    return true;
  });
}

/** End all requests, wait until their task has ended, then do this before another one can start. */
export function withoutNetwork<T>(work: () => Promise<T>): Promise<T> {
  task?.stop.abort();
  return navigator.locks.request(LOCK, work);
}

/** Send no request for this long. What the task does meanwhile, such as preparing a record, cannot be measured. */
export function holdRequests(seconds: number): void {
  if (task) task.held = new Promise((resolve) => setTimeout(resolve, 1000 * seconds));
}

/** Put the guard in the place of `fetch`. */
export function guardNetwork(): void {
  globalThis.fetch = guardedFetch;
}

async function guardedFetch(input: RequestInfo | URL, init: RequestInit = {}): Promise<Response> {
  const running = task;
  await running?.held;
  const settings = await readSettings();
  const isAllowed = hasJoined(settings) && (running?.whilePaused || !settings.paused);
  if (!running || !isAllowed || !isCollector(input, settings.invitation))
    throw new TypeError("This request is not allowed.");
  const signals = [running.stop.signal, ...(init.signal ? [init.signal] : [])];
  const response = await send(input, { ...init, mode: "same-origin", signal: AbortSignal.any(signals) });
  if (isList(String(input))) running.copying = storeList(String(input), response.clone()).catch(() => {}); // only for display
  return response;
}

function isCollector(input: RequestInfo | URL, invitation: string | null): boolean {
  if (invitation === null || input instanceof Request) return false;
  return new URL(input).origin === new URL(readInvitation(invitation).collector).origin;
}
