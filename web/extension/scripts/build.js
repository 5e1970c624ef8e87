// Builds the extension for each browser, as it is shipped: dist/chromium and dist/firefox.
import { fileURLToPath } from "node:url";
import { bundle } from "./bundle.js";

for (const browser of /** @type {const} */ (["chromium", "firefox"])) {
  await bundle(browser, fileURLToPath(new URL(`../dist/${browser}`, import.meta.url)));
}
