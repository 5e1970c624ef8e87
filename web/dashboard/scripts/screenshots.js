// Takes the documentation's pictures of the dashboard: starts `blender-dp demo-live` and visits its pages in Chromium.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import puppeteer from "puppeteer-core";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const python = process.env.BLENDER_DP_PYTHON ?? `${root}.venv/bin/python`;
const ROUNDS = 5;
const PAGES = { trends: "#/c/searches" };
const WIDTH = 1100;

const options = ["--users", "20000", "--rounds", String(ROUNDS), "--every", "100000", "--port", "0"];
const demo = spawn(python, ["-m", "blender_dp", "demo-live", ...options], { stdio: ["ignore", "pipe", "ignore"] });
const facts = { url: "", token: "" };
let released = 0;
for await (const line of createInterface({ input: demo.stdout })) {
  facts.url ||= /dashboard: +(\S+)/.exec(line)?.[1] ?? "";
  facts.token ||= /token: +(\S+)/.exec(line)?.[1] ?? "";
  if (line.includes("honest reports") && ++released === 2 * ROUNDS) break;
}
const browser = await puppeteer.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--lang=en"],
});
for (const [name, hash] of Object.entries(PAGES)) await picture(name, await visited(hash));
const query = await visited(PAGES.trends);
await query.click(".intervals tbody a");
await picture("query", query);
const operator = await visited("#/operator");
await operator.type("#token", facts.token);
await operator.click(".sign-in button");
await operator.waitForSelector(".panel .buttons");
await picture("operator", operator);
await operator.evaluate(() => {
  location.hash = "#/operator/new";
});
await operator.waitForSelector(".panel .facts");
await picture("planner", operator);
await browser.close();
demo.kill("SIGINT");

/** @param {string} hash */
async function visited(hash) {
  const page = await browser.newPage();
  await page.setViewport({ width: WIDTH, height: 700, deviceScaleFactor: 1 });
  await page.goto(`${facts.url}${hash}`);
  await page.waitForSelector("h1");
  return page;
}

/**
 * @param {string} name
 * @param {import("puppeteer-core").Page} page
 */
async function picture(name, page) {
  await page.waitForFunction(() => !document.body.textContent?.includes("Loading …"));
  await page.screenshot({ path: `${root}docs/figures/dashboard-${name}.png`, fullPage: true });
}
