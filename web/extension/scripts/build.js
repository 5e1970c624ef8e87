// Bundles the extension once for each browser.
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = fileURLToPath(new URL("..", import.meta.url));

for (const browser of ["chromium", "firefox"]) {
  await build({
    entryPoints: [`${root}src/background/background.ts`],
    outdir: `${root}dist/${browser}`,
    bundle: true,
    format: "esm",
    target: "es2022",
    conditions: ["source"],
    charset: "utf8",
    logLevel: "warning",
  });
}
