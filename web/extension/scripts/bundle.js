// Bundles the extension for one browser into a folder; readable, because stores and users review what is shipped.
import { cp, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { manifest } from "./manifest.js";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const PAGES = `${ROOT}src/pages`;
const ASSET = /\.(html|css|png|svg)$/;

/** @type {import("esbuild").BuildOptions} */
const COMMON = {
  absWorkingDir: ROOT,
  bundle: true,
  target: "es2022",
  conditions: ["source"],
  charset: "utf8",
  logLevel: "warning",
};

/**
 * Build the extension. Plugins are for tests, which replace one module.
 * @param {"chromium" | "firefox"} browser
 * @param {string} folder
 * @param {import("esbuild").Plugin[]} [plugins]
 */
export async function bundle(browser, folder, plugins = []) {
  const { version } = JSON.parse(await readFile(`${ROOT}package.json`, "utf8"));
  const assets = (await readdir(PAGES, { recursive: true })).filter((name) => ASSET.test(name));
  const scripts = assets.filter((name) => name.endsWith(".html")).map((name) => `${PAGES}/${name.replace(/html$/, "ts")}`);
  const modules = [`${ROOT}src/background/background.ts`, ...scripts];
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  const common = { ...COMMON, plugins };
  await build({ ...common, entryPoints: modules, outdir: folder, entryNames: "[name]", format: "esm" });
  await build({ ...common, entryPoints: [`${ROOT}src/content/index.ts`], outfile: `${folder}/content.js`, format: "iife" });
  for (const name of assets) await cp(`${PAGES}/${name}`, `${folder}/${name}`);
  for (const name of ["_locales", "icons"]) await cp(`${ROOT}${name}`, `${folder}/${name}`, { recursive: true });
  await writeFile(`${folder}/manifest.json`, `${JSON.stringify(manifest(browser, version, await matches()), null, 2)}\n`);
}

/** The match patterns of the table of search engines, which is TypeScript. */
async function matches() {
  const options = { ...COMMON, entryPoints: [`${ROOT}src/content/engines.ts`], format: /** @type {const} */ ("esm") };
  const { outputFiles } = await build({ ...options, write: false });
  const { matchPatterns } = await import(`data:text/javascript,${encodeURIComponent(outputFiles[0]?.text ?? "")}`);
  return matchPatterns();
}
