/** Both clients in one round of a real collector, and the example page against it, in both browsers. */
import { readFileSync } from "node:fs";
import type { Page } from "puppeteer-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import type * as Client from "../client/src/index.ts";
import type { Running } from "./browsers.ts";
import type { Collector, Collectors } from "./collector.ts";
import { application, file } from "./page.ts";
import { serve } from "./server.ts";
import type { SharedBrowser } from "./sharedBrowser.ts";

declare const client: typeof Client;

const EXAMPLE = readFileSync(new URL("../client/example/index.html", import.meta.url), "utf8");
const DEVICES = 80; // of each language
const [OURS, THEIRS] = ["query 0", "query 1"] as const;

let [collector, link]: [Collector, string] = [] as never;
let site: Awaited<ReturnType<typeof serve>>;

/** The example page, when it has shown the account. */
async function example(browser: Running): Promise<Page> {
  const page = await browser.page(`${site.url}/`);
  await page.waitForFunction("document.getElementById('account').textContent");
  return page;
}

/** Let more devices of this browser report, each with its own account; return how many reports have arrived. */
async function takePart(browser: Running, count: number, query: string): Promise<number> {
  const page = await empty(browser);
  return await page.evaluate(
    async (invitation, devices, searched) => {
      const { Agent, readInvitation } = client;
      let arrived = 0;
      for (let i = 0; i < devices; i++) {
        const agent = await Agent.open({ ...readInvitation(invitation), database: `device ${i}` });
        const sent = await agent.takePart(searched, "https://site0.example/");
        if (sent?.arrived) arrived++;
      }
      return arrived;
    },
    link,
    count,
    query,
  );
}

/** A page of the same site that does nothing by itself. */
async function empty(browser: Running): Promise<Page> {
  const page = await browser.page(`${site.url}/empty`);
  await page.waitForFunction('document.title === "ready"');
  return page;
}

export function live(browsers: readonly SharedBrowser[], collectors: Collectors): void {
  const perBrowser = DEVICES / browsers.length;

  beforeAll(async () => {
    collector = await collectors.start();
    const others = await application();
    site = await serve((request) => {
      const { pathname } = request.url;
      if (pathname === "/") return file("text/html", EXAMPLE);
      return pathname === "/invitation.txt" ? file("text/plain", link) : others(request);
    });
  });

  afterAll(async () => {
    for (const one of browsers) await one.tidy();
    await collector.stop();
    await site.close();
  });

  test("browsers and Python devices report in one round, and the release shows what they reported", async () => {
    const campaign = await collector.campaign();
    link = await collector.invitation(campaign);
    const round = await collector.opened(campaign);
    const users = await collector.enrolled(campaign, 200);
    for (const [i, token] of users.entries())
      await collector.upload(round, token, `query ${i % 2}`, `https://site${i % 2}.example/`);
    await collector.list(round);

    for (const { running } of browsers) {
      const page = await example(running);
      await page.type("[name=query]", " QUERY 0 ");
      await page.type("[name=url]", "site0.example");
      await page.click("form button");
      await page.waitForFunction("document.getElementById('account').textContent.includes('\"arrived\": true')");
      expect(await takePart(running, perBrowser - 1, OURS)).toBe(perBrowser - 1);
    }
    expect(await collector.takePart(campaign, DEVICES, THEIRS, "https://site1.example/")).toBe(DEVICES);
    expect(await collector.stored()).toBe(2 * DEVICES);

    // The browsers searched for one query, the Python devices for the other: each has half of all clients. An estimate is more
    // than 5.2 standard errors away from that with probability 2e-7, so this fails once in 2.5 million runs. If the browsers'
    // reports said nothing, their query would get a sixth instead of a half: that is seven standard errors away.
    const { queries } = await collector.close(round);
    expect(queries.map((one) => one.query)).toEqual([OURS, THEIRS, null]);
    for (const { client_share, client_variance } of queries.slice(0, 2)) {
      expect(Math.sqrt(client_variance)).toBeLessThan(0.05);
      expect(Math.abs(client_share - 1 / 2)).toBeLessThan(5.2 * Math.sqrt(client_variance));
    }

    for (const { running } of browsers) {
      const page = await example(running);
      await page.type("#typed", "Query");
      await page.waitForFunction("document.getElementById('found').textContent.includes('query 1')");
      await page.click("#leave");
    }
  });

  test("an opt-in user's browser uploads a record and withdraws it", async () => {
    const campaign = await collector.campaign({ name: "uploads" });
    link = await collector.invitation(campaign);
    await collector.opened(campaign);
    const tokens = await collector.enrolled(campaign, browsers.length);
    for (const [i, { running }] of browsers.entries()) {
      const page = await empty(running);
      const outcome = await page.evaluate(
        async (invitation, token) => {
          const { Agent, readInvitation } = client;
          const agent = await Agent.open({ ...readInvitation(invitation), database: "opt-in" });
          const uploaded = await agent.upload(token, "query 0", "https://site0.example/");
          return [
            uploaded?.receipt.length,
            await agent.withdraw(),
            await agent.upload(token, "query 0", "https://site0.example/"),
          ];
        },
        link,
        tokens[i] ?? "",
      );
      expect(outcome).toEqual([64, 1, null]);
    }
  });
}
