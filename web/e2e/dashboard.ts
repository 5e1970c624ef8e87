/** The dashboard of a real collector in a real browser: every page, every button, and what happens when something fails. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { BROWSERS } from "./browsers.ts";
import type { Collectors } from "./collector.ts";
import { crossSite } from "./dashboard/crossSite.ts";
import { Dashboard } from "./dashboard/dashboard.ts";
import { longList } from "./dashboard/longList.ts";
import { operators } from "./dashboard/operators.ts";
import { readers } from "./dashboard/readers.ts";
import { sessions } from "./dashboard/sessions.ts";
import type { SharedBrowser } from "./sharedBrowser.ts";

export function dashboard(browser: SharedBrowser, collectors: Collectors): void {
  const opened = new Dashboard(browser);
  beforeAll(() => opened.start(collectors));
  afterAll(() => opened.stop());

  readers(opened);
  if (browser.name === BROWSERS[0]) longList(opened); // it depends on the collector, and takes longer than other pages
  operators(opened);
  sessions(opened);
  describe("another site", () => crossSite(opened));

  test("no page asks anyone but the collector", async () => {
    const foreign = opened.requests.filter(
      (one) => one.url.host !== new URL(opened.collector.url).host && one.url.hostname !== "localhost",
    );
    expect(foreign.map((one) => one.url.host).filter((host) => !/mozilla|firefox|google|gvt1/.test(host))).toEqual([]); // the browser's own
  });
}
