/** What pages need of a browser's extension API: the real texts, and a background that a test plays. */
import { vi } from "vitest";
import texts from "../../_locales/en/messages.json";
import type { Message, Status } from "../../src/shared/messages.ts";

export const MESSAGES: Record<string, { message: string }> = texts;

/** As browsers do it: $1 to $9 are replaced, and an unknown key is an empty text. */
function getMessage(key: string, values: string[] = []): string {
  return (MESSAGES[key]?.message ?? "").replace(/\$([1-9])/g, (_, place) => values[Number(place) - 1] ?? "");
}

/** Installs the API; every message is passed to `respond`, and what it returns or throws is the background's response. */
export function installChrome(respond: (message: Message) => unknown = () => null) {
  const sendMessage = vi.fn(async (message: Message) => respond(message));
  const permissions = { request: vi.fn(async () => true) };
  const api = {
    i18n: { getMessage },
    runtime: { sendMessage, openOptionsPage: vi.fn(), getURL: (path: string) => `chrome-extension://id/${path}` },
    tabs: { create: vi.fn() },
    extension: { inIncognitoContext: false, getViews: () => [] },
    permissions,
  };
  vi.stubGlobal("chrome", api);
  return api;
}

/** A client in the middle of a campaign. */
export const CLIENT: Status = {
  consent: "client",
  invitation: {
    collector: "https://collector.example",
    campaign: "00112233445566778899aabbccddeeff",
    name: "popular-searches",
    epsilon: "4",
    delta: "1/1000000",
    lifetimeEpsilon: "48",
  },
  paused: false,
  left: false,
  stored: 12,
  spent: "4",
  remaining: "44",
  lastReport: {
    round: 3,
    body: `${JSON.stringify({ reports: [{ id: "5f".repeat(16), head_list: "a1".repeat(32), cells: [2, 7] }] })}   `,
    arrived: true,
    cells: [
      { query: "weather", url: "https://weather.example/" },
      { query: null, url: null },
    ],
  },
  uploads: { rounds: 0, withdrawn: 0 },
  nextRound: 1_800_000_000,
  bundle: { queries: 50 },
  problem: null,
};

/** A status that differs from the client's. */
export function status(changes: Partial<Status>): Status {
  return { ...CLIENT, ...changes };
}
