/**
 * Every screen of the extension in Chromium, light and dark: accessible (axe-core), and not wider than its window.
 *
 * `npm run screenshots` also saves a picture of each.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AxeResults } from "axe-core";
import type { Page } from "puppeteer-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { bundle } from "../extension/scripts/bundle.js";
import { type Running, start } from "./browsers.ts";
import { Network } from "./network.ts";
import { SCREENS, type Screen } from "./screens.ts";

const PICTURES = process.env.BLENDER_DP_SCREENSHOTS;
const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const WIDTHS = { popup: 384, consent: 720, options: 720 };

let folder: string;
let network: Network;
let running: Running;
let origin: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "blender-dp-screens-"));
  await bundle("chromium", join(folder, "extension"));
  network = await Network.start();
  running = await start("chromium", { network, profile: join(folder, "profile"), extension: join(folder, "extension") });
  origin = (await running.page("/options.html")).url().replace("/options.html", "");
  if (PICTURES) mkdirSync(PICTURES, { recursive: true });
});

afterAll(async () => {
  await running.close();
  await network.close();
  rmSync(folder, { recursive: true, force: true });
});

test.each(SCREENS)("$name", async (screen) => {
  const page = await opened(screen);
  if (PICTURES && !screen.name.includes("question-")) await fitWindow(page, WIDTHS[screen.page]);
  for (const theme of ["light", "dark"]) {
    await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: theme }]);
    if (PICTURES) await page.screenshot({ path: `${PICTURES}/${screen.name}-${theme}.png` });
    expect(await violations(page, theme), theme).toEqual([]);
  }
  expect(await tooWide(page)).toEqual([]);
  await page.close();
});

test("the popup itself has its width, and grows for a question", async () => {
  const consent = await running.page("/consent.html");
  await consent.evaluate(() => chrome.runtime.sendMessage({ type: "consent", answer: "declined" }));
  const worker = await (await running.browser.waitForTarget((target) => target.type() === "service_worker")).worker();
  await worker?.evaluate("chrome.action.openPopup()");
  const popup = await (await running.browser.waitForTarget((target) => target.url().endsWith("/popup.html"))).asPage();
  await popup.waitForSelector("footer button");
  expect(await popup.evaluate(() => innerWidth)).toBe(384);
  await popup.evaluate(() => document.querySelector<HTMLElement>("footer button")?.click());
  await expect.poll(() => popup.$eval("dialog", (dialog) => dialog.scrollHeight - dialog.clientHeight)).toBe(0);
});

async function opened(screen: Screen): Promise<Page> {
  const page = await running.browser.newPage();
  const problems: string[] = [];
  page.on("pageerror", (error) => problems.push(String(error)));
  page.on("console", (message) => message.type() === "error" && problems.push(message.text()));
  await page.setViewport({ width: WIDTHS[screen.page], height: 600, deviceScaleFactor: 1 });
  await page.evaluateOnNewDocument(playBackground, screen.responses);
  await page.goto(`${origin}/${screen.page}.html`);
  await page.waitForSelector("main header");
  await screen.act?.(page);
  await page.evaluate(() => new Promise(requestAnimationFrame));
  expect(problems).toEqual([]);
  return page;
}

/** Makes the window as high as the page. */
async function fitWindow(page: Page, width: number): Promise<void> {
  await page.setViewport({
    width,
    height: await page.evaluate(() => Math.ceil(document.body.getBoundingClientRect().height)),
  });
}

/** In the page: responds in place of the background. */
function playBackground(responses: Record<string, unknown>): void {
  const respond = async ({ type }: { type: string }) => responses[type];
  Object.defineProperty(chrome.runtime, "sendMessage", { value: respond });
  Object.defineProperty(chrome.permissions, "request", { value: async () => true });
}

/** What axe-core objects to: all its rules in the first theme, and in the other one those that depend on colours. */
async function violations(page: Page, theme: string): Promise<string[]> {
  if (theme === "light") await page.evaluate(AXE);
  const rules = theme === "light" ? "" : '{ runOnly: ["color-contrast", "link-in-text-block"] }';
  const { violations: found } = (await page.evaluate(`axe.run(${rules})`)) as AxeResults;
  return found.flatMap(({ id, nodes }) => nodes.map((node) => `${id}: ${node.html}`));
}

/** The widths at which something is cut off or the page scrolls sideways. */
async function tooWide(page: Page): Promise<number[]> {
  const widths: number[] = [];
  for (const width of [320, 500, 800]) {
    await page.setViewport({ width, height: 600 });
    if (await page.evaluate(() => document.documentElement.scrollWidth > innerWidth)) widths.push(width);
  }
  return widths;
}
