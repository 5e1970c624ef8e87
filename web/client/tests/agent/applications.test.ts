/** What an application needs besides reports: the round, to choose a record for it, and a bundle that can be deleted. */
import { expect, test } from "vitest";
import { agent, fake, withDevices } from "./device.ts";

withDevices();

test("the current round is shown, and costs nothing", async () => {
  const device = await agent();
  expect(await device.currentRound()).toMatchObject({ id: fake.round?.id, state: "listed" });
  fake.round = null;
  expect(await device.currentRound()).toBeNull();
  expect((await device.account()).spent).toBe("0");
  await device.optOut();
  const requests = fake.requests.length;
  expect(await device.currentRound()).toBeNull();
  expect(fake.requests.length).toBe(requests);
});

test("a deleted bundle is gone, also for another tab, and can be fetched again", async () => {
  fake.publishBundle(1);
  const [device, other] = [await agent(), await agent()];
  await device.refreshBundle();
  expect(await other.search("q")).not.toEqual([]);
  await device.forgetBundle();
  expect(await other.search("q")).toEqual([]);
  await device.refreshBundle();
  expect(await other.search("q")).not.toEqual([]);
});
