/** The vectors of the specification, replayed by the client in real browsers. */
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { expect, test } from "vitest";
import type { Outcome } from "../client/tests/vectors/replay.ts";
import { file } from "./page.ts";
import type { SharedBrowser } from "./sharedBrowser.ts";

const VECTORS = fileURLToPath(new URL("../../spec/vectors/", import.meta.url));
const REPLAY = fileURLToPath(new URL("../client/tests/vectors/replay.ts", import.meta.url));

export function vectors(browser: SharedBrowser): void {
  test("all vectors", async () => {
    browser.network.add("vectors.example", () => file("text/html", "<!doctype html>"));
    const page = await browser.running.page("https://vectors.example/");
    await page.evaluate(await script());
    const outcome = (await page.evaluate("outcome")) as Outcome;
    expect(outcome.differences).toEqual([]);
    expect(outcome.count).toBeGreaterThan(2_000);
    await page.close();
  });
}

/** One script with the replay and all vectors in it; it leaves its result in `outcome`. */
async function script(): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [REPLAY],
    bundle: true,
    write: false,
    format: "iife",
    globalName: "replays",
    target: "es2022",
  });
  const names = readdirSync(VECTORS);
  const files = names.map((file) => `${JSON.stringify(file)}: ${readFileSync(VECTORS + file, "utf8")}`);
  return `${outputFiles[0]?.text}; globalThis.outcome = replays.replay({${files.join(",")}}); 0`;
}
