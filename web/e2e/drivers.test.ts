/** The drivers themselves: a browser with an extension, its traffic, and its profile after it was killed. */
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
  test("runs an extension, records its traffic and keeps its storage when it is killed", async () => {
    const options = { network, profile: join(folder, "profile"), extension: join(folder, "extension"), dark: true };
    const first = await start(name, options);
    await first.page("https://search.example/?q=a");
    const page = await first.page("/page.html");
    await expect.poll(() => network.to("collector.example")).toEqual(["POST /found"]);
    const { origin = "" } = network.requests.find((one) => one.url.host === "collector.example")?.headers ?? {};
    expect(origin).toMatch(/^(null|chrome-extension:.*)$/); // nothing that identifies this installation
    expect(await page.evaluate(() => matchMedia("(prefers-color-scheme: dark)").matches)).toBe(true);
    await page.evaluate(() => chrome.storage.local.set({ kept: 1 }));
    await first.kill();

    const second = await start(name, { ...options, dark: false });
    const again = await second.page("/page.html");
    expect(await again.evaluate(() => chrome.storage.local.get())).toEqual({ kept: 1 });
    expect(await again.evaluate(() => matchMedia("(prefers-color-scheme: dark)").matches)).toBe(false);
    network.offline = true;
    const fetched = () =>
      fetch("https://collector.example/").then(
        (response) => response.ok,
        () => "offline",
      );
    expect(await again.evaluate(fetched)).toBe("offline");
    network.offline = false;
    expect(await again.evaluate(fetched)).toBe(true);
    await second.close();
    expect(network.to("collector.example")).toEqual(["POST /found", "GET /"]);
  });
});
