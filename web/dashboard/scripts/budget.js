// Measures the dashboard's first load: its compressed size, and the time until its start page can be used, in Chromium.
import { spawn } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import puppeteer from "puppeteer-core";

const SIZE = 150_000;
const SECONDS = 1;
const RUNS = 5;
const root = fileURLToPath(new URL("../../..", import.meta.url));
const built = `${root}src/blender_dp/collector/http/dashboard`;

const size = readdirSync(built).reduce(
  (sum, name) => sum + gzipSync(readFileSync(join(built, name)), { level: 9 }).length,
  0,
);
verdict("first load, gzipped", `${size} bytes`, size <= SIZE, `${SIZE} bytes`);
const seconds = Math.min(...(await loads()));
verdict("until the start page can be used, best of 5", `${seconds.toFixed(2)} s`, seconds <= SECONDS, `${SECONDS} s`);

/** Seconds of each load, with an empty cache, from a collector of its own. */
async function loads() {
  const folder = mkdtempSync(join(tmpdir(), "blender-dp-budget-"));
  const python = process.env.BLENDER_DP_PYTHON ?? `${root}.venv/bin/python`;
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("BLENDER_DP_")));
  const serve = ["-m", "blender_dp", "serve", "--json", "--port", "0", "--data", join(folder, "data")];
  const collector = spawn(python, serve, { env, stdio: ["ignore", "pipe", "ignore"] });
  let url = "";
  for await (const line of createInterface({ input: collector.stdout })) {
    url = JSON.parse(line).url ?? "";
    if (url) break;
  }
  const browser = await puppeteer.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: ["--no-sandbox"],
  });
  const times = [];
  for (let run = 0; run < RUNS; run++) {
    const context = await browser.createBrowserContext();
    const page = await context.newPage();
    const start = performance.now();
    await page.goto(url);
    await page.waitForSelector("a[href='#/operator/new']"); // the campaigns have arrived: there are none
    times.push((performance.now() - start) / 1000);
    await context.close();
  }
  await browser.close();
  collector.kill();
  rmSync(folder, { recursive: true, force: true });
  return times;
}

/**
 * @param {string} what
 * @param {string} measured
 * @param {boolean} isMet
 * @param {string} target
 */
function verdict(what, measured, isMet, target) {
  console.log(`${isMet ? "met    " : "NOT MET"} ${what}: ${measured} (target: at most ${target})`);
  if (!isMet) process.exitCode = 1;
}
