// Bundles the dashboard into the Python package, which serves it. Names contain a digest, so browsers may cache them for ever.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = fileURLToPath(new URL("..", import.meta.url));
const target =
  process.argv[2] ?? fileURLToPath(new URL("../../../src/blender_dp/collector/http/dashboard", import.meta.url));

rmSync(target, { recursive: true, force: true });
mkdirSync(target, { recursive: true });
const { metafile } = await build({
  entryPoints: [`${root}src/app.tsx`],
  absWorkingDir: root,
  outdir: target,
  entryNames: "[name]-[hash]",
  bundle: true,
  minify: true,
  format: "esm",
  target: "es2022",
  jsx: "automatic",
  jsxImportSource: "preact",
  conditions: ["source"],
  charset: "utf8",
  legalComments: "none",
  metafile: true,
  logLevel: "warning",
});
const names = Object.keys(metafile.outputs).map((path) => basename(path));
const page = readFileSync(`${root}src/index.html`, "utf8")
  .replace("app.js", names.find((name) => name.endsWith(".js")) ?? "")
  .replace("app.css", names.find((name) => name.endsWith(".css")) ?? "");
writeFileSync(`${target}/index.html`, page);
