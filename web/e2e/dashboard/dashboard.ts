/** The dashboard of a real collector, with two releases in it, in a real browser. */
import type { Page } from "puppeteer-core";
import type { Name, Running } from "../browsers.ts";
import type { Collector, Collectors } from "../collector.ts";
import type { Network } from "../network.ts";
import type { Request } from "../server.ts";
import type { SharedBrowser } from "../sharedBrowser.ts";
import { ready } from "./pages.ts";

const DATABASES = { chromium: "sqlite", firefox: "postgresql" } as const;

export class Dashboard {
  /** Errors of the pages that were opened, and what they wrote to the console as errors. */
  readonly problems: string[] = [];

  collector!: Collector;
  #before = 0;

  constructor(private readonly browser: SharedBrowser) {}

  get name(): Name {
    return this.browser.name;
  }

  get network(): Network {
    return this.browser.network;
  }

  get running(): Running {
    return this.browser.running;
  }

  /** Every request since the start, in order. */
  get requests(): Request[] {
    return this.network.requests.slice(this.#before);
  }

  /** Start a collector with the campaign "searches", which has two releases, and the campaign "empty". */
  async start(collectors: Collectors): Promise<void> {
    this.#before = this.network.requests.length;
    this.collector = await collectors.start(DATABASES[this.name]);
    const campaign = await this.collector.campaign({ max_epsilon: "40" });
    for (const reports of [300, 600]) {
      const round = await this.collector.listed(campaign);
      await this.collector.others(round, reports);
      await this.collector.close(round.id);
    }
    await this.collector.campaign({ name: "empty", max_epsilon: "8" });
  }

  /** Open a page, and wait until it is complete. */
  async opened(hash: string): Promise<Page> {
    const page = await this.running.browser.newPage();
    page.on("pageerror", (error) => this.problems.push(String(error)));
    page.on("console", (message) => message.type() === "error" && this.problems.push(message.text()));
    await page.goto(`${this.collector.url}/${hash}`);
    await ready(page);
    return page;
  }

  /** Open a page as the operator. */
  async signedIn(hash = "#/operator"): Promise<Page> {
    const page = await this.opened(hash);
    await page.waitForSelector("#token");
    await page.type("#token", this.collector.token);
    await page.click(".sign-in button");
    await page.waitForSelector(".bar");
    return page;
  }

  /** What the API responds. */
  async api<T>(path: string): Promise<T> {
    return (await fetch(`${this.collector.url}${path}`)).json() as Promise<T>;
  }

  /** Close its pages and stop the collector. */
  async stop(): Promise<void> {
    await this.browser.tidy();
    await this.collector.stop();
  }
}
