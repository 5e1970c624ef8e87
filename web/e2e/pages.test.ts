/** Web pages in real browsers, which start once: the client, the dashboard of a real collector, and both in one round. */
import { afterAll, beforeAll, describe } from "vitest";
import { agent } from "./agent.ts";
import { BROWSERS } from "./browsers.ts";
import { Collectors } from "./collector.ts";
import { dashboard } from "./dashboard.ts";
import { live } from "./live.ts";
import { SharedBrowser } from "./sharedBrowser.ts";
import { vectors } from "./vectors.ts";

const browsers = BROWSERS.map((name) => new SharedBrowser(name));
const collectors = new Collectors();

beforeAll(async () => {
  for (const browser of browsers) await browser.start();
});

afterAll(async () => {
  for (const browser of browsers) await browser.stop();
  await collectors.stop();
});

describe.each(browsers)("$name", (browser) => {
  describe("vectors", () => vectors(browser));
  describe("dashboard", () => dashboard(browser, collectors));
});

describe("a round of both clients", () => live(browsers, collectors));

describe.each(browsers)("$name", (browser) => {
  describe("agent", () => agent(browser));
});
