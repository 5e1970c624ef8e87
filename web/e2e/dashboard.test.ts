/** The dashboard of a real collector in real browsers: every page, every button, and what happens when something fails. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AxeResults } from "axe-core";
import type { Page } from "puppeteer-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { BROWSERS, type Running, start } from "./browsers.ts";
import { Collector } from "./collector.ts";
import { Network } from "./network.ts";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const DATABASES = { chromium: "sqlite", firefox: "postgresql" } as const;
const PAGES = ["#/", "#/c/searches", "#/c/searches/q/query%200", "#/c/searches/privacy", "#/c/searches/review", "#/ledger"];
const WIDTHS = [390, 768, 1400];

describe.each(BROWSERS)("%s", (name) => {
  let folder: string;
  let network: Network;
  let running: Running;
  let collector: Collector;
  const problems: string[] = [];

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "blender-dp-dashboard-"));
    network = await Network.start();
    [collector, running] = await Promise.all([
      Collector.start(DATABASES[name]),
      start(name, { network, profile: join(folder, "profile") }),
    ]);
    const campaign = await collector.campaign({ max_epsilon: "40" });
    for (const reports of [300, 600]) {
      const round = await collector.listed(campaign);
      await collector.others(round, reports);
      await collector.close(round.id);
    }
    await collector.campaign({ name: "empty", max_epsilon: "8" });
  }, 120_000);

  afterAll(async () => {
    await running.close();
    await collector.stop();
    await network.close();
    rmSync(folder, { recursive: true, force: true });
  });

  async function opened(hash: string): Promise<Page> {
    const page = await running.browser.newPage();
    page.on("pageerror", (error) => problems.push(String(error)));
    page.on("console", (message) => message.type() === "error" && problems.push(message.text()));
    await page.goto(`${collector.url}/${hash}`);
    await ready(page);
    return page;
  }

  async function signedIn(hash = "#/operator"): Promise<Page> {
    const page = await opened(hash);
    await page.waitForSelector("#token");
    await page.type("#token", collector.token);
    await page.click(".sign-in button");
    await page.waitForSelector(".bar");
    return page;
  }

  async function api<T>(path: string): Promise<T> {
    return (await fetch(`${collector.url}${path}`)).json() as Promise<T>;
  }

  test.each(PAGES)("%s has no errors, is accessible and fits every width", async (hash) => {
    const page = await opened(hash);
    expect(await violations(page)).toEqual([]);
    for (const width of WIDTHS) {
      await page.setViewport({ width, height: 800 });
      expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth), `${width}`).toBeLessThanOrEqual(
        0,
      );
    }
    await page.close();
    expect(problems).toEqual([]);
  });

  test("shares are those of the API, and the signature was verified", async () => {
    const page = await opened("#/c/searches");
    const { released } = await api<{ released: { release: string } }>("/v1/rounds/current?campaign=searches");
    const rows = await api<{ query: string; share: number }[]>(`/v1/releases/${released.release}/trends?n=20`);
    const shown = await page.$$eval(".intervals tbody tr", (all) =>
      all.map((row) => [row.cells[0]?.textContent, row.cells[1]?.textContent]),
    );
    const percent = await page.evaluate(
      (values) =>
        values.map((share) =>
          new Intl.NumberFormat([...navigator.languages], {
            style: "percent",
            minimumFractionDigits: 1,
            maximumFractionDigits: 1,
          }).format(share),
        ),
      rows.map((row) => row.share),
    );
    expect(shown).toEqual(rows.map((row, i) => [row.query, percent[i]]));
    expect(await text(page, ".verified")).toContain(collector.key);
    await page.close();
  });

  test("the search box answers without sending what is typed", async () => {
    const page = await opened("#/c/searches");
    const before = network.requests.length;
    await page.type("#search", "Query 3");
    await page.waitForSelector(".suggestions a");
    expect(await text(page, ".suggestions")).toContain("query 3");
    await page.click(".suggestions a");
    await page.waitForSelector("h2.query");
    await ready(page);
    const sent = network.requests.slice(before).map((one) => one.url.href);
    expect(sent.filter((url) => /query/i.test(url))).toEqual([]);
    await page.close();
  });

  test("every step of a round is a button that says what it spends", async () => {
    const page = await signedIn();
    const panel = "section[aria-labelledby]:has(a[href$='/empty'])";
    const step = async (label: string, says: string, state: string) => {
      await press(page, `${panel} .buttons button`, label);
      await page.waitForSelector("dialog[open]");
      expect(await text(page, "dialog")).toContain(says);
      if (state === "aborted") await page.type("dialog [name=reason]", "only a test");
      await press(page, "dialog button", label);
      await page.waitForFunction(
        (place, wanted) => document.querySelector(`${place} [data-testid=state]`)?.textContent === wanted,
        { timeout: 60_000 },
        panel,
        state,
      );
    };
    await step("Open a round", "spends nothing", "open");
    const round = (await api<{ round: { id: string; campaign: string } }>("/v1/rounds/current?campaign=empty")).round;
    await collector.uploads(round.id, round.campaign, 200);
    await step("Make the list", "spends ε = 4 of the budget of opt-in users and of clients", "listed");
    const listed = await collector.call<Parameters<Collector["others"]>[0]>("reached", [round.id, "listed"]);
    await collector.others(listed, 300);
    await page.waitForFunction(
      (place) => /\b300 reports/.test(document.querySelector(place)?.textContent ?? ""),
      { timeout: 60_000 },
      panel,
    );
    await step("Close and release", "cannot be undone", "released");
    await step("Open a round", "spends nothing", "open");
    await step("Abort", "your reason becomes public", "aborted");
    expect(await text(page, panel)).toContain("only a test");
    expect(await violations(page)).toEqual([]);
    await page.close();
  });

  test("a refused step explains itself, and nothing changes", async () => {
    const page = await signedIn();
    const panel = "section[aria-labelledby]:has(a[href$='/searches'])";
    await press(page, `${panel} .buttons button`, "Open a round");
    await press(page, "dialog button", "Open a round");
    await page.waitForFunction(
      (place) => document.querySelector(`${place} [data-testid=state]`)?.textContent === "open",
      {},
      panel,
    );
    await press(page, `${panel} .buttons button`, "Make the list");
    await press(page, "dialog button", "Make the list");
    await page.waitForSelector("dialog .warning");
    expect(await text(page, "dialog .warning")).toMatch(/too few opt-in users: 0/i);
    await page.keyboard.press("Escape");
    await page.waitForFunction(() => !document.querySelector("dialog"));
    await press(page, `${panel} .buttons button`, "Abort");
    await page.waitForSelector("dialog[open]"); // an input of a closed dialog loses what is typed
    await page.type("dialog [name=reason]", "a test");
    await press(page, "dialog button", "Abort");
    await page.waitForFunction(
      (place) => document.querySelector(`${place} [data-testid=state]`)?.textContent === "aborted",
      {},
      panel,
    );
    await page.close();
  });

  test("a campaign is created next to its forecast, and users are enrolled", async () => {
    const page = await signedIn("#/operator/new");
    await page.waitForFunction(() => document.querySelector(".panel .facts dd"));
    const before = await text(page, ".panel .facts dd");
    await page.focus("input[type=range]");
    for (let i = 0; i < 4; i++) await page.keyboard.press("ArrowLeft");
    await page.waitForFunction(
      (old) => {
        const now = document.querySelector(".panel .facts dd")?.textContent;
        return now && now !== old;
      },
      { timeout: 60_000 },
      before,
    );
    expect(await violations(page)).toEqual([]);
    await page.type("input[pattern]", `made-in-${name}`);
    await press(page, "form button", "Create");
    await press(page, "dialog button", "Create");
    await page.waitForFunction(() => location.hash.includes("/operator/c/made-in"));
    const made = (await api<{ name: string; epsilon: string }[]>("/v1/campaigns")).find(
      (one) => one.name === `made-in-${name}`,
    );
    expect(made?.epsilon).toBe("1");
    await page.waitForSelector("details:last-of-type summary");
    await page.evaluate(() => {
      for (const one of document.querySelectorAll("details")) one.open = true;
    });
    await press(page, "form button", "Create tokens");
    await page.waitForSelector("textarea");
    expect(await page.$eval("textarea", (area) => area.value)).toMatch(/^[0-9a-f]{64}$/);
    await page.close();
  });

  test("a wrong token is refused, and the right one stays in this tab only", async () => {
    const page = await opened("#/operator");
    await page.type("#token", "0".repeat(64));
    await page.click(".sign-in button");
    await page.waitForSelector(".warning");
    expect(await text(page, ".warning")).toBe("This is not the operator's token.");
    problems.length = 0; // browsers report every refused request themselves
    const own = await signedIn();
    expect(await own.evaluate(() => [localStorage.length, document.cookie, location.href.includes("token")])).toEqual([
      0,
      "",
      false,
    ]);
    await own.reload();
    await own.waitForSelector(".bar");
    expect(network.requests.filter((one) => one.url.href.includes(collector.token))).toEqual([]);
    await press(own, ".bar button", "Sign out");
    await own.waitForSelector("#token");
    expect(await own.evaluate(() => sessionStorage.length)).toBe(0);
    await Promise.all([page.close(), own.close()]);
  });

  test("a session whose token is no longer valid ends, and says so", async () => {
    const page = await signedIn();
    await page.evaluate(() => sessionStorage.setItem("blender-dp operator", "0".repeat(64)));
    await page.reload();
    await page.waitForSelector("#token");
    expect(await text(page, ".warning")).toContain("no longer valid");
    problems.length = 0;
    await page.close();
  });

  test("a collector that goes away and comes back is noticed", async () => {
    const page = await signedIn();
    await page.waitForSelector(".panel");
    network.offline = true;
    await page.waitForSelector("[role=alert]", { timeout: 60_000 });
    expect(await text(page, "[role=alert]")).toContain("does not respond");
    expect(await page.$$eval(".panel", (all) => all.length)).toBeGreaterThan(0); // the last known state stays visible
    network.offline = false;
    await page.waitForFunction(() => !document.querySelector("[role=alert]"), { timeout: 60_000 });
    problems.length = 0;
    await page.close();
  });

  test("no page asks anyone but the collector", async () => {
    const foreign = network.requests.filter(
      (one) => one.url.host !== new URL(collector.url).host && one.url.hostname !== "localhost",
    );
    expect(foreign.map((one) => one.url.host).filter((host) => !/mozilla|firefox|google|gvt1/.test(host))).toEqual([]); // the browser's own
  });
});

/** Wait until nothing loads any more. */
async function ready(page: Page): Promise<void> {
  await page.waitForSelector("main");
  await page.waitForFunction(() => !document.body.textContent?.includes("Loading …"), { timeout: 60_000 });
}

async function text(page: Page, selector: string): Promise<string> {
  return await page.$eval(selector, (element) => element.textContent ?? "");
}

/** Press the button with this label. */
async function press(page: Page, selector: string, label: string): Promise<void> {
  await page.waitForFunction(
    (place, wanted) => [...document.querySelectorAll<HTMLElement>(place)].some((one) => one.textContent === wanted),
    {},
    selector,
    label,
  );
  await page.evaluate(
    (place, wanted) => [...document.querySelectorAll<HTMLElement>(place)].find((one) => one.textContent === wanted)?.click(),
    selector,
    label,
  );
}

async function violations(page: Page): Promise<string[]> {
  await page.evaluate(AXE);
  const { violations: found } = (await page.evaluate("axe.run()")) as AxeResults;
  return found.flatMap(({ id, nodes }) => nodes.map((node) => `${id}: ${node.html}`));
}
