/**
 * How long suggestions take in the extension, from 10,000 queries, while typing: npm run bench
 *
 * The popup and the address bar search in memory (`Suggester`); the popup is measured until its page shows the results.
 */
import { afterAll, beforeAll, expect, test } from "vitest";
import { Suggester } from "../client/src/index.ts";
import { BROWSERS } from "./browsers.ts";
import { Device, invitation } from "./extension.ts";
import { CAMPAIGN, FakeCollector } from "./fakeCollector.ts";

const QUERIES = 10_000;
const KEYSTROKES = 400;
const LIMIT = 5;

const WORDS = ["weather", "news", "cheap", "flights", "how to", "map", "login", "recipe", "film", "bank", "jobs", "hotel"];
const rows = Array.from({ length: QUERIES }, (_, i) => {
  const word = (place: number) => WORDS[Math.floor(i / place) % WORDS.length] ?? "";
  const query = `${word(1)} ${word(12)} ${word(144)} ${i}`;
  return {
    query,
    share: 1 / (i + 100),
    urls: [0, 1, 2].map((j) => [`https://www.site-${i}.example/page/${j}`, 0.3] as [string, number]),
  };
});
/** Prefixes of the most popular query, of the least popular one, and what matches nothing: the whole list is read. */
const TYPED = [...prefixes(rows[0]?.query ?? ""), ...prefixes(rows.at(-1)?.query ?? ""), ...prefixes("zebra crossing")];

let fake: FakeCollector;
const table = [["browser", "what is measured", "median", "95 %", "maximum", "median/limit"]];

beforeAll(async () => {
  fake = await FakeCollector.start();
  fake.publishBundle(1, { queries: rows });
});

afterAll(async () => {
  await fake.close();
  const widths = table[0]?.map((_, i) => Math.max(...table.map((row) => row[i]?.length ?? 0))) ?? [];
  const lines = table.map((row) => row.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join("  "));
  console.log([`\nSuggestions from ${QUERIES} queries: ms per keystroke; the limit is ${LIMIT}`, ...lines].join("\n"));
});

test("search alone", () => {
  const suggester = new Suggester(rows);
  const times = Array.from({ length: KEYSTROKES }, (_, i) => {
    const start = performance.now();
    suggester.matching(TYPED[i % TYPED.length] ?? "", 8);
    return performance.now() - start;
  });
  table.push(row("Node", "search alone", times));
});

test.each(BROWSERS)("%s", { timeout: 240_000 }, async (name) => {
  const device = await Device.install(name);
  await device.join(invitation(fake, CAMPAIGN));
  await expect.poll(async () => (await device.status()).bundle, { timeout: 60_000 }).toEqual({ queries: QUERIES });
  await device.ask("pause", { paused: true });
  const page = await device.open("/popup.html");
  await page.waitForSelector("#search");
  const first = await page.evaluate(measure, ["w"], 1);
  table.push(row(name, "popup: first key, until the results are in memory", first));
  table.push(row(name, "popup: from a key to the new results on the page", await page.evaluate(measure, TYPED, KEYSTROKES)));
  table.push(row(name, "popup: a message to the background, for comparison", await page.evaluate(messages, KEYSTROKES)));
  await device.remove();
});

/** In the page: the time from a keystroke until the list shows its results. */
async function measure(typed: string[], count: number): Promise<number[]> {
  const input = document.querySelector<HTMLInputElement>("#search");
  const list = document.querySelector(".results");
  if (!input || !list) throw new Error("there is no search box");
  const times = [];
  for (let i = 0; i < count; i++) {
    const shown = new Promise<void>((resolve) => {
      const observer = new MutationObserver(() => {
        observer.disconnect();
        resolve();
      });
      observer.observe(document.querySelector("[role=status]") as Element, {
        childList: true,
        characterData: true,
        subtree: true,
      });
    });
    input.value = typed[i % typed.length] ?? "";
    const start = performance.now();
    input.dispatchEvent(new Event("input"));
    await shown;
    times.push(performance.now() - start);
    await new Promise((resolve) => setTimeout(resolve, 10)); // the browser draws it, as between two keys
  }
  return times;
}

/** In the page: the time of a message that the background refuses at once, and its response. */
async function messages(count: number): Promise<number[]> {
  const times = [];
  for (let i = 0; i < count; i++) {
    const start = performance.now();
    await chrome.runtime.sendMessage({ type: "nothing" });
    times.push(performance.now() - start);
  }
  return times;
}

function row(name: string, what: string, times: number[]): string[] {
  const sorted = times.toSorted((one, other) => one - other);
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
  return [name, what, ...[at(0.5), at(0.95), at(1), at(0.5) / LIMIT].map((time) => time.toFixed(2))];
}

function prefixes(text: string): string[] {
  return Array.from(text, (_, i) => text.slice(0, i + 1));
}
