/** A page of another origin, opened by a signed-in operator, can neither act for the operator nor read anything. */
import type { Page } from "puppeteer-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Overview } from "../../dashboard/src/generated/api.ts";
import { file } from "../page.ts";
import { serve } from "../server.ts";
import type { Dashboard } from "./dashboard.ts";

const GUESS = "0".repeat(64);

export function crossSite(dashboard: Dashboard): void {
  let own: Page;
  let other: Awaited<ReturnType<typeof serve>>;
  let target: string;
  let before: unknown;

  beforeAll(async () => {
    other = await serve(() => file("text/html", "<!doctype html><link rel=icon href='data:,'><title>another site</title>"));
    target = `${dashboard.collector.url}/v1/operator/campaigns/${await dashboard.collector.campaign({ name: "target" })}/rounds`;
    own = await dashboard.signedIn(); // it stays open
    await own.waitForSelector(".panel");
    before = await campaign();
  });

  afterAll(async () => {
    await own.close();
    await other.close();
  });

  /** What the operator would notice: the campaign's rounds, their states, and what can be done next. */
  async function campaign(): Promise<unknown> {
    const { campaigns } = await dashboard.collector.call<Overview>("operator", ["GET", "/v1/operator/overview"]);
    return campaigns.find(({ id }) => target.includes(id));
  }

  function foreign(): Promise<Page> {
    return dashboard.running.page(other.url.replace("127.0.0.1", "localhost"));
  }

  /** What arrived at the route since then. */
  function arrived(since: number): string[] {
    return dashboard.network.requests
      .slice(since)
      .filter((one) => one.url.href === target)
      .map(
        (one) =>
          `${one.method}${one.headers.authorization === `Bearer ${dashboard.collector.token}` ? " with the token" : ""}`,
      );
  }

  test.each([
    ["JSON", {}, ["OPTIONS"]],
    ["JSON with credentials", { credentials: "include" }, ["OPTIONS"]],
    ["JSON with a guessed token", { headers: { Authorization: `Bearer ${GUESS}` } }, ["OPTIONS"]],
    ["text without asking", { mode: "no-cors", credentials: "include", headers: {} }, ["POST"]],
  ])("fetch: %s", async (_, init, requests) => {
    const page = await foreign();
    const since = dashboard.network.requests.length;
    const seen = await page.evaluate(
      (url, more) =>
        fetch(url, {
          method: "POST",
          body: "{}",
          ...more,
          headers: (more as { mode?: string }).mode ? {} : { "Content-Type": "application/json", ...more.headers },
        } as RequestInit).then(
          (response) => `${response.type} ${response.status}`,
          () => "refused",
        ),
      target,
      init as { headers?: Record<string, string> },
    );
    expect(seen).toMatch(/^(refused|opaque 0)$/);
    expect(arrived(since)).toEqual(requests);
    expect(await campaign()).toEqual(before);
    await page.close();
  });

  test("a form", async () => {
    const page = await foreign();
    const since = dashboard.network.requests.length;
    await page.evaluate((url) => {
      document.body.innerHTML = `<form method="post" enctype="text/plain" action="${url}"><input name='{"a' value='":1}'></form>`;
      document.querySelector("form")?.submit();
    }, target);
    await expect.poll(() => arrived(since)).toEqual(["POST"]);
    expect(await campaign()).toEqual(before);
    await page.close();
  });

  test("reading what the operator sees, and what only the collector's own pages may embed", async () => {
    const page = await foreign();
    const read = (path: string) =>
      page.evaluate(
        (url) =>
          fetch(url, { credentials: "include" }).then(
            (one) => one.text(),
            () => "refused",
          ),
        path,
      );
    expect(await read(`${dashboard.collector.url}/v1/operator/overview`)).toBe("refused");
    expect(await read(`${dashboard.collector.url}/v1/campaigns`)).toBe("refused");
    const embedded = (tag: string, path: string) =>
      page.evaluate(
        (kind, url) =>
          new Promise((resolve) => {
            const element = document.createElement(kind) as HTMLImageElement;
            element.onload = () => resolve("loaded");
            element.onerror = () => resolve("refused");
            element.src = url;
            document.body.append(element);
          }),
        tag,
        `${dashboard.collector.url}${path}`,
      );
    const script = (await (await fetch(dashboard.collector.url, { headers: { Accept: "text/html" } })).text()).match(
      /\/dashboard\/[^"]+js/,
    );
    expect(await embedded("script", script?.[0] ?? "")).toBe("refused");
    expect(await embedded("script", "/v1/campaigns")).toBe("refused");
    await page.close();
  });

  test("a frame and a window show nothing of the dashboard to the page", async () => {
    const page = await foreign();
    await page.evaluate((url) => {
      document.body.innerHTML = `<iframe src="${url}/#/operator"></iframe>`;
    }, dashboard.collector.url);
    await expect.poll(() => page.frames().length).toBe(2);
    await new Promise((resolve) => setTimeout(resolve, 500));
    const shown = await Promise.all(
      page.frames().map((frame) => frame.evaluate(() => document.querySelector("main")?.textContent ?? "").catch(() => "")),
    );
    expect(shown.join("")).toBe("");
    const isCut = await page.evaluate(async (url) => {
      const opened = window.open(`${url}/#/operator`);
      for (let i = 0; i < 1200 && !opened?.closed; i++) await new Promise((resolve) => setTimeout(resolve, 50));
      return opened === null || opened.closed; // the policy of the opened page has cut the tie
    }, dashboard.collector.url);
    expect(isCut).toBe(true);
    expect(await campaign()).toEqual(before);
    await page.close();
  });
}
