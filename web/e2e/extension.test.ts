/** The extension over its life in a real browser, with a real collector. Every request of the browser is recorded. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { BROWSERS } from "./browsers.ts";
import { type Collector, Collectors } from "./collector.ts";
import { Device, invitation } from "./extension.ts";
import { forward } from "./network.ts";
import type { Request } from "./server.ts";

const SOON = { timeout: 60_000, interval: 100 };
const SEVERAL_TURNS = 1500;
const OPT_IN = 120; // users, of which the collector needs 100
const LONG = 240_000; // on a busy machine; about 20 seconds on one that is not

/** What browsers send with every request to a server, besides the proxy's own header. */
const HEADERS = [
  "host",
  "connection",
  "proxy-connection",
  "user-agent",
  "accept",
  "accept-language",
  "accept-encoding",
].concat(
  ["sec-fetch-site", "sec-fetch-mode", "sec-fetch-dest", "pragma", "cache-control", "priority"],
  ["origin", "content-type", "content-length"],
);

const collectors = new Collectors();
let collector: Collector;
let campaign: string;
let device: Device;

beforeAll(async () => {
  collector = await collectors.start();
});

afterEach(() => device.remove());
afterAll(() => collectors.stop());

/** Hosts to which the browsers themselves, and the pages that the user opens, send requests. */
const OTHERS = /(^|\.)(google|googleapis|gstatic|gvt1|mozilla|firefox|query-\d)\.(com|net|org|example)$/;

/** All other requests: those of the extension, wherever they go. */
function sent(): string[] {
  const own = device.network.requests.filter(({ url }) => !OTHERS.test(url.hostname));
  return own.map(({ method, url }) => `${method} ${url.host}${url.pathname}`);
}

/** Nothing is sent for as long as several turns would take. */
async function expectSilence(): Promise<void> {
  const before = sent();
  await new Promise((resolve) => setTimeout(resolve, SEVERAL_TURNS));
  expect(sent()).toEqual(before);
}

async function expectReports(count: number): Promise<void> {
  await expect.poll(async () => (await device.status()).lastReport?.arrived, SOON).toBe(true);
  expect(await collector.stored()).toBe(count);
}

/** Do this when the next report is on its way: it has been charged, and has not arrived. */
async function whenReporting(act: () => Promise<void>): Promise<Request> {
  const { hostname } = new URL(collector.url);
  const held = await new Promise<Request>((resolve) => {
    device.network.add(hostname, (request) => {
      if (!request.url.pathname.endsWith("/reports")) return forward(request);
      resolve(request);
      return new Promise(() => {});
    });
  });
  await act();
  device.network.add(hostname, forward);
  return held;
}

describe.each(BROWSERS)("%s", (name) => {
  test("declining, joining, reports, a kill, offline search, pause, deletion, leaving", { timeout: LONG }, async () => {
    campaign = await collector.campaign({ name: `${name}-reports` });
    device = await Device.install(name);

    // The first page opens by itself. Nothing is stored or sent before an answer, and a refusal changes nothing.
    await expect.poll(() => device.pages(), SOON).toContain("/consent.html");
    await device.search("query 1");
    expect(await device.databases()).toEqual([]);
    expect((await device.status()).consent).toBe("none");
    await device.answer("declined");
    await device.search("query 2");
    expect(await device.status()).toMatchObject({ consent: "declined", stored: 0 });
    expect(sent()).toEqual([]);

    // After joining, searches are stored, and one report arrives by itself.
    await device.join(invitation(collector, campaign));
    for (const query of ["query 1", "query 2", "query 1", "jane.doe@query-3.example"]) await device.search(query);
    expect(await device.status()).toMatchObject({ consent: "client", stored: 2, spent: "0", remaining: "48" });
    await device.stopBackground(); // whatever it knows must be on disk
    const first = await collector.listed(campaign, OPT_IN);
    await expectReports(1);
    await expect.poll(async () => (await device.status()).lastReport?.cells, SOON).not.toBeNull(); // its list is stored meanwhile
    const { lastReport, ...status } = await device.status();
    expect(status).toMatchObject({ spent: "4", remaining: "44", problem: null });
    expect(lastReport?.cells).toHaveLength(JSON.parse(lastReport?.body ?? "").reports[0].cells.length);

    // The results are fetched.
    await collector.others(first, 300);
    await collector.close(first.id);
    await expect.poll(() => collector.stored(), SOON).toBe(0);
    await expect.poll(async () => (await device.status()).bundle, SOON).not.toBeNull();

    // Killed between accounting and sending, and started again offline: the results are searched offline.
    const [second, held] = await Promise.all([collector.listed(campaign, OPT_IN), whenReporting(() => device.kill())]);
    expect(await collector.stored()).toBe(0);
    device.network.offline = true;
    await device.start();
    expect(await device.find(" QUER")).toEqual(expect.arrayContaining([expect.stringMatching(/^query \d$/)]));
    expect(await device.status()).toMatchObject({ spent: "8", lastReport: { body: held.body, arrived: false } });

    // When the network is back, the same bytes arrive once, and are charged once.
    device.network.offline = false;
    await expectReports(1);
    const bodies = device.network.requests.filter(({ url }) => url.pathname === held.url.pathname).map(({ body }) => body);
    expect(bodies).toEqual([held.body, held.body]);
    expect(await device.status()).toMatchObject({ spent: "8", remaining: "40", lastReport: { body: held.body } });

    // Nothing in a request identifies this installation: Chromium's origin is the same for all users of an extension.
    const toCollector = device.network.requests.filter(({ url }) => url.origin === collector.url);
    const names = new Set(toCollector.flatMap(({ headers }) => Object.keys(headers)));
    expect([...names].filter((header) => !HEADERS.includes(header))).toEqual([]);
    const origins = toCollector.flatMap(({ headers }) => headers.origin ?? []);
    expect(origins.filter((origin) => origin.startsWith("moz-extension:"))).toEqual([]);

    // A pause, and deletion: what was spent stays.
    await device.ask("pause", { paused: true });
    await device.search("query 4");
    await expectSilence();
    await device.ask("deleteEverything", {});
    expect(await device.status()).toMatchObject({ stored: 0, bundle: null, spent: "8", remaining: "40" });
    await device.ask("pause", { paused: false });

    // Leaving: not one request afterwards, not even that of a report that is on its way.
    await collector.abort(second.id);
    const [, left] = await Promise.all([
      collector.listed(campaign, OPT_IN),
      whenReporting(async () => void (await device.ask("leave", {}))),
    ]);
    expect(left.body).not.toBe(held.body);
    await expectSilence();
    await device.restart();
    await expectSilence();
    expect(await device.status()).toMatchObject({ left: true, stored: 0, spent: "12", nextRound: null });
    expect(await collector.stored()).toBe(0);
  });

  test("a volunteer uploads one record, does not report in the same round, and withdraws before leaving", {
    timeout: LONG,
  }, async () => {
    campaign = await collector.campaign({ name: `${name}-uploads` });
    device = await Device.install(name);
    const [token = ""] = await collector.enrolled(campaign);
    await device.join(await collector.invitation(campaign));
    await device.ask("consent", { answer: "opt-in", token });
    await device.search("query 1");
    const round = await collector.opened(campaign);
    await expect.poll(async () => (await device.status()).uploads, SOON).toEqual({ rounds: 1, withdrawn: 0 });
    const uploads = () => device.network.requests.filter(({ url }) => url.pathname === `/v1/rounds/${round}/records`);
    await expect.poll(() => uploads().map(({ body }) => JSON.parse(body).query), SOON).toEqual(["query 1"]);
    expect(uploads()[0]?.headers.authorization).toBe(`Bearer ${token}`);

    await device.ask("consent", { answer: "client" }); // a change of mind does not put the device into both groups
    await collector.uploads(round, campaign, OPT_IN);
    await collector.list(round);
    await new Promise((resolve) => setTimeout(resolve, SEVERAL_TURNS));
    expect(uploads()).toHaveLength(1);
    expect(sent().filter((one) => one.endsWith("/reports"))).toEqual([]);
    expect(await device.status()).toMatchObject({ spent: "4", problem: null });

    // In the question about leaving, the record of a round whose list has not been made yet is withdrawn first.
    await collector.abort(round);
    await device.ask("consent", { answer: "opt-in", token });
    const next = await collector.opened(campaign);
    const uploaded = `POST ${new URL(collector.url).host}/v1/rounds/${next}/records`;
    await expect.poll(sent, SOON).toContain(uploaded);
    await expect.poll(() => collector.optInUsers(campaign), SOON).toBe(1); // otherwise there is nothing to withdraw yet
    await device.ask("pause", { paused: true });
    expect(await device.withdrawAndLeave()).toBe("1 record was withdrawn.");
    expect(sent().filter((one) => one.startsWith("DELETE"))).toHaveLength(2); // that of the round that was aborted is gone
    expect(await device.status()).toMatchObject({ left: true, uploads: { rounds: 2 } });
    await expectSilence();
  });
});
