/** The drivers themselves: a browser with an extension, and all its traffic. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { BROWSERS, FIREFOX_ID, start } from "./browsers.ts";
import { Network } from "./network.ts";

const SCRIPT = `import { CollectorClient } from "${fileURLToPath(new URL("../client/src/agent/collector.ts", import.meta.url))}";
chrome.runtime.onMessage.addListener((message) => {
  new CollectorClient("https://collector.example").post("/" + message, "{}").catch(() => {});
});`;
const FILES = {
  "manifest.json": JSON.stringify({
    manifest_version: 3,
    name: "test",
    version: "1",
    background: { service_worker: "background.js", scripts: ["background.js"] },
    permissions: ["storage"],
    host_permissions: ["https://collector.example/*"],
    content_scripts: [{ matches: ["https://search.example/*"], js: ["content.js"] }],
    browser_specific_settings: { gecko: { id: FIREFOX_ID } },
  }),
  "content.js": "(globalThis.browser ?? chrome).runtime.sendMessage(document.title);",
  "page.html": "<title>page</title>",
};

let folder: string;
let network: Network;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "blender-dp-e2e-"));
  mkdirSync(join(folder, "extension"));
  for (const [name, text] of Object.entries(FILES)) writeFileSync(join(folder, "extension", name), text);
  const script = { contents: SCRIPT, resolveDir: folder };
  await build({ stdin: script, bundle: true, format: "esm", outfile: join(folder, "extension", "background.js") });
  network = await Network.start();
  network.add("search.example", () => ({ headers: { "Content-Type": "text/html" }, body: "<title>found</title>" }));
  network.add("collector.example", () => ({ body: "{}" }));
});

afterEach(async () => {
  await network.close();
  rmSync(folder, { recursive: true, force: true });
});

describe.each(BROWSERS)("%s", (name) => {
  test("an extension's requests are recorded, reveal nothing about its installation, and fail offline", async () => {
    const options = { network, profile: join(folder, "profile"), extension: join(folder, "extension"), dark: true };
    const running = await start(name, options);
    await running.page("https://search.example/?q=a");
    await expect.poll(() => network.to("collector.example")).toEqual(["POST /found"]);
    const { origin = "" } = network.requests.find((one) => one.url.host === "collector.example")?.headers ?? {};
    expect(origin).toMatch(/^(null|chrome-extension:.*)$/);

    const page = await running.page("/page.html");
    expect(await page.evaluate(() => matchMedia("(prefers-color-scheme: dark)").matches)).toBe(true);
    const fetched = () =>
      fetch("https://collector.example/").then(
        (response) => response.ok,
        () => "offline",
      );
    network.offline = true;
    expect(await page.evaluate(fetched)).toBe("offline");
    network.offline = false;
    expect(await page.evaluate(fetched)).toBe(true);
    await running.close();
    expect(network.to("collector.example")).toEqual(["POST /found", "GET /"]);
  });
});
