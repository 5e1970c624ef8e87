/** What tests do with pages of the dashboard. */
import type { Page } from "puppeteer-core";
import { axe } from "../axe.ts";
import type { Name } from "../browsers.ts";

/** Wait until nothing loads any more. */
export async function ready(page: Page): Promise<void> {
  await page.waitForSelector("main");
  await page.waitForFunction(() => !document.body.textContent?.includes("Loading …"), { timeout: 60_000 });
}

/** The text of an element. */
export async function text(page: Page, selector: string): Promise<string> {
  return await page.$eval(selector, (element) => element.textContent ?? "");
}

/** Press the button with this label. */
export async function press(page: Page, selector: string, label: string): Promise<void> {
  await page.waitForFunction(
    (place, wanted) => [...document.querySelectorAll<HTMLElement>(place)].some((one) => one.textContent === wanted),
    {},
    selector,
    label,
  );
  await page.evaluate(
    (place, wanted) => [...document.querySelectorAll<HTMLElement>(place)].find((one) => one.textContent === wanted)?.click(),
    selector,
    label,
  );
}

/** What axe finds in these themes; Firefox has the theme that it was started with. */
export async function violations(page: Page, name: Name, themes = ["light", "dark"]): Promise<string[]> {
  const found: string[] = [];
  for (const theme of name === "chromium" ? themes : [null]) {
    if (theme) await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: theme }]);
    found.push(...(await axe(page)).map((violation) => `${theme} ${violation}`));
  }
  return found;
}

/** How many pixels of the page do not fit into its width. */
export function overflow(page: Page): Promise<number> {
  return page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
}
