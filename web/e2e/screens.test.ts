/**
 * Every screen of the extension in Chromium, light and dark: accessible (axe-core), and not wider than its window.
 *
 * `npm run screenshots` also saves a picture of each.
 */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "puppeteer-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { bundle } from "../extension/scripts/bundle.js";
import { axe } from "./axe.ts";
import { type Running, start } from "./browsers.ts";
import { Network } from "./network.ts";
import { SCREENS, type Screen } from "./screens.ts";

const PICTURES = process.env.BLENDER_DP_SCREENSHOTS;
const COLOURS = ["color-contrast", "link-in-text-block"]; // the rules that depend on the theme
const WIDTHS = { popup: 384, consent: 720, options: 720 };

let folder: string;
let network: Network;
let running: Running;
let origin: string;
let page: Page;
const problems: string[] = [];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "blender-dp-screens-"));
  await bundle("chromium", join(folder, "extension"));
  network = await Network.start();
  running = await start("chromium", { network, profile: join(folder, "profile"), extension: join(folder, "extension") });
  // It opens by itself, and would cover a page of these tests, which then draws no more.
  const first = await running.browser.waitForTarget((target) => target.url().endsWith("/consent.html"));
  origin = first.url().replace("/consent.html", "");
  page = await running.browser.newPage();
  page.on("pageerror", (error) => problems.push(String(error)));
  page.on("console", (message) => message.type() === "error" && problems.push(message.text()));
  if (PICTURES) mkdirSync(PICTURES, { recursive: true });
});

afterAll(async () => {
  await running.close();
  await network.close();
  rmSync(folder, { recursive: true, force: true });
});

test.each(SCREENS)("$name", async (screen) => {
  await open(screen);
  if (PICTURES && !screen.name.includes("question-")) await fitWindow(WIDTHS[screen.page]);
  for (const theme of ["light", "dark"]) {
    await useTheme(theme);
    if (PICTURES) await page.screenshot({ path: `${PICTURES}/${screen.name}-${theme}.png` });
    expect(await axe(page, theme === "light" ? undefined : COLOURS), theme).toEqual([]);
  }
  expect(await tooWide()).toEqual([]);
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

async function open(screen: Screen): Promise<void> {
  problems.length = 0;
  await page.setViewport({ width: WIDTHS[screen.page], height: 600, deviceScaleFactor: 1 });
  await useTheme("light");
  const { identifier } = await page.evaluateOnNewDocument(playBackground, screen.responses);
  await page.goto(`${origin}/${screen.page}.html`);
  await page.removeScriptToEvaluateOnNewDocument(identifier);
  await page.waitForSelector("main header");
  await screen.act?.(page);
  await page.evaluate(() => new Promise(requestAnimationFrame));
  expect(problems).toEqual([]);
}

async function useTheme(value: string): Promise<void> {
  await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value }]);
}

/** Makes the window as high as the page. */
async function fitWindow(width: number): Promise<void> {
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

/** The widths at which something is cut off or the page scrolls sideways. */
async function tooWide(): Promise<number[]> {
  const widths: number[] = [];
  for (const width of [320, 500, 800]) {
    await page.setViewport({ width, height: 600 });
    if (await page.evaluate(() => document.documentElement.scrollWidth > innerWidth)) widths.push(width);
  }
  return widths;
}
