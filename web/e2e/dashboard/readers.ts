/** What everyone may read: no errors, accessible, true, and nothing typed leaves the page. */
import { expect, test } from "vitest";
import type { Dashboard } from "./dashboard.ts";
import { overflow, ready, text, violations } from "./pages.ts";

const PAGES = ["#/", "#/c/searches", "#/c/searches/q/query%200", "#/c/searches/privacy", "#/c/searches/review", "#/ledger"];
const WIDTHS = [390, 1400, 768];

export function readers(dashboard: Dashboard): void {
  test.each(PAGES)("%s has no errors, is accessible and fits every width", async (hash) => {
    const page = await dashboard.opened(hash);
    for (const width of WIDTHS) {
      await page.setViewport({ width, height: 800 });
      expect(await overflow(page), `${width}`).toBeLessThanOrEqual(0);
      if (width === 390) expect(await violations(page, dashboard.name, ["light"]), "phone").toEqual([]);
    }
    expect(await violations(page, dashboard.name)).toEqual([]);
    await page.close();
    expect(dashboard.problems).toEqual([]);
  });

  test("shares are those of the API, and the signature was verified", async () => {
    const page = await dashboard.opened("#/c/searches");
    const { released } = await dashboard.api<{ released: { release: string } }>("/v1/rounds/current?campaign=searches");
    const rows = await dashboard.api<{ query: string; share: number }[]>(`/v1/releases/${released.release}/trends?n=20`);
    const shown = await page.$$eval(".intervals tbody tr", (all) =>
      all.map((row) => [row.cells[0]?.textContent, row.cells[1]?.firstChild?.textContent]),
    );
    const percent = await page.evaluate(
      (values) =>
        values.map((share) =>
          new Intl.NumberFormat([...navigator.languages], {
            style: "percent",
            minimumFractionDigits: 1,
            maximumFractionDigits: 1,
          }).format(share),
        ),
      rows.map((row) => row.share),
    );
    expect(shown).toEqual(rows.map((row, i) => [row.query, percent[i]]));
    expect(await text(page, ".verified")).toContain(dashboard.collector.key);
    await page.close();
  });

  test("the search box answers without sending what is typed", async () => {
    const page = await dashboard.opened("#/c/searches");
    const before = dashboard.network.requests.length;
    await page.type("#search", "Query 3");
    await page.waitForSelector(".suggestions a");
    expect(await text(page, ".suggestions")).toContain("query 3");
    await page.click(".suggestions a");
    await page.waitForSelector("h2.query");
    await ready(page);
    const sent = dashboard.network.requests.slice(before).map((one) => one.url.href);
    expect(sent.filter((url) => /query/i.test(url))).toEqual([]);
    await page.close();
  });
}
