/** What is shipped: its permissions, its policy, and that builds for tests differ from it in three numbers only. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { FAST } from "../../e2e/extension.ts";
import { bundle } from "../scripts/bundle.js";

const BROWSERS = ["chromium", "firefox"] as const;
const folder = mkdtempSync(join(tmpdir(), "blender-dp-build-"));

beforeAll(async () => {
  for (const browser of BROWSERS) {
    await bundle(browser, join(folder, browser));
    await bundle(browser, join(folder, `${browser}-fast`), [FAST]);
  }
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

function files(name: string): Map<string, string> {
  const root = join(folder, name);
  const names = readdirSync(root, { recursive: true }).map(String).toSorted();
  return new Map(
    names.filter((one) => statSync(join(root, one)).isFile()).map((one) => [one, readFileSync(join(root, one), "latin1")]),
  );
}

describe.each(BROWSERS)("%s", (browser) => {
  test("asks for no host at installation, and for nothing else that it does not need", () => {
    const manifest = JSON.parse(files(browser).get("manifest.json") ?? "");
    expect(manifest.permissions).toEqual(["alarms", "unlimitedStorage"]);
    for (const key of ["host_permissions", "externally_connectable", "web_accessible_resources", "optional_permissions"]) {
      expect(manifest).not.toHaveProperty(key);
    }
    expect(manifest.incognito).toBe("not_allowed");
    expect(manifest.content_scripts).toHaveLength(1);
    for (const pattern of manifest.content_scripts[0].matches) expect(pattern).toMatch(/^https:\/\/[a-z0-9.-]+\/[a-z*]*$/);
  });

  test("runs only its own code", () => {
    const all = files(browser);
    const policy: string = JSON.parse(all.get("manifest.json") ?? "").content_security_policy.extension_pages;
    expect(policy).toMatch(/^default-src 'none'; script-src 'self';/);
    expect(policy).not.toMatch(/unsafe| \*|data:|blob:/);
    for (const [name, text] of all) {
      if (name.endsWith(".js"))
        expect([name, /\beval\(|new Function\(|\bimport\(|importScripts|innerHTML/.exec(text)]).toEqual([name, null]);
      if (name.endsWith(".html"))
        expect([name, /(src|href)="(https?:)?\/\/|<script>|\son\w+=|style=/.exec(text)]).toEqual([name, null]);
    }
  });

  test("differs from the build for tests in three numbers only", () => {
    const [shipped, fast] = [files(browser), files(`${browser}-fast`)];
    expect([...fast.keys()]).toEqual([...shipped.keys()]);
    const differing = [...shipped].filter(([name, text]) => fast.get(name) !== text).map(([name]) => name);
    expect(differing).toEqual(["background.js"]);
    const [left, right] = [shipped, fast].map((one) => (one.get("background.js") ?? "").split("\n"));
    const timing = /^(var (PERIOD|ROUND|CHOICE)_SECONDS = |\/\/ src\/background\/timing\.ts)/;
    expect(left?.filter((line) => !timing.test(line))).toEqual(right?.filter((line) => !timing.test(line)));
    expect(left?.filter((line) => /^var (PERIOD|ROUND|CHOICE)_/.test(line))).toEqual([
      "var PERIOD_SECONDS = 6 * 3600;",
      "var ROUND_SECONDS = 86400;",
      "var CHOICE_SECONDS = 1;",
    ]);
  });
});
