/** The table of hostile collectors in spec/, which every client must replay. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { HostileCollector, settings, TABLE } from "../../../e2e/hostileCollectors.ts";
import { Agent, BlenderError } from "../../src/index.ts";
import "./storage.ts";

let collector: HostileCollector;

beforeAll(async () => {
  collector = await HostileCollector.start();
});

afterAll(() => collector.close());

test.each(TABLE.cases.map((one) => [one.name, one] as const))("%s", async (_, one) => {
  const agent = await Agent.open({ collector: collector.url, clock: () => TABLE.now, ...settings(one) });
  const { token, query, url } = TABLE.record;
  const acts = {
    report: () => agent.takePart(query, url),
    upload: () => agent.upload(token, query, url),
    "refresh bundle": () => agent.refreshBundle(),
  };
  collector.posted = [];
  for (const step of one.steps) {
    Object.assign(collector, { step, requests: [] });
    const result = await acts[step.act]().then((done) => (done ? "done" : "nothing"), refused);
    const { result: expected, requests, spent } = step;
    expect([result, collector.requests, (await agent.account()).spent]).toEqual([expected, requests, spent]);
  }
  const isOneReport = one.steps.every((step) => step.act === "report") && (await agent.account()).sent.length < 2;
  if (isOneReport) expect(new Set(collector.posted).size).toBeLessThanOrEqual(1); // identical bytes on retry
});

function refused(error: unknown): string {
  if (error instanceof BlenderError) return "refused";
  throw error;
}
