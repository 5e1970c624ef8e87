/** The files that the Python package ships are those that this source builds. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const shipped = fileURLToPath(new URL("../../../src/blender_dp/collector/http/dashboard", import.meta.url));
const script = fileURLToPath(new URL("../scripts/build.js", import.meta.url));

test("the committed files are current (otherwise run `make web`)", () => {
  const folder = mkdtempSync(join(tmpdir(), "blender-dp-dashboard-"));
  execFileSync("node", [script, folder]);
  const files = (place: string) =>
    Object.fromEntries(readdirSync(place).map((name) => [name, readFileSync(join(place, name), "utf8")]));
  expect(files(shipped)).toEqual(files(folder));
  rmSync(folder, { recursive: true });
});
