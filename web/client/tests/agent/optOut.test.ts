/** After an opt-out nothing leaves the device, and nothing can delay it. */
import { expect, test } from "vitest";
import { agent, fake, withDevices } from "./device.ts";

withDevices();

test("opting out is permanent, and holds for agents that are running", async () => {
  const running = await agent();
  expect(await running.optedOut()).toBe(false);
  await (await agent()).optOut();
  for (const device of [running, await agent(), await agent({ campaign: "d".repeat(32) })]) {
    expect(await device.optedOut()).toBe(true);
    expect(await device.takePart("query 1")).toBeNull();
    expect(await device.upload("t", "query", "a.example")).toBeNull();
    expect(await device.refreshBundle()).toBe(false);
  }
  expect(fake.requests).toEqual([]); // not even that this device exists
});

test.each(["/v1/rounds/current", "/v1/openings/", "/v1/head-lists/", "/v1/bundles/"])(
  "an opt-out during the request of %s prevents the next one",
  async (path) => {
    fake.round = { ...fake.round, state: path.includes("openings") ? "open" : "listed" };
    fake.publishBundle(1);
    const other = await agent();
    fake.instead = async ({ url }) => {
      if (url.pathname.startsWith(path)) await other.optOut();
      return undefined;
    };
    const device = await agent();
    if (path.includes("bundles")) await device.refreshBundle();
    else if (path.includes("openings")) expect(await device.upload("t", "query", "a.example")).toBeNull();
    else expect(await device.takePart("query 1")).toBeNull();
    expect(fake.requests.at(-1)?.url.pathname.startsWith(path)).toBe(true);
    expect(await device.account()).toMatchObject({ sent: [], uploaded: [], left: "8" });
  },
);

test("opting out does not wait for another tab that holds the account", async () => {
  const device = await agent();
  let release = () => {};
  const held = navigator.locks.request("blender-dp:blender-dp", () => new Promise<void>((resolve) => (release = resolve)));
  await device.optOut();
  expect(await device.optedOut()).toBe(true);
  release();
  await held;
});

test.each(["report", "upload"])("an opt-out between charging and sending a %s", async (kind) => {
  const device = await agent();
  fake.round = { ...fake.round, state: kind === "upload" ? "open" : "listed" };
  const request = navigator.locks.request.bind(navigator.locks) as (name: string, act: () => unknown) => Promise<unknown>;
  Object.assign(navigator.locks, {
    request: async (name: string, act: () => unknown) => {
      const result = await request(name, act);
      await device.optOut();
      return result;
    },
  });
  expect(await (kind === "upload" ? device.upload("t", "query", "a.example") : device.takePart("query 1"))).toBeNull();
  expect(fake.posted).toEqual([]);
  expect((await device.account()).spent).toBe("4"); // it may look as if it had left, never the reverse
});
