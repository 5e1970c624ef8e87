/** Pages of an application that uses the client. */
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import type { Network } from "./network.ts";
import type { Answer, Request } from "./server.ts";

const SOURCE = fileURLToPath(new URL("../client/src/index.ts", import.meta.url));
const PAGE = `<!doctype html><link rel="icon" href="data:,"><script type="module">
  import * as client from "/blender-dp.js"; Object.assign(globalThis, { client }); document.title = "ready";
</script>`;

export const APP = "https://app.example/";

/** Let the application exist at `APP`. */
export async function serveClient(network: Network): Promise<void> {
  network.add("app.example", await application());
}

/** Serves the client's module, and otherwise an empty page that has the client as `client`. */
export async function application(): Promise<(request: Request) => Answer> {
  const { outputFiles } = await build({
    entryPoints: [SOURCE],
    bundle: true,
    write: false,
    format: "esm",
    target: "es2022",
  });
  const module = outputFiles[0]?.text ?? "";
  return ({ url }) => (url.pathname.endsWith(".js") ? file("text/javascript", module) : file("text/html", PAGE));
}

/** A file of this type. */
export function file(type: string, body: string): Answer {
  return { headers: { "Content-Type": `${type}; charset=utf-8` }, body };
}
