/** The client's agent in real browsers: tabs and workers share one account, and it survives being killed. */
import type { Page } from "puppeteer-core";
import { beforeAll, beforeEach, expect, test } from "vitest";
import type * as Client from "../client/src/index.ts";
import { FakeCollector, PINNED } from "./fakeCollector.ts";
import { HostileCollector, ON_THE_WIRE, type Step, settings, TABLE } from "./hostileCollectors.ts";
import { APP, serveClient } from "./page.ts";
import type { SharedBrowser } from "./sharedBrowser.ts";

declare const client: typeof Client;
type Options = Client.AgentOptions;

let [browser, fake]: [SharedBrowser, FakeCollector] = [] as never;
let [options, tests]: [Options, number] = [{} as Options, 0];

/** The account of a device whose user has opted out. */
const LEFT = "opted out";

/** What a page does with its agent, and what comes out; one that throws returns the error's text. */
const act = (page: Page, name: "takePart" | "optOut" | "account" | "search" | "refreshBundle", ...values: string[]) =>
  page.evaluate(
    async (settings, method, given) => {
      const agent = await client.Agent.open(settings);
      const acts = agent as unknown as Record<string, (...all: string[]) => Promise<unknown>>;
      return await acts[method]?.(...given).catch(String);
    },
    options,
    name,
    values,
  ) as Promise<Client.Sent & Client.AccountView>;

/** The same in a worker of the page. */
const inWorker = (page: Page, query: string) =>
  page.evaluate(
    async (settings, given) => {
      const text = `import { Agent } from "${location.origin}/blender-dp.js";
        const agent = await Agent.open(${JSON.stringify(settings)});
        postMessage(await agent.takePart(${JSON.stringify(given)}).catch(String));`;
      const worker = new Worker(URL.createObjectURL(new Blob([text], { type: "text/javascript" })), { type: "module" });
      return await new Promise((resolve) => {
        worker.onmessage = ({ data }) => resolve(data);
      });
    },
    options,
    query,
  ) as Promise<Client.Sent>;

const tab = async () => {
  const page = await browser.running.page(APP);
  await page.waitForFunction('document.title === "ready"');
  return page;
};

/** Wait for the next request of this kind, run `then` while its sender waits, and go on as usual. */
const at = (path: string, then: () => Promise<unknown>) => {
  fake.instead = async ({ url }) => {
    if (url.pathname.includes(path)) {
      fake.instead = () => undefined;
      await then();
    }
    return undefined;
  };
};

/** One of these tests kills the browser. */
export function agent(shared: SharedBrowser): void {
  beforeAll(async () => {
    browser = shared;
    await serveClient(browser.network);
    browser.network.add("collector.example", (request) => fake.respond(request));
  });

  beforeEach(() => {
    fake = new FakeCollector();
    fake.nextRound(1);
    const { leastSeconds: _, ...pinned } = PINNED;
    options = {
      ...pinned,
      leastSeconds: 0,
      collector: "https://collector.example",
      key: fake.key,
      database: `test ${tests++}`,
    };
  });

  test("two tabs and their workers at the same time spend once", async () => {
    const [one, other] = [await tab(), await tab()];
    for (const round of [1, 2]) {
      fake.nextRound(round);
      let waiting: (() => void)[] = [];
      fake.instead = async ({ url }) => {
        if (!url.pathname.includes("head-lists")) return undefined;
        await new Promise<void>((go) => {
          waiting.push(go);
          if (waiting.length < 4) return;
          for (const each of waiting) each(); // all have read the account, and charge it now
          waiting = [];
        });
        return undefined;
      };
      const before = fake.posted.length;
      const acts = [act(one, "takePart", "query 1"), act(other, "takePart", "query 2")];
      const sent = await Promise.all([...acts, inWorker(one, "query 3"), inWorker(other, "query 4")]);
      expect(new Set(sent.map((each) => each.body)).size).toBe(1);
      expect(sent.map((each) => each.arrived)).toEqual([true, true, true, true]);
      expect(new Set(fake.posted.slice(before))).toEqual(new Set([sent[0]?.body]));
      expect(await act(one, "account")).toMatchObject({ spent: String(4 * round), left: String(8 - 4 * round) });
    }
    fake.nextRound(3);
    fake.instead = () => undefined;
    expect(await act(one, "takePart", "query 1")).toMatch("budget: of this device is used up");
  });

  test("an opt-out in one tab stops the other", async () => {
    const [one, other] = [await tab(), await tab()];
    options = { ...options, database: LEFT };
    at("/head-lists/", () => act(other, "optOut"));
    expect(await act(one, "takePart", "query 1")).toBeNull();
    expect(fake.paths.map((path) => path.split("/")[2])).toEqual(["rounds", "head-lists"]);
    expect(await act(one, "account")).toMatchObject({ sent: [], spent: "0" });
  });

  test("a browser killed between accounting and sending sends the same bytes once more, and no opt-out is lost", async () => {
    const page = await tab();
    browser.network.add("collector.example", async (request) => {
      if (request.method !== "OPTIONS") return fake.respond(request);
      await browser.running.kill(); // the browser asks for permission; the report itself has not left
      return null;
    });
    act(page, "takePart", "query 1").catch(() => {});
    await expect.poll(() => browser.running.browser.connected, { timeout: 20_000 }).toBe(false);
    expect(fake.posted).toEqual([]);
    browser.network.add("collector.example", (request) => fake.respond(request));
    await browser.startAgain();
    const again = await tab();
    const { sent, spent } = await act(again, "account");
    expect([sent.map((one) => one.arrived), spent]).toEqual([[false], "4"]);
    expect(await act(again, "takePart", "query 2")).toMatchObject({ arrived: true, body: sent[0]?.body });
    await act(again, "takePart", "query 3");
    expect(fake.posted).toEqual([sent[0]?.body]);
    expect((await act(again, "account")).spent).toBe("4");

    options = { ...options, database: LEFT };
    const before = fake.requests.length;
    expect(await act(again, "takePart", "query 1")).toBeNull();
    expect(await act(again, "refreshBundle")).toBe(false);
    expect(fake.requests.length).toBe(before);
  });

  test("what leaves has no cookies and no referrer, and offline search works", async () => {
    fake.publishBundle(1);
    const page = await tab();
    await act(page, "takePart", "query 1");
    expect(await act(page, "refreshBundle")).toBe(true);
    browser.network.offline = true;
    expect(await act(page, "search", "Query")).toMatchObject([{ query: "query 1" }]);
    expect(await act(page, "refreshBundle")).toMatch("does not respond");
    browser.network.offline = false;
    for (const { headers } of fake.requests) {
      expect([headers.cookie, headers.referer]).toEqual([undefined, undefined]);
    }
    expect(fake.paths.map((path) => path.split("/")[2])).toEqual(["rounds", "head-lists", "rounds", "rounds", "bundles"]);
  });

  test("the cases of hostile collectors that depend on the browser", async () => {
    const hostile = new HostileCollector();
    browser.network.add("collector.example", (request) => hostile.respond(request));
    const page = await tab();
    for (const [i, one] of ON_THE_WIRE.entries()) {
      for (const step of one.steps) {
        Object.assign(hostile, { step, requests: [] });
        const given = { ...options, ...settings(step, 0.5), database: `hostile ${i}` };
        const outcome = await page.evaluate(replayed, given, step.act, TABLE.now, TABLE.record);
        // A browser itself sends a request again whose connection was closed before a response.
        const requests = hostile.requests.filter((kind, place, all) => kind !== all[place - 1]);
        expect([one.name, ...outcome, requests]).toEqual([one.name, step.result, step.spent, step.requests]);
      }
    }
  });
}

/** One act in the page, as the table names it. */
async function replayed(options: Options, act: Step["act"], now: number, { token, query, url }: typeof TABLE.record) {
  const agent = await client.Agent.open({ ...options, clock: () => now });
  const acts = {
    report: () => agent.takePart(query, url),
    upload: () => agent.upload(token, query, url),
    "refresh bundle": () => agent.refreshBundle(),
  };
  const refused = (error: unknown) => (error instanceof client.BlenderError ? "refused" : String(error));
  const result = await acts[act]().then((done) => (done ? "done" : "nothing"), refused);
  return [result, (await agent.account()).spent];
}
