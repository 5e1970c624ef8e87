/** Runs the Python side of a comparison. */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const VENV = `${ROOT}.venv/bin/python`;

/** Run a module of the Python tests and return what it prints. */
export function python(module: string, args: readonly string[], input = ""): string {
  const program = process.env.BLENDER_DP_PYTHON ?? (existsSync(VENV) ? VENV : "python3");
  const env = { ...process.env, PYTHONPATH: `${ROOT}src:${ROOT}device/src` };
  const done = spawnSync(program, ["-m", module, ...args], { cwd: ROOT, env, input, encoding: "utf8", maxBuffer: 2 ** 30 });
  if (done.status !== 0) throw new Error(`${module} failed: ${done.stderr}`);
  return done.stdout;
}
