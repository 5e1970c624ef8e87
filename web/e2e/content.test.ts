/**
 * The content script in real browsers, at the engines' real addresses: what it passes on, and what no website can forge.
 *
 * A small extension around it repeats every message as two requests, one after the other, which the recording proxy sees. The
 * drivers themselves are tested with it, too.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import type { Page } from "puppeteer-core";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { matchPatterns } from "../extension/src/content/engines.ts";
import { BROWSERS, FIREFOX_ID } from "./browsers.ts";
import { file } from "./page.ts";
import { SharedBrowser } from "./sharedBrowser.ts";

const PAGES = new URL("../extension/tests/content/pages/", import.meta.url);
const MANIFEST = {
  manifest_version: 3,
  name: "content script",
  version: "1",
  background: { service_worker: "background.js", scripts: ["background.js"] },
  host_permissions: ["https://seen.example/*", "https://collector.example/*"],
  content_scripts: [{ matches: matchPatterns(), js: ["content.js"], run_at: "document_start" }],
  browser_specific_settings: { gecko: { id: FIREFOX_ID } },
};
const COLLECTOR_CLIENT = fileURLToPath(new URL("../client/src/agent/collector.ts", import.meta.url));
const BACKGROUND = `import { CollectorClient } from "${COLLECTOR_CLIENT}";
const collector = new CollectorClient("https://collector.example");
let last = Promise.resolve();
async function repeat(message) {
  await collector.post("/" + message.type, "{}").catch(() => {});
  await fetch("https://seen.example/", { method: "POST", body: JSON.stringify(message) }).catch(() => {});
}
chrome.runtime.onMessage.addListener((message) => {
  last = last.then(() => repeat(message));
});`;
const GOOGLE = "https://www.google.com/search?q=tide+times";
const TODAY = "https://tides.example/today";
const HARBOUR = "https://harbour.example/tides?port=3";

/** Each engine's results page, a link on it, and where that leads. */
const ENGINES = [
  { page: "google", address: GOOGLE, query: "tide times", link: "#title", url: TODAY },
  { page: "bing", address: "https://www.bing.com/search?q=tide+times", query: "tide times", link: "#title", url: TODAY },
  { page: "duckduckgo", address: "https://duckduckgo.com/?q=tide+times", query: "tide times", link: "#title", url: TODAY },
  {
    page: "duckduckgo-html",
    address: "https://html.duckduckgo.com/html/",
    query: "tide times",
    link: "#wrapped",
    url: TODAY,
  },
  {
    page: "yandex",
    address: "https://yandex.com/search/?text=tide+times",
    query: "tide times",
    link: "#wrapped",
    url: HARBOUR,
  },
  { page: "baidu", address: "https://www.baidu.com/s?wd=%E6%BD%AE%E6%B1%90", query: "潮汐", link: "#title", url: TODAY },
];

let folder: string;
let browser: SharedBrowser;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "blender-dp-content-"));
  const entry = new URL("../extension/src/content/index.ts", import.meta.url).pathname;
  await build({ entryPoints: [entry], outfile: join(folder, "content.js"), bundle: true, format: "iife" });
  const background = { contents: BACKGROUND, resolveDir: folder };
  await build({ stdin: background, outfile: join(folder, "background.js"), bundle: true, format: "esm" });
  writeFileSync(join(folder, "manifest.json"), JSON.stringify(MANIFEST));
  writeFileSync(join(folder, "page.html"), "<title>page</title>");
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Let the search engines and some other websites exist. */
function serveSites(): void {
  const { network } = browser;
  for (const host of ["seen.example", "collector.example"]) network.add(host, () => ({ body: "{}" }));
  for (const { page, address } of ENGINES) {
    network.add(new URL(address).hostname, () => file("text/html", readFileSync(new URL(`${page}.html`, PAGES), "utf8")));
  }
  for (const host of ["tides.example", "harbour.example", "shop.example"])
    network.add(host, () => file("text/html", "<title>Tides</title>"));
  network.add("blog.example", () => file("text/html", `<a href="${GOOGLE}">search</a>`));
}

/** In the page: lets no click leave it. */
function stay(): void {
  for (const type of ["click", "auxclick"]) document.addEventListener(type, (event) => event.preventDefault());
}

/** What the content script has passed on, in order. */
function seen(): unknown[] {
  const { requests } = browser.network;
  return requests.filter(({ url }) => url.hostname === "seen.example").map(({ body }) => JSON.parse(body));
}

describe.each(BROWSERS)("%s", (name) => {
  let page: Page;

  beforeAll(async () => {
    browser = new SharedBrowser(name, { extension: folder, dark: true });
    await browser.start();
    serveSites();
    page = await browser.running.page("https://tides.example/");
  });

  beforeEach(async () => {
    await page.bringToFront(); // some results open in a new tab
    browser.network.requests.length = 0;
  });

  afterAll(() => browser.stop());

  test.each(ENGINES)("passes on the search and the opened result: $page", async ({ address, query, link, url }) => {
    await page.goto(address);
    await page.click(link);
    await expect.poll(() => seen().length).toBe(2);
    expect(seen()).toEqual(
      expect.arrayContaining([
        { type: "searched", query },
        { type: "opened", query, url },
      ]),
    ); // in any order
  });

  test("passes on nothing before a person is there, then the search once, and only the first result", async () => {
    await page.goto(GOOGLE);
    await page.evaluate(stay);
    await page.evaluate(() => {
      const link = document.querySelector<HTMLElement>("#direct");
      link?.click();
      link?.dispatchEvent(new MouseEvent("click", { bubbles: true, cancelable: true }));
      document.dispatchEvent(new PointerEvent("pointermove"));
      window.postMessage({ type: "searched", query: "forged" }, "*");
    });
    await page.click("#ad-inside");
    await expect.poll(seen).toEqual([{ type: "searched", query: "tide times" }]);
    await page.click("#pressed", { button: "middle" });
    await page.click("#direct");
    await page.evaluate(() => history.pushState(null, "", "/search?q=moon"));
    await page.click("#plain", { button: "right" });
    await expect.poll(seen).toEqual([
      { type: "searched", query: "tide times" },
      { type: "opened", query: "tide times", url: HARBOUR },
      { type: "searched", query: "moon" },
    ]);
  });

  test("ignores a search that another website chose, and frames", async () => {
    await page.goto("https://blog.example/");
    await Promise.all([page.waitForNavigation(), page.click("a")]);
    await page.evaluate(stay);
    await page.click("#direct");
    await page.goto("https://blog.example/");
    await page.setContent(`<iframe src="${GOOGLE}" width="600" height="400"></iframe>`);
    await new Promise((resolve) => setTimeout(resolve, 300));
    await page.mouse.move(100, 100);
    await page.mouse.click(120, 110);
    await page.goto("https://www.bing.com/search?q=done");
    await page.mouse.move(9, 9);
    await expect.poll(seen).toEqual([{ type: "searched", query: "done" }]);
  });

  test("an extension's requests are recorded, reveal nothing about its installation, and fail offline", async () => {
    const { network, running } = browser;
    await page.goto(GOOGLE);
    await page.evaluate(stay);
    await page.click("#direct");
    await expect.poll(() => network.to("seen.example")).toHaveLength(2);
    expect(network.to("collector.example")).toEqual(["POST /searched", "POST /opened"]);
    for (const { headers } of network.requests.filter(({ url }) => url.host === "collector.example"))
      expect(headers.origin).toMatch(/^(null|chrome-extension:.*)$/);

    const own = await running.page("/page.html");
    expect(await own.evaluate(() => matchMedia("(prefers-color-scheme: dark)").matches)).toBe(true);
    const fetched = () =>
      fetch("https://collector.example/").then(
        (response) => response.ok,
        () => "offline",
      );
    network.offline = true;
    expect(await own.evaluate(fetched)).toBe("offline");
    network.offline = false;
    expect(await own.evaluate(fetched)).toBe(true);
    expect(network.to("collector.example").slice(2)).toEqual(["GET /"]);
  });
});
