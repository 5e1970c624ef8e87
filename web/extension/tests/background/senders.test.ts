import { beforeEach, describe, expect, test } from "vitest";
import { allowed } from "../../src/background/senders.ts";
import { freshBrowser, OWN } from "./browser.ts";

type Sender = chrome.runtime.MessageSender;

const TAB = { incognito: false } as chrome.tabs.Tab;
const POPUP: Sender = { id: "own", url: `${OWN}popup.html` };
const RESULTS: Sender = { id: "own", url: "https://www.google.com/search?q=a", tab: TAB, frameId: 0 };
const FROM_PAGES = [
  { type: "status" },
  { type: "consent", answer: "client" },
  { type: "consent", answer: "opt-in", token: "t" },
  { type: "invitation", text: "{}" },
  { type: "pause", paused: true },
  { type: "deleteEverything" },
  { type: "withdraw" },
  { type: "leave" },
  { type: "results" },
  { type: "limit", text: "{}" },
  { type: "invitation", text: "{}", raise: true },
];
const FROM_RESULTS = [
  { type: "searched", query: "a" },
  { type: "opened", query: "a", url: "https://a.example/" },
];

beforeEach(() => {
  freshBrowser();
});

describe("an own page", () => {
  test.each(FROM_PAGES)("may send $type", (message) => expect(allowed(message, POPUP)).toEqual(message));
  test.each(FROM_RESULTS)("may not send $type", (message) => expect(allowed(message, POPUP)).toBeNull());
});

describe("a results page", () => {
  test.each(FROM_RESULTS)("may send $type", (message) => expect(allowed(message, RESULTS)).toEqual(message));
  test.each(FROM_PAGES)("may not send $type", (message) => expect(allowed(message, RESULTS)).toBeNull());
});

const FORGED: [string, Sender][] = [
  ["another extension", { ...RESULTS, id: "other" }],
  ["another extension's page", { id: "other", url: `${OWN}popup.html` }],
  ["no one", {}],
  ["a private window", { ...RESULTS, tab: { ...TAB, incognito: true } }],
  ["a frame in a results page", { ...RESULTS, frameId: 3 }],
  ["another website", { ...RESULTS, url: "https://evil.example/search?q=a" }],
  ["a website named like an engine", { ...RESULTS, url: "https://www.google.com.evil.example/search?q=a" }],
  ["a website with an engine in its path", { ...RESULTS, url: "https://evil.example/https://www.google.com/search?q=a" }],
  ["a website with the extension in its path", { id: "own", url: `https://evil.example/${OWN}popup.html` }],
  ["a user name like an engine", { ...RESULTS, url: "https://www.google.com@evil.example/search" }],
  ["an engine without encryption", { ...RESULTS, url: "http://www.google.com/search?q=a" }],
  ["no tab", { id: "own", url: "https://www.google.com/search?q=a", frameId: 0 }],
];

test.each(FORGED)("%s may send nothing", (_, sender) => {
  for (const message of [...FROM_PAGES, ...FROM_RESULTS]) expect(allowed(message, sender)).toBeNull();
});

test.each([
  null,
  "status",
  {},
  { type: "toString" },
  { type: "__proto__" },
  { type: ["status"] },
  { type: "pause" },
  { type: "pause", paused: "yes" },
  { type: "consent", answer: "none" },
  { type: "consent", answer: "opt-in", token: 5 },
  { type: "invitation", text: ["{}"] },
  { type: "limit", text: "a".repeat(20_001) },
  { type: "invitation", text: "{}", raise: "yes" },
])("%j is no message", (message) => expect(allowed(message, POPUP)).toBeNull());

test.each([
  { type: "searched", query: null },
  { type: "searched", query: "a".repeat(20_001) },
  { type: "opened", query: "a" },
])("%j is no search", (message) => expect(allowed(message, RESULTS)).toBeNull());
