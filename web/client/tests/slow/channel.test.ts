/** Many reports with the real generator, compared with Python's exact distribution of whole reports. */
import { afterEach, expect, test, vi } from "vitest";
import { Device } from "../../src/channel/device.ts";
import type { Record } from "../../src/records/record.ts";
import { ReportingList } from "../../src/records/reportingList.ts";
import { python } from "../python.ts";

const REPORTS = 50_000;
const QUERIES = [
  { query: "a", urls: ["https://x.example/", "https://y.example/"] },
  { query: "b", urls: ["https://x.example/"] },
  { query: "c", urls: ["https://x.example/", "https://y.example/", "https://z.example/"] },
];
const CHANNELS = [
  { randomiser: "two-stage", epsilon: "1", delta: "1/100000", f_c: "17/20", m_c: 1 },
  { randomiser: "subset", epsilon: "1", f_c: "7/10", m_c: 1, subset_size: 1 },
  { randomiser: "subset", epsilon: "1", f_c: "7/10", m_c: 1, subset_size: 2 },
];
const RECORDS = [
  { query: "c", url: "https://y.example/" },
  { query: "b", url: "https://unlisted.example/" },
  { query: null, url: null },
];

afterEach(() => {
  vi.unstubAllGlobals();
});

/** False alarm: 1e-6 for all cases together. A step that is 5 % too large or too small is detected. */
test("reports follow the channel", { timeout: 120_000 }, async () => {
  drawBlocks();
  const cases = [];
  for (const channel of CHANNELS) {
    const document = { schema: "blender-dp/head-list/2", canonical_version: 1, channel, queries: QUERIES };
    const device = new Device(ReportingList.fromDocument(document), { epsilon: channel.epsilon, delta: channel.delta });
    for (const record of RECORDS) cases.push({ head_list: document, record, counts: await counts(device, record) });
  }
  expect(python("tests.web.channel_check", [], JSON.stringify(cases))).toBe("");
});

/** Let the generator fill many words with one call, which takes as long as filling one. */
function drawBlocks(): void {
  const real = crypto;
  let [block, start] = [new Uint8Array(), 0];
  const getRandomValues = (bytes: Uint8Array) => {
    if (start + bytes.length > block.length) [block, start] = [real.getRandomValues(new Uint8Array(65_536)), 0];
    bytes.set(block.subarray(start, start + bytes.length));
    start += bytes.length;
    return bytes;
  };
  vi.stubGlobal("crypto", { subtle: real.subtle, getRandomValues });
}

async function counts(device: Device, record: Record): Promise<{ [cells: string]: number }> {
  const found: { [cells: string]: number } = {};
  for (let i = 0; i < REPORTS; i++) {
    const cells = (await device.randomise(record)).cells.join();
    found[cells] = (found[cells] ?? 0) + 1;
  }
  return found;
}
