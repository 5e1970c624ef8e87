// Makes the mistakes of mutations.json (by file: what is written there, and what to write instead) one at a time, and lists
// those that the vectors do not detect. `npm run mutants records/` chooses some files.
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

/** @typedef {string[]} Mutation */

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const AT_ONCE = 2;
const MUTATIONS = JSON.parse(readFileSync(`${ROOT}scripts/mutations.json`, "utf8"));
const folder = mkdtempSync(join(ROOT, "dist-mutants-")); // inside the workspace: it imports fake-indexeddb

/**
 * Bundle the replay with one change, or none, and return the file.
 * @param {number} number
 * @param {Mutation} mutation
 */
async function bundled(number, [file = "", from = "", to = ""]) {
  const outfile = join(folder, `${number}.mjs`);
  await build({
    entryPoints: [`${ROOT}tests/vectors/inNode.ts`],
    outfile,
    bundle: true,
    format: "esm",
    platform: "node",
    packages: "external",
    logLevel: "error",
    plugins: [
      {
        name: "mutation",
        setup: ({ onLoad }) =>
          onLoad({ filter: /client\/src\/.*\.ts$/ }, ({ path }) => {
            const contents = readFileSync(path, "utf8");
            if (path !== `${ROOT}src/${file}`) return { contents, loader: "ts" };
            return { contents: contents.replace(from, () => to), loader: "ts" };
          }),
      },
    ],
  });
  return outfile;
}

/**
 * Whether the replay detects the change: it ends with differences, with an error, or not at all.
 * @param {number} number
 * @param {Mutation} mutation
 * @returns {Promise<boolean>}
 */
async function isDetected(number, mutation) {
  const options = { cwd: ROOT, timeout: 60_000, stdio: /** @type {"ignore"} */ ("ignore") };
  const child = spawn(process.execPath, [await bundled(number, mutation)], options);
  return new Promise((resolve) => child.once("exit", (code) => resolve(code !== 0)));
}

/** @type {Mutation[]} */
const chosen = Object.keys(MUTATIONS)
  .filter((file) => file.startsWith(process.argv[2] ?? ""))
  .flatMap((file) => MUTATIONS[file].map((/** @type {string[]} */ change) => [file, ...change]));
/** @type {Mutation[]} */
const undetected = [];

async function worker() {
  for (let next = queue.shift(); next; next = queue.shift()) {
    if (!(await isDetected(...next))) undetected.push(next[1]);
  }
}

const stale = chosen.filter(([file, from = ""]) => !readFileSync(`${ROOT}src/${file}`, "utf8").includes(from));
const queue = [...chosen.entries()].filter(([, mutation]) => !stale.includes(mutation));
try {
  if (await isDetected(-1, [])) throw new Error("The client fails the vectors without any mistake.");
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
} finally {
  rmSync(folder, { recursive: true, force: true });
}
for (const [file, from, to] of undetected) console.log(`not detected: ${file}\n  - ${from}\n  + ${to}`);
for (const [file, from] of stale) console.log(`no longer there: ${file}\n  - ${from}`);
console.log(`${chosen.length - undetected.length - stale.length} of ${chosen.length} mistakes are detected.`);
process.exitCode = undetected.length + stale.length ? 1 : 0;
