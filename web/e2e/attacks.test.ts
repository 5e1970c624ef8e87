/** Attacks on the extension: by published results, by the pages of a search engine, and by other websites. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { BROWSERS } from "./browsers.ts";
import { Device, ENGINE, invitation } from "./extension.ts";
import { CAMPAIGN, FakeCollector } from "./fakeCollector.ts";

const MARKUP = `<img src=x onerror="document.title='attacked'"><script>document.title='attacked'</script>`;
const HOSTILE = [
  { query: `markup ${MARKUP}`, share: 0.5, urls: [["https://a.example/", 0.5]] },
  { query: "markup script", share: 0.4, urls: [["javascript:document.title='attacked'", 0.5]] },
  {
    query: "markup both",
    share: 0.3,
    urls: [
      ["data:text/html,x", 0.5],
      [`https://b.example/${MARKUP}`, 0.5],
    ],
  },
];

let fake: FakeCollector;
let device: Device;

beforeEach(async () => {
  fake = await FakeCollector.start();
  fake.publishBundle(1, { queries: HOSTILE });
});

afterEach(async () => {
  await device.remove();
  await fake.close();
});

/** In a results page: everything that a script there can try. */
async function attack(): Promise<void> {
  const messages = [{ type: "leave" }, { type: "deleteEverything" }, { type: "searched", query: "forged" }];
  const { runtime } =
    (globalThis as { chrome?: { runtime?: { sendMessage?: (...values: unknown[]) => void } } }).chrome ?? {};
  for (const message of messages) {
    window.postMessage(message, "*");
    document.dispatchEvent(new CustomEvent("message", { detail: message }));
    try {
      runtime?.sendMessage?.(message);
    } catch {} // as it should be
  }
  for (let i = 0; i < 300; i++) {
    history.pushState(null, "", `/search?q=flood+${i}`);
    for (const type of ["pointermove", "keydown", "click"]) {
      document.querySelector("a.result")?.dispatchEvent(new MouseEvent(type, { bubbles: true, cancelable: true }));
    }
  }
}

describe.each(BROWSERS)("%s", (name) => {
  test("neither results nor pages can run code, forge messages or invent searches", async () => {
    device = await Device.install(name);
    await device.join(invitation(fake, CAMPAIGN));
    await expect.poll(async () => (await device.status()).bundle).toEqual({ queries: 3 });

    // What is published is shown as text, and only web addresses become links.
    const popup = await device.open("/popup.html");
    await popup.waitForSelector("#search");
    await popup.type("#search", "markup");
    await popup.waitForFunction(() => document.querySelectorAll(".results li").length === 3);
    const shown = await popup.evaluate(() => ({
      title: document.title,
      elements: document.querySelectorAll(".results img, .results script").length,
      links: [...document.querySelectorAll<HTMLAnchorElement>(".results a")].map(({ protocol }) => protocol),
      text: document.querySelector(".results .query")?.textContent,
    }));
    expect(shown).toEqual({
      title: expect.not.stringContaining("attacked"),
      elements: 0,
      links: ["https:", "https:"],
      text: HOSTILE[0]?.query,
    });

    // A script in a results page is not heard.
    const page = await device.open(`https://${ENGINE}/search?q=mine`);
    await page.evaluate(attack);
    expect(await device.status()).toMatchObject({ left: false, consent: "client", stored: 0, bundle: { queries: 3 } });

    // A private window is ignored.
    await device.searchPrivately("secret");
    expect(device.network.requests.map(({ url }) => url.searchParams.get("q"))).toContain("secret");
    expect((await device.status()).stored).toBe(0);
    await device.search("mine");
    await expect.poll(async () => (await device.status()).stored).toBe(1);
  });
});
