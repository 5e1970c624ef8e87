/**
 * All that a browser has of the Internet: a proxy that records every request, of pages, workers and the browser itself.
 *
 * Servers on this machine are reached through it. Other hosts exist only if a test adds them, with http and https, so
 * that pages can have their real addresses; everything else is refused, and recorded.
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import http from "node:http";
import https from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Duplex } from "node:stream";
import { type Answer, listen, listener, type Request, type Respond, stop } from "./server.ts";

export class Network {
  /** Every request of the browser, in order; `CONNECT` stands for an encrypted connection that was refused. */
  readonly requests: Request[] = [];
  /** While true, nothing gets through, and nothing is recorded. */
  offline = false;
  port = 0;
  readonly #hosts = new Map<string, Respond>();
  readonly #proxy = http.createServer(listener((request) => this.#respond(request)));
  readonly #secure = https.createServer(
    certificate(),
    listener((request) => this.#respond(request), "https"),
  );

  /** Start the proxy. */
  static async start(): Promise<Network> {
    const network = new Network();
    network.#proxy.on("connect", (request, socket) => network.#connect(request, socket));
    network.port = await listen(network.#proxy);
    return network;
  }

  /** Let a host exist; `*.example` are all hosts with this ending that have not been added themselves. */
  add(host: string, respond: Respond): void {
    this.#hosts.set(host, respond);
  }

  /** The requests to this server or host, in order, as "METHOD path". */
  to(server: string): string[] {
    const host = server.includes("://") ? new URL(server).host : server;
    return this.requests.filter((one) => one.url.host === host).map((one) => `${one.method} ${one.url.pathname}`);
  }

  /** Stop the proxy. */
  async close(): Promise<void> {
    await stop(this.#proxy);
    await stop(this.#secure);
  }

  async #respond(request: Request): Promise<Answer | null> {
    if (this.offline) return null;
    this.requests.push(request);
    const respond = this.#respondOf(request.url.hostname);
    if (respond) return respond(request);
    return isLocal(request.url.hostname) ? forward(request) : { status: 502 };
  }

  #respondOf(host: string): Respond | undefined {
    return this.#hosts.get(host) ?? this.#hosts.get(`*${host.slice(host.lastIndexOf("."))}`);
  }

  #connect(request: http.IncomingMessage, socket: Duplex): void {
    const url = new URL(`https://${request.url}`);
    socket.on("error", () => {});
    if (this.offline || !this.#respondOf(url.hostname)) {
      if (!this.offline) this.requests.push({ method: "CONNECT", url, headers: request.headers, body: "" });
      socket.destroy();
      return;
    }
    socket.write("HTTP/1.1 200 Connected\r\n\r\n");
    this.#secure.emit("connection", socket);
  }
}

function isLocal(host: string): boolean {
  return host === "127.0.0.1" || host === "localhost";
}

/** Pass a request on, and its response back, piece by piece. */
export function forward(request: Request): Promise<Answer | null> {
  const { "proxy-connection": _, ...headers } = request.headers;
  const options = { method: request.method, headers, agent: false as const };
  return new Promise((resolve) => {
    const onward = http.request(request.url, options, (response) => {
      const kept = Object.entries(response.headers).filter(
        ([name]) => name !== "transfer-encoding" && name !== "connection",
      );
      const fields = Object.fromEntries(kept.map(([name, value]) => [name, String(value)]));
      resolve({ status: response.statusCode ?? 502, headers: fields, body: response });
    });
    onward.on("error", () => resolve(null));
    onward.end(request.body);
  });
}

/** A certificate for all hosts, which test browsers are told to accept. */
function certificate(): { key: Buffer; cert: Buffer } {
  const folder = mkdtempSync(join(tmpdir(), "blender-dp-tls-"));
  const [key, cert] = [join(folder, "key.pem"), join(folder, "cert.pem")];
  const curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"];
  const options = ["-x509", "-nodes", ...curve, "-days", "2", "-subj", "/CN=test", "-keyout", key, "-out", cert];
  execFileSync("openssl", ["req", ...options], { stdio: "ignore" });
  const made = { key: readFileSync(key), cert: readFileSync(cert) };
  rmSync(folder, { recursive: true });
  return made;
}
