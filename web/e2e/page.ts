/** Pages of an application that uses the client, at https://app.example/. */
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import type { Network } from "./network.ts";

const SOURCE = fileURLToPath(new URL("../client/src/index.ts", import.meta.url));
export const APP = "https://app.example/";

/** Let the application exist: an empty page with the client as `client`, and the client's module for workers. */
export async function serveClient(network: Network): Promise<void> {
  const { outputFiles } = await build({
    entryPoints: [SOURCE],
    bundle: true,
    write: false,
    format: "esm",
    target: "es2022",
  });
  const module = outputFiles[0]?.text ?? "";
  const page = `<!doctype html><link rel="icon" href="data:,"><script type="module">
    import * as client from "/client.js"; Object.assign(globalThis, { client }); document.title = "ready";
  </script>`;
  network.add("app.example", ({ url }) =>
    url.pathname.endsWith(".js") ? { headers: { "Content-Type": "text/javascript" }, body: module } : html(page),
  );
}

function html(body: string) {
  return { headers: { "Content-Type": "text/html; charset=utf-8" }, body };
}
