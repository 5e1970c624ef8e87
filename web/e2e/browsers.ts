/** Debian's own Chromium and Firefox, headless, with a profile that survives being killed. */
import { execFileSync } from "node:child_process";
import puppeteer, { type Browser, type LaunchOptions, type Page } from "puppeteer-core";
import type { Network } from "./network.ts";

export type Name = "chromium" | "firefox";

/** Which browsers to test: both, unless the environment names one. */
export const BROWSERS: Name[] = process.env.BLENDER_DP_BROWSER
  ? [process.env.BLENDER_DP_BROWSER as Name]
  : ["chromium", "firefox"];

export interface Options {
  network: Network;
  /** The folder of the profile, to start the same browser again. */
  profile: string;
  /** The folder of an unpacked extension to install. */
  extension?: string;
  /** Hosts, as a match pattern, that the user permits when the extension asks. */
  permitted?: string;
  /** Whether the user has permitted them already: Chromium forgets it, because tests install the extension anew. */
  granted?: boolean;
  /** Whether pages see a dark theme. */
  dark?: boolean;
}

/** A running browser; pages are puppeteer's. */
export interface Running {
  browser: Browser;
  /** Open a page; one of the extension starts with a slash. */
  page(url: string): Promise<Page>;
  /** End all its processes at once, as a power failure would. */
  kill(): Promise<void>;
  close(): Promise<void>;
}

// The address of an extension's pages is chosen at random in Firefox, unless the profile has it already.
const FIREFOX_UUID = "3f1c6a52-9f0b-4c6e-8d6b-0f5f3a9d7c11";
/** The id of the extension under test in Firefox; its manifest must have it. */
export const FIREFOX_ID = "blender-dp@example.org";

/** Evaluate an expression in Firefox's own window, which can do everything that its user and the browser itself can do. */
export async function inFirefox(browser: Browser, expression: string): Promise<unknown> {
  const { connection } = browser as unknown as { connection: { send(method: string, parameters: object): Promise<Reply> } };
  const { result: tree } = await connection.send("browsingContext.getTree", { "moz:scope": "chrome" });
  const target = { context: tree.contexts?.[0]?.context };
  const { result } = await connection.send("script.evaluate", { expression, target, awaitPromise: true });
  if (result.type !== "success") throw new Error(JSON.stringify(result));
  return result.result?.value;
}

interface Reply {
  result: { contexts?: { context: string }[]; type?: string; result?: { value?: unknown } };
}

/** Start a browser whose only network is this one. */
export async function start(name: Name, options: Options): Promise<Running> {
  const browser = await puppeteer.launch(name === "chromium" ? chromium(options) : firefox(options));
  const id = options.extension ? await browser.installExtension(options.extension) : "";
  if (name === "chromium" && options.permitted) await permit(browser, id, options.permitted, options.granted);
  const own = name === "chromium" ? `chrome-extension://${id}` : `moz-extension://${FIREFOX_UUID}`;
  const page = (url: string) => open(browser, url.startsWith("/") ? own + url : url);
  return { browser, page, kill: () => kill(browser), close: () => browser.close() };
}

/** Answer the question for a permission in advance: no driver can click on it. */
async function permit(browser: Browser, id: string, pattern: string, granted = false): Promise<void> {
  const page = await browser.newPage();
  await page.goto("chrome://extensions/strings.m.js"); // it may do what the page of extensions may, without showing it
  await page.evaluate(`chrome.developerPrivate.addHostPermission("${id}", "${pattern}")`);
  if (granted) {
    await page.goto(`chrome-extension://${id}/manifest.json`);
    await page.evaluate(`chrome.permissions.request({ origins: ["${pattern}"] })`);
  }
  await page.close();
}

async function open(browser: Browser, url: string): Promise<Page> {
  const page = await browser.newPage();
  if (!url.startsWith("moz-extension:")) {
    await page.goto(url);
    return page;
  }
  // Firefox opens its extension's page in another process, and never says that it has arrived there.
  page.goto(url, { timeout: 1 }).catch(() => {});
  while ((await page.evaluate("location.href + document.readyState").catch(() => "")) !== `${url}complete`) await pause();
  return page;
}

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 20));
}

function chromium({ network, profile, extension, dark }: Options): LaunchOptions {
  const quiet = ["--disable-component-update", "--disable-domain-reliability", "--no-pings", "--disable-quic"];
  const proxy = [`--proxy-server=http://127.0.0.1:${network.port}`, "--proxy-bypass-list=<-loopback>"];
  return {
    browser: "chrome",
    executablePath: found("chromium", "chromium-browser", "google-chrome"),
    userDataDir: profile,
    pipe: true,
    acceptInsecureCerts: true,
    enableExtensions: extension !== undefined,
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--ignore-certificate-errors",
      `--blink-settings=preferredColorScheme=${dark ? 0 : 1}`,
      ...quiet,
      ...proxy,
    ],
  };
}

function firefox({ network, profile, permitted, dark }: Options): LaunchOptions {
  const proxy = { type: 1, http: "127.0.0.1", http_port: network.port, ssl: "127.0.0.1", ssl_port: network.port };
  const settings = { ...proxy, no_proxies_on: "", allow_hijacking_localhost: true, failover_direct: false };
  const named = Object.fromEntries(Object.entries(settings).map(([key, value]) => [`network.proxy.${key}`, value]));
  return {
    browser: "firefox",
    args: ["--remote-allow-system-access"], // for pages of the extension
    executablePath: found("firefox-esr", "firefox"),
    userDataDir: profile,
    acceptInsecureCerts: true,
    extraPrefsFirefox: {
      ...named,
      "layout.css.prefers-color-scheme.content-override": dark ? 0 : 1,
      "network.captive-portal-service.enabled": false,
      "network.connectivity-service.enabled": false,
      "extensions.webextOptionalPermissionPrompts": permitted === undefined,
      "extensions.webextensions.uuids": JSON.stringify({ [FIREFOX_ID]: FIREFOX_UUID }),
      "extensions.webextensions.keepStorageOnUninstall": true,
      "extensions.webextensions.keepUuidOnUninstall": true,
    },
  };
}

/** The path of the first of these programs that is installed. */
function found(...names: string[]): string {
  for (const name of names) {
    try {
      return execFileSync("/bin/sh", ["-c", `command -v ${name}`])
        .toString()
        .trim();
    } catch {}
  }
  throw new Error(`${names[0]} is not installed: apt-get install chromium firefox-esr`);
}

async function kill(browser: Browser): Promise<void> {
  const process = browser.process();
  if (!process?.pid) return;
  const ended = new Promise((resolve) => process.once("exit", resolve));
  for (const pid of [...descendants(process.pid), process.pid]) {
    try {
      globalThis.process.kill(pid, "SIGKILL");
    } catch {} // it has ended already
  }
  await ended;
}

function descendants(pid: number): number[] {
  const table = execFileSync("ps", ["-e", "-o", "pid=,ppid="]).toString().trim().split("\n");
  const pairs = table.map((line) => line.trim().split(/\s+/).map(Number) as [number, number]);
  const below = (parent: number): number[] =>
    pairs.filter(([, of]) => of === parent).flatMap(([child]) => [child, ...below(child)]);
  return below(pid);
}
