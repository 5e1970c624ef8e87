/** Everything that the operator can do. */
import { expect, test } from "vitest";
import { readInvitation } from "../../client/src/index.ts";
import type { Collector } from "../collector.ts";
import type { Dashboard } from "./dashboard.ts";
import { overflow, press, text, violations } from "./pages.ts";

export function operators(dashboard: Dashboard): void {
  test("every step of a round is a button that says what it spends", async () => {
    const page = await dashboard.signedIn();
    const panel = "section[aria-labelledby]:has(a[href$='/empty'])";
    const step = async (label: string, says: string, state: string) => {
      await press(page, `${panel} .buttons button`, label);
      await page.waitForSelector("dialog[open]");
      expect(await text(page, "dialog")).toContain(says);
      expect(await violations(page, dashboard.name)).toEqual([]);
      if (state === "aborted") await page.type("dialog [name=reason]", "only a test");
      await press(page, "dialog button", label);
      await page.waitForFunction(
        (place, wanted) => document.querySelector(`${place} [data-testid=state]`)?.textContent === wanted,
        { timeout: 60_000 },
        panel,
        state,
      );
    };
    await step("Open a round", "spends nothing", "open");
    const round = (await dashboard.api<{ round: { id: string; campaign: string } }>("/v1/rounds/current?campaign=empty"))
      .round;
    await dashboard.collector.uploads(round.id, round.campaign, 200);
    await step("Make the list", "spends ε = 4 of the budget of opt-in users and of clients", "listed");
    const listed = await dashboard.collector.call<Parameters<Collector["others"]>[0]>("reached", [round.id, "listed"]);
    await dashboard.collector.others(listed, 300);
    await page.waitForFunction(
      (place) => /\b300 reports/.test(document.querySelector(place)?.textContent ?? ""),
      { timeout: 60_000 },
      panel,
    );
    await step("Close and release", "cannot be undone", "released");
    await step("Open a round", "spends nothing", "open");
    await step("Abort", "your reason becomes public", "aborted");
    expect(await text(page, panel)).toContain("only a test");
    expect(await violations(page, dashboard.name)).toEqual([]);
    await page.close();
  });

  test("a refused step explains itself, and nothing changes", async () => {
    const page = await dashboard.signedIn();
    const panel = "section[aria-labelledby]:has(a[href$='/searches'])";
    await press(page, `${panel} .buttons button`, "Open a round");
    await press(page, "dialog button", "Open a round");
    await page.waitForFunction(
      (place) => document.querySelector(`${place} [data-testid=state]`)?.textContent === "open",
      {},
      panel,
    );
    await press(page, `${panel} .buttons button`, "Make the list");
    await press(page, "dialog button", "Make the list");
    await page.waitForSelector("dialog .warning");
    expect(await text(page, "dialog .warning")).toMatch(/too few opt-in users: 0/i);
    await page.keyboard.press("Escape");
    await page.waitForFunction(() => !document.querySelector("dialog"));
    await press(page, `${panel} .buttons button`, "Abort");
    await page.waitForSelector("dialog[open]"); // an input of a closed dialog loses what is typed
    await page.type("dialog [name=reason]", "a test");
    await press(page, "dialog button", "Abort");
    await page.waitForFunction(
      (place) => document.querySelector(`${place} [data-testid=state]`)?.textContent === "aborted",
      {},
      panel,
    );
    await page.close();
  });

  test("a campaign is created next to its forecast, and users are enrolled", async () => {
    dashboard.problems.length = 0;
    const page = await dashboard.signedIn("#/operator/new");
    await page.waitForFunction(() => document.querySelector(".panel .facts dd"));
    const before = await text(page, ".panel .facts dd");
    await page.focus("input[type=range]");
    for (let i = 0; i < 4; i++) await page.keyboard.press("ArrowLeft");
    await page.waitForFunction(
      (old) => {
        const now = document.querySelector(".panel .facts dd")?.textContent;
        return now && now !== old;
      },
      { timeout: 60_000 },
      before,
    );
    expect(await violations(page, dashboard.name)).toEqual([]);
    await page.type("input[pattern]", `made-in-${dashboard.name}`);
    await press(page, "form button", "Create");
    await press(page, "dialog button", "Create");
    await page.waitForFunction(() => location.hash.includes("/operator/c/made-in"));
    const made = (await dashboard.api<{ name: string; epsilon: string }[]>("/v1/campaigns")).find(
      (one) => one.name === `made-in-${dashboard.name}`,
    );
    expect(made?.epsilon).toBe("1");
    expect(dashboard.problems).toEqual([]);
    await page.waitForSelector("details:last-of-type summary");
    await page.evaluate(() => {
      for (const one of document.querySelectorAll("details")) one.open = true;
    });
    await press(page, "form button", "Create tokens");
    await page.waitForSelector("textarea");
    expect(await page.$eval("textarea", (area) => area.value)).toMatch(/^[0-9a-f]{64}$/);
    await press(page, "form button", "Show the invitation");
    await page.waitForSelector(".qr-code");
    const link = await page.$eval("textarea[aria-label=Link]", (area) => area.value);
    expect(readInvitation(link)).toMatchObject({
      collector: dashboard.collector.url,
      key: dashboard.collector.key,
      name: `made-in-${dashboard.name}`,
    });
    const file = await page.$eval("a[download$='.json']", (a) => decodeURIComponent(a.href.split(",").slice(1).join()));
    expect(readInvitation(file)).toEqual(readInvitation(link));
    expect(await page.$eval(".qr-code", (image) => (image as HTMLImageElement).naturalWidth)).toBeGreaterThan(200);
    await page.setViewport({ width: 390, height: 800 });
    expect(await overflow(page)).toBeLessThanOrEqual(0);
    expect(await violations(page, dashboard.name)).toEqual([]);
    await page.close();
  });
}
