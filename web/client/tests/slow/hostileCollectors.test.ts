/** The table of hostile collectors in spec/, which every client must replay. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { HostileCollector, settings, TABLE } from "../../../e2e/hostileCollectors.ts";
import { Agent, BlenderError } from "../../src/index.ts";
import { withStorage } from "../agent/storage.ts";

withStorage();

let collector: HostileCollector;

beforeAll(async () => {
  collector = await HostileCollector.start();
});

afterAll(() => collector.close());

const { token, query, url } = TABLE.record;
const ACTS = {
  report: (agent: Agent) => agent.takePart(query, url),
  upload: (agent: Agent) => agent.upload(token, query, url),
  "refresh bundle": (agent: Agent) => agent.refreshBundle(),
};

test.each(TABLE.cases.map((one) => [one.name, one.steps] as const))("%s", async (_, steps) => {
  const sent = new Set<string>();
  for (const step of steps) {
    Object.assign(collector, { step, requests: [], posted: [] });
    const agent = await Agent.open({ collector: collector.url, clock: () => TABLE.now, ...settings(step) });
    const result = await ACTS[step.act](agent).then((done) => (done ? "done" : "nothing"), refused);
    const expected = [step.result, step.requests, step.spent];
    expect([result, collector.requests, (await agent.account()).spent]).toEqual(expected);
    if (step.act === "report") for (const body of collector.posted) sent.add(body);
  }
  expect(sent.size).toBeLessThanOrEqual(1); // identical bytes on retry
});

function refused(error: unknown): string {
  if (error instanceof BlenderError) return "refused";
  throw error;
}
