// Draws the icon's PNG files from icon.svg, with Chromium: npm run icons
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import puppeteer from "puppeteer-core";

const FOLDER = fileURLToPath(new URL("../icons", import.meta.url));
const svg = await readFile(`${FOLDER}/icon.svg`, "utf8");
const browser = await puppeteer.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox", "--disable-gpu"] });
const page = await browser.newPage();

for (const size of [16, 32, 48, 128]) {
  await page.setViewport({ width: size, height: size });
  await page.setContent(`<style>body { margin: 0 } svg { display: block; width: ${size}px }</style>${svg}`);
  await page.screenshot({ path: `${FOLDER}/${size}.png`, omitBackground: true });
}
await browser.close();
