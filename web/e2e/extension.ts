/** The extension in a browser, as its user sees it: searches on Google's address, and everything sent is recorded. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Plugin } from "esbuild";
import type { Browser, Page } from "puppeteer-core";
import { bundle } from "../extension/scripts/bundle.js";
import type { Messages, MessageType, Reply, Status } from "../extension/src/shared/messages.ts";
import { FIREFOX_ID, inFirefox, type Name, type Running, start } from "./browsers.ts";
import type { Collector } from "./collector.ts";
import { Network } from "./network.ts";
import { searchEngine } from "./searchEngine.ts";

export const ENGINE = "www.google.com";

/** What is replaced in builds for tests, and nothing else: a turn every half second instead of every six hours. */
export const FAST: Plugin = {
  name: "fast",
  setup: ({ onLoad }) =>
    onLoad({ filter: /background\/timing\.ts$/ }, () => ({
      contents: "export const PERIOD_SECONDS = 0.5;\nexport const ROUND_SECONDS = 0;\nexport const CHOICE_SECONDS = 0;",
    })),
};

export class Device {
  readonly network: Network;
  readonly #name: Name;
  readonly #folder = mkdtempSync(join(tmpdir(), "blender-dp-e2e-"));
  #running: Running | null = null;
  #page: Page | null = null;
  #granted = false;

  private constructor(name: Name, network: Network) {
    this.#name = name;
    this.network = network;
  }

  /** Install the extension in a new profile. */
  static async install(name: Name): Promise<Device> {
    const network = await Network.start();
    network.add(ENGINE, searchEngine());
    network.add("*.example", () => ({ status: 204 })); // opening a result leaves its results page open
    const device = new Device(name, network);
    await bundle(name, join(device.#folder, "extension"), [FAST]);
    await device.start();
    return device;
  }

  /** Start the browser, with the profile as it was left. */
  async start(): Promise<void> {
    const [extension, profile] = [join(this.#folder, "extension"), join(this.#folder, "profile")];
    const options = { network: this.network, profile, extension, permitted: "http://127.0.0.1/*" };
    this.#running = await start(this.#name, { ...options, granted: this.#granted });
    this.#page = null;
  }

  /** Open a page; one of the extension starts with a slash. */
  async open(url: string): Promise<Page> {
    if (!this.#running) throw new Error("the browser is not running");
    return this.#running.page(url);
  }

  /** Send a message from a page of the extension. */
  async ask<T extends MessageType>(type: T, fields: Messages[T]["fields"]): Promise<Reply<T>> {
    this.#page ??= await this.open("/options.html");
    const reply = await this.#page.evaluate((message) => chrome.runtime.sendMessage(message), { type, ...fields });
    return reply as Reply<T>;
  }

  /** What the popup shows. */
  async status(): Promise<Status> {
    const reply = await this.ask("status", {});
    if ("error" in reply) throw new Error(JSON.stringify(reply.error));
    return reply.value;
  }

  /** What the popup finds for what is typed, offline. */
  async find(typed: string): Promise<(string | null)[]> {
    const popup = await this.open("/popup.html");
    await (await popup.waitForSelector("#search"))?.type(typed);
    await popup.waitForSelector(".results li");
    const found = await popup.$$eval(".results .query", (queries) => queries.map(({ textContent }) => textContent));
    await popup.close();
    return found;
  }

  /** Search for this, and open the first result. */
  async search(query: string): Promise<void> {
    await searchIn(await this.open(resultsOf(query)));
  }

  /** The same in a private window. */
  async searchPrivately(query: string): Promise<void> {
    const { browser } = this.#running ?? {};
    if (!browser) throw new Error("the browser is not running");
    const page =
      this.#name === "firefox" ? await privatePage(browser) : await (await browser.createBrowserContext()).newPage();
    await page.goto(resultsOf(query));
    await searchIn(page);
  }

  /** Answer on the first page. */
  async answer(answer: "client" | "declined"): Promise<Page> {
    const page = await this.open("/consent.html");
    await page.bringToFront();
    const choices = await page.$$("button.choice");
    await choices[answer === "client" ? 0 : 2]?.click();
    await page.waitForSelector("button.choice", { hidden: true });
    return page;
  }

  /** The pages of the extension that are open. */
  async pages(): Promise<string[]> {
    this.#page ??= await this.open("/options.html");
    return this.#page.evaluate(() => chrome.extension.getViews().map(({ location }) => location.pathname));
  }

  /** Answer, paste an invitation, and permit the collector. */
  async join(invitation: string): Promise<void> {
    const page = await this.answer("client");
    await page.$eval("#link", (box, text) => Object.assign(box, { value: text }), invitation);
    await page.click(".buttons .primary");
    const accept = await page.waitForSelector(".card .buttons .primary");
    await accept?.click();
    await page.waitForSelector("#link", { hidden: true });
    this.#granted = true;
    await page.close();
  }

  /** In the popup, withdraw records in the question about leaving, and leave; returns what was said about them. */
  async withdrawAndLeave(): Promise<string | null> {
    const popup = await this.open("/popup.html");
    const press = async (label: string) => {
      const button = await popup.waitForSelector(`::-p-xpath(//button[normalize-space(.)="${label}"])`);
      await button?.click();
    };
    await press("Leave permanently");
    await press("Withdraw my records first");
    const said = await popup.waitForFunction(() => document.querySelector("dialog [role=status]")?.textContent || null);
    const words = await said.jsonValue();
    await (await popup.$("dialog button[value=agreed]"))?.click();
    await popup.waitForFunction(() => document.querySelector(".badge")?.textContent === "Left");
    await popup.close();
    return words;
  }

  /** The names of the extension's databases. */
  async databases(): Promise<(string | undefined)[]> {
    this.#page ??= await this.open("/options.html");
    return this.#page.evaluate(async () => (await indexedDB.databases()).map(({ name }) => name));
  }

  /** Stop the background, as browsers do when it is idle. */
  async stopBackground(): Promise<void> {
    const { browser } = this.#running ?? {};
    if (browser && this.#name === "firefox") {
      this.#page ??= await this.open("/options.html");
      await this.#page.evaluate(MARK);
      await inFirefox(browser, STOP);
      if (await this.#page.evaluate(IS_MARKED)) throw new Error("the background was not stopped");
      return;
    }
    const worker = await browser?.waitForTarget((target) => target.type() === "service_worker");
    const ended = new Promise((resolve) => browser?.on("targetdestroyed", (target) => target === worker && resolve(null)));
    this.#page ??= await this.open("/options.html");
    const session = await this.#page.createCDPSession();
    await session.send("ServiceWorker.enable");
    await session.send("ServiceWorker.stopAllWorkers");
    await ended;
  }

  /** Close the browser and start it again. */
  async restart(): Promise<void> {
    await this.#running?.close();
    await this.start();
  }

  /** End the browser as a power failure would. */
  async kill(): Promise<void> {
    await this.#running?.kill();
    this.#running = null;
  }

  /** Close the browser and delete its profile. */
  async remove(): Promise<void> {
    await this.#running?.close();
    await this.network.close();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

/** In Firefox: stop the event page, even if it is busy. The next alarm starts it again, with nothing in its memory. */
const STOP = `WebExtensionPolicy.getByID("${FIREFOX_ID}").extension.terminateBackground({
  ignoreDevToolsAttached: true,
  disableResetIdleForTest: true,
})`;
const MARK = "chrome.runtime.getBackgroundPage().then((background) => void (background.marked = true))";
const IS_MARKED = "chrome.runtime.getBackgroundPage().then((background) => background.marked === true)";

/** In Firefox: open a private window. */
const OPEN_PRIVATELY = `(async () => {
  const opened = OpenBrowserWindow({ private: true });
  while (!opened.gBrowserInit?.delayedStartupFinished || opened.gBrowser.selectedBrowser.webProgress.isLoadingDocument) {
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return PrivateBrowsingUtils.isWindowPrivate(opened);
})()`;

const FIRST_PRIVATE_PAGE = "about:privatebrowsing";

/** The page of a new private window of Firefox, once its first page has arrived: it would replace what is opened before. */
async function privatePage(browser: Browser): Promise<Page> {
  const before = await browser.pages();
  if ((await inFirefox(browser, OPEN_PRIVATELY)) !== true) throw new Error("the window is not private");
  for (;;) {
    const page = (await browser.pages()).find((one) => !before.includes(one) && one.url() === FIRST_PRIVATE_PAGE);
    if (page) return page;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

function resultsOf(query: string): string {
  return `https://${ENGINE}/search?q=${encodeURIComponent(query)}`;
}

async function searchIn(page: Page): Promise<void> {
  await page.mouse.move(20, 20);
  await page.mouse.move(40, 40);
  await page.click("a.result");
  await page.close();
}

/** The file that invites to a campaign of this collector. */
export function invitation({ url, key }: Pick<Collector, "url" | "key">, campaign: string): string {
  return JSON.stringify({
    schema: "blender-dp/invitation/1",
    collector: url,
    key,
    campaign,
    epsilon: "4",
    delta: "1/1000000",
    lifetime_epsilon: "48",
    name: "searches",
  });
}
