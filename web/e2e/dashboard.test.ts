/** The dashboard of a real collector in real browsers: every page, every button, and what happens when something fails. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "puppeteer-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readInvitation } from "../client/src/index.ts";
import { BROWSERS, type Running, start } from "./browsers.ts";
import { Collector } from "./collector.ts";
import { overflow, press, ready, text, violations } from "./dashboardPages.ts";
import { Network } from "./network.ts";

const DATABASES = { chromium: "sqlite", firefox: "postgresql" } as const;
const PAGES = ["#/", "#/c/searches", "#/c/searches/q/query%200", "#/c/searches/privacy", "#/c/searches/review", "#/ledger"];
const LENGTH = 10_000;
const WIDTHS = [390, 1400, 768];

describe.each(BROWSERS)("%s", (name) => {
  let folder: string;
  let network: Network;
  let running: Running;
  let collector: Collector;
  let names: string[];
  const hasLong = name === BROWSERS[0]; // preparing it takes as long as all other pages together
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
    if (hasLong) {
      const long = await collector.listed(await collector.campaign({ name: "long" }));
      await collector.others(long, 300);
      await collector.close(long.id);
      names = await collector.call("lengthened", [long.id, LENGTH]);
    }
    await collector.campaign({ name: "empty", max_epsilon: "8" });
  }, 300_000);

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
    for (const width of WIDTHS) {
      await page.setViewport({ width, height: 800 });
      expect(await overflow(page), `${width}`).toBeLessThanOrEqual(0);
      if (width === 390) expect(await violations(page, name, ["light"]), "phone").toEqual([]);
    }
    expect(await violations(page, name)).toEqual([]);
    await page.close();
    expect(problems).toEqual([]);
  });

  test("shares are those of the API, and the signature was verified", async () => {
    const page = await opened("#/c/searches");
    const { released } = await api<{ released: { release: string } }>("/v1/rounds/current?campaign=searches");
    const rows = await api<{ query: string; share: number }[]>(`/v1/releases/${released.release}/trends?n=20`);
    const shown = await page.$$eval(".intervals tbody tr", (all) =>
      all.map((row) => [row.cells[0]?.textContent, row.cells[1]?.firstChild?.textContent]),
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

  test.runIf(hasLong)("a list of 10,000 queries is shown page by page, and any of them can be searched for", async () => {
    const page = await opened("#/c/long");
    const first = (selector: string) => page.$eval(selector, (element) => element.textContent);
    const turn = async (label: string, place: number) => {
      await press(page, ".pages button", label);
      await page.waitForFunction(
        (query) => document.querySelector(".intervals tbody th")?.textContent === query,
        {},
        names[place],
      );
    };
    expect(await first(".pages span")).toMatch(/^1 to 20 of 10.000 queries$/);
    expect(await page.$$eval(".intervals tbody th", (all) => all.map((one) => one.textContent))).toEqual(names.slice(0, 20));
    await turn("Next", 20);
    await turn("Last", LENGTH - 20);
    await turn("Previous", LENGTH - 40);
    await turn("First", 0);
    expect(await page.$$eval("*", (all) => all.length)).toBeLessThan(1500); // as fast as a short list
    await page.type("#search", "query 98");
    await page.waitForSelector(".suggestions a");
    expect(await first("#search-note")).toBe("The 8 most popular matches.");
    await page.type("#search", "76");
    await page.waitForFunction(() => document.querySelectorAll(".suggestions a").length === 1);
    await page.click(".suggestions a");
    await page.waitForSelector("h2.query");
    await ready(page);
    expect(await first("h2.query")).toBe("query 9876");
    expect(await first("main")).toContain("the 1,000 most popular queries");
    await page.close();
    expect(problems).toEqual([]);
  });

  test("every step of a round is a button that says what it spends", async () => {
    const page = await signedIn();
    const panel = "section[aria-labelledby]:has(a[href$='/empty'])";
    const step = async (label: string, says: string, state: string) => {
      await press(page, `${panel} .buttons button`, label);
      await page.waitForSelector("dialog[open]");
      expect(await text(page, "dialog")).toContain(says);
      expect(await violations(page, name)).toEqual([]);
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
    expect(await violations(page, name)).toEqual([]);
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
    problems.length = 0;
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
    expect(await violations(page, name)).toEqual([]);
    await page.type("input[pattern]", `made-in-${name}`);
    await press(page, "form button", "Create");
    await press(page, "dialog button", "Create");
    await page.waitForFunction(() => location.hash.includes("/operator/c/made-in"));
    const made = (await api<{ name: string; epsilon: string }[]>("/v1/campaigns")).find(
      (one) => one.name === `made-in-${name}`,
    );
    expect(made?.epsilon).toBe("1");
    expect(problems).toEqual([]);
    await page.waitForSelector("details:last-of-type summary");
    await page.evaluate(() => {
      for (const one of document.querySelectorAll("details")) one.open = true;
    });
    await press(page, "form button", "Create tokens");
    await page.waitForSelector("textarea");
    expect(await page.$eval("textarea", (area) => area.value)).toMatch(/^[0-9a-f]{64}$/);
    await press(page, "form button", "Show the invitation");
    await page.waitForSelector(".qr-code");
    const link = await page.$eval("textarea[aria-label=Link]", (area) => area.value);
    expect(readInvitation(link)).toMatchObject({ collector: collector.url, key: collector.key, name: `made-in-${name}` });
    const file = await page.$eval("a[download$='.json']", (a) => decodeURIComponent(a.href.split(",").slice(1).join()));
    expect(readInvitation(file)).toEqual(readInvitation(link));
    expect(await page.$eval(".qr-code", (image) => (image as HTMLImageElement).naturalWidth)).toBeGreaterThan(200);
    await page.setViewport({ width: 390, height: 800 });
    expect(await overflow(page)).toBeLessThanOrEqual(0);
    expect(await violations(page, name)).toEqual([]);
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
