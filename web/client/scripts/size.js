// Fails if the built client is larger than its budget.
import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";

const BUDGET = 15_000;

const bundle = readFileSync(new URL("../dist/blender-dp.js", import.meta.url));
const size = gzipSync(bundle, { level: 9 }).length;
console.log(`client: ${size} bytes gzipped of ${BUDGET} (${bundle.length} bytes minified)`);
process.exitCode = size > BUDGET ? 1 : 0;
