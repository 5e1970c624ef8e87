/** HTTP servers on this machine of which a test chooses every response, byte by byte if it likes. */
import http from "node:http";
import type { AddressInfo } from "node:net";

/** A request as it arrived. */
export interface Request {
  method: string;
  /** The whole address, with its host. */
  url: URL;
  /** By their names in lower case. */
  headers: http.IncomingHttpHeaders;
  body: string;
}

/** A response to send. A body in pieces is sent piece by piece; one that throws is cut off. */
export interface Answer {
  status?: number;
  headers?: Record<string, string>;
  body?: string | Uint8Array | AsyncIterable<string | Uint8Array>;
}

/** Chooses the response; null closes the connection without one. */
export type Respond = (request: Request) => Answer | null | Promise<Answer | null>;

/** JSON as a response. */
export function json(value: unknown, status = 200): Answer {
  return { status, headers: { "Content-Type": "application/json" }, body: JSON.stringify(value) };
}

/** A listener that passes every request to `respond`. */
export function listener(respond: Respond, scheme = "http"): http.RequestListener {
  return async (incoming, outgoing) => {
    try {
      const answer = await respond(await received(incoming, scheme));
      if (answer === null) outgoing.destroy();
      else await send(outgoing, answer);
    } catch {
      outgoing.destroy(); // the body was cut off, on purpose or because the client hung up
    }
  };
}

/** Serve on a free port of 127.0.0.1 until `close`. */
export async function serve(respond: Respond): Promise<{ url: string; close: () => Promise<void> }> {
  const server = http.createServer(listener(respond));
  return { url: `http://127.0.0.1:${await listen(server)}`, close: () => stop(server) };
}

/** Listen on a free port. */
export async function listen(server: http.Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return (server.address() as AddressInfo).port;
}

/** Close a server with all its connections. */
export async function stop(server: http.Server): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeAllConnections();
  await closed;
}

async function received(incoming: http.IncomingMessage, scheme: string): Promise<Request> {
  const pieces: Buffer[] = [];
  for await (const piece of incoming) pieces.push(piece);
  const url = new URL(incoming.url ?? "/", `${scheme}://${incoming.headers.host}`);
  return { method: incoming.method ?? "", url, headers: incoming.headers, body: Buffer.concat(pieces).toString() };
}

async function send(outgoing: http.ServerResponse, answer: Answer): Promise<void> {
  const { body = "" } = answer;
  outgoing.writeHead(answer.status ?? 200, answer.headers);
  if (typeof body === "string" || body instanceof Uint8Array) {
    outgoing.end(body);
    return;
  }
  for await (const piece of body) {
    if (outgoing.destroyed) return;
    outgoing.write(piece);
  }
  outgoing.end();
}
