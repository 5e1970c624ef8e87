/** The operator's token, and a collector that does not respond. */
import { expect, test } from "vitest";
import type { Dashboard } from "./dashboard.ts";
import { press, text } from "./pages.ts";

export function sessions(dashboard: Dashboard): void {
  test("a wrong token is refused, and the right one stays in this tab only", async () => {
    const page = await dashboard.opened("#/operator");
    await page.type("#token", "0".repeat(64));
    await page.click(".sign-in button");
    await page.waitForSelector(".warning");
    expect(await text(page, ".warning")).toBe("This is not the operator's token.");
    dashboard.problems.length = 0; // browsers report every refused request themselves
    const own = await dashboard.signedIn();
    expect(await own.evaluate(() => [localStorage.length, document.cookie, location.href.includes("token")])).toEqual([
      0,
      "",
      false,
    ]);
    await own.reload();
    await own.waitForSelector(".bar");
    expect(dashboard.network.requests.filter((one) => one.url.href.includes(dashboard.collector.token))).toEqual([]);
    await press(own, ".bar button", "Sign out");
    await own.waitForSelector("#token");
    expect(await own.evaluate(() => sessionStorage.length)).toBe(0);
    await Promise.all([page.close(), own.close()]);
  });

  test("a session whose token is no longer valid ends, and says so", async () => {
    const page = await dashboard.signedIn();
    await page.evaluate(() => sessionStorage.setItem("blender-dp operator", "0".repeat(64)));
    await page.reload();
    await page.waitForSelector("#token");
    expect(await text(page, ".warning")).toContain("no longer valid");
    dashboard.problems.length = 0;
    await page.close();
  });

  test("a collector that goes away and comes back is noticed", async () => {
    const page = await dashboard.signedIn();
    await page.waitForSelector(".panel");
    dashboard.network.offline = true;
    await page.waitForSelector("[role=alert]", { timeout: 60_000 });
    expect(await text(page, "[role=alert]")).toContain("does not respond");
    expect(await page.$$eval(".panel", (all) => all.length)).toBeGreaterThan(0); // the last known state stays visible
    dashboard.network.offline = false;
    await page.waitForFunction(() => !document.querySelector("[role=alert]"), { timeout: 60_000 });
    dashboard.problems.length = 0;
    await page.close();
  });
}
