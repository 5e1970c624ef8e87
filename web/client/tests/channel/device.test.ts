import { describe, expect, test } from "vitest";
import { Device } from "../../src/channel/device.ts";
import { ReportingList } from "../../src/records/reportingList.ts";

const LIST = {
  schema: "blender-dp/head-list/2",
  canonical_version: 1,
  channel: { randomiser: "two-stage", epsilon: "4", delta: "1/100000", f_c: "17/20", m_c: 2 },
  queries: [{ query: "weather", urls: ["https://weather.example/"] }],
};
const list = ReportingList.fromDocument(LIST);

describe("a device refuses a list that was made for another budget", () => {
  const own = { epsilon: "4.0", delta: 1e-5, mC: 2 };
  test("its own is accepted in any form", () => expect(new Device(list, own)).toBeInstanceOf(Device));
  test.each([{ epsilon: 5 }, { epsilon: "3.999" }, { delta: 1e-6 }, { delta: undefined }, { mC: 1 }])("%j", (other) =>
    expect(() => new Device(list, { ...own, ...other })).toThrow("the list was made for"),
  );
  test.each([{ epsilon: 0 }, { epsilon: -4 }, { epsilon: 65 }, { delta: 0 }, { delta: 1 }, { mC: 1.5 }])("%j", (other) =>
    expect(() => new Device(list, { ...own, ...other })).toThrow(/is not (between|a whole number)/),
  );
});

test("random bytes that are too few are refused, and name no record", async () => {
  const device = new Device(list, { epsilon: 4, delta: 1e-5, mC: 2 });
  await expect(device.answer("weather", "https://weather.example/", new Uint8Array(15))).rejects.toThrow(
    "15 bytes are too few",
  );
});

test("reports differ from call to call, and name cells of the list", async () => {
  const device = new Device(list, { epsilon: 4, delta: 1e-5, mC: 2 });
  const reports = await Promise.all(Array.from({ length: 2_000 }, () => device.report("weather", "weather.example")));
  // The rarest of the three cells has a probability above 0.1: (1 - 0.1)^2000 is below 1e-90.
  expect([...new Set(reports.flatMap(({ cells }) => cells))].sort()).toEqual([0, 1, 2]);
  expect(new Set(reports.map(({ headList }) => headList))).toEqual(new Set([await list.digest()]));
});
