/** The vectors of the specification, replayed by the client in real browsers. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { expect, test } from "vitest";
import type { Outcome } from "../client/tests/vectors/replay.ts";
import { BROWSERS, start } from "./browsers.ts";
import { Network } from "./network.ts";

const VECTORS = fileURLToPath(new URL("../../spec/vectors/", import.meta.url));
const REPLAY = fileURLToPath(new URL("../client/tests/vectors/replay.ts", import.meta.url));

test.each(BROWSERS)("%s", async (name) => {
  const [folder, network] = [mkdtempSync(join(tmpdir(), "blender-dp-vectors-")), await Network.start()];
  network.add("vectors.example", () => ({
    headers: { "Content-Type": "text/html; charset=utf-8" },
    body: "<!doctype html>",
  }));
  const running = await start(name, { network, profile: folder });
  try {
    const page = await running.page("https://vectors.example/");
    await page.evaluate(await script());
    const outcome = (await page.evaluate("outcome")) as Outcome;
    expect(outcome.differences).toEqual([]);
    expect(outcome.count).toBeGreaterThan(2_000);
  } finally {
    await running.close();
    await network.close();
    rmSync(folder, { recursive: true, force: true });
  }
});

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
