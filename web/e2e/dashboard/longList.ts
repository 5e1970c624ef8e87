/** A release of so many queries that a page shows a hundredth of them, and trends half. */
import { expect, test } from "vitest";
import type { Dashboard } from "./dashboard.ts";
import { press, ready } from "./pages.ts";

const LENGTH = 2_000;

export function longList(dashboard: Dashboard): void {
  test("a list of 2,000 queries is shown page by page, and any of them can be searched for", async () => {
    const { collector } = dashboard;
    const long = await collector.listed(await collector.campaign({ name: "long" }));
    await collector.others(long, 300);
    await collector.close(long.id);
    const names = await collector.call<string[]>("lengthened", [long.id, LENGTH]);
    const page = await dashboard.opened("#/c/long");
    const first = (selector: string) => page.$eval(selector, (element) => element.textContent);
    const turn = async (label: string, place: number) => {
      await press(page, ".pages button", label);
      await page.waitForFunction(
        (query) => document.querySelector(".intervals tbody th")?.textContent === query,
        {},
        names[place],
      );
    };
    expect(await first(".pages span")).toMatch(/^1 to 20 of 2.000 queries$/);
    expect(await page.$$eval(".intervals tbody th", (all) => all.map((one) => one.textContent))).toEqual(names.slice(0, 20));
    await turn("Next", 20);
    await turn("Last", LENGTH - 20);
    await turn("Previous", LENGTH - 40);
    await turn("First", 0);
    expect(await page.$$eval("*", (all) => all.length)).toBeLessThan(1500); // as fast as a short list
    await page.type("#search", "query 19");
    await page.waitForSelector(".suggestions a");
    expect(await first("#search-note")).toBe("The 8 most popular matches.");
    await page.type("#search", "76");
    await page.waitForFunction(() => document.querySelectorAll(".suggestions a").length === 1);
    await page.click(".suggestions a");
    await page.waitForSelector("h2.query");
    await ready(page);
    expect(await first("h2.query")).toBe("query 1976");
    expect(await first("main")).toContain("the 1,000 most popular queries");
    await page.close();
    expect(dashboard.problems).toEqual([]);
  });
}
