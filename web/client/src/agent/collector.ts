/**
 * The collector as a device sees it: HTTP requests with bounded responses, and problems as short errors.
 *
 * Reports must not be linkable, so there are no cookies, no referrer and no cache. Nobody may eavesdrop, so a collector on
 * another machine needs TLS. Redirects are not followed.
 */

import {
  BlenderError,
  BusyError,
  DocumentError,
  NoResponseError,
  ParameterError,
  ResponseError,
  StateError,
} from "../errors.ts";

const SECONDS = 120;
const RESPONSE_BYTES = 256_000;
const DOCUMENT_BYTES = 8_000_000; // a list of 10,000 queries has about 1 MB, its bundle about 2; three times that with long URLs
const SHOWN_CHARACTERS = 400; // of a remote machine's text, in an error

// An extension is allowed to read its collector's responses. Firefox would otherwise send the id of its installation as
// `Origin`, which is different in every browser and never changes.
const MODE = /^[a-z-]+-extension:/.test(globalThis.location?.origin) ? "same-origin" : "cors";

const LOCAL = /^(localhost|127\.0\.0\.1)$/;
const FIXES: Record<number, string> = {
  401: "Pass a token",
  403: "Use another token",
  404: "Check the path and the id",
  409: "Check the current state",
};

/** Sends requests to one collector. A request and its response take at most `seconds`. */
export class CollectorClient {
  readonly #url: string;

  constructor(
    url: string,
    private readonly seconds = SECONDS,
  ) {
    this.#url = checkedUrl(url);
  }

  /** Request JSON. */
  async get(path: string): Promise<unknown> {
    return parsed(await this.#request(path, {}));
  }

  /** Request a signed document, as exact bytes. */
  async document(path: string): Promise<Uint8Array<ArrayBuffer>> {
    return await this.#request(path, {}, DOCUMENT_BYTES);
  }

  /** Send JSON as exactly these bytes. */
  async post(path: string, body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}): Promise<unknown> {
    const request = { method: "POST", body, headers: { "Content-Type": "application/json", ...headers } };
    return parsed(await this.#request(path, request));
  }

  /** Delete something. */
  async delete(path: string): Promise<void> {
    await this.#request(path, { method: "DELETE" });
  }

  async #request(path: string, request: RequestInit, maxBytes = RESPONSE_BYTES): Promise<Uint8Array<ArrayBuffer>> {
    const limit = new AbortController();
    const timer = setTimeout(() => limit.abort(), this.seconds * 1000);
    try {
      const response = await fetch(this.#url + path, {
        ...request,
        cache: "no-store",
        credentials: "omit",
        mode: MODE,
        redirect: "error",
        referrerPolicy: "no-referrer",
        signal: limit.signal,
      });
      const content = await body(response, response.ok ? maxBytes : RESPONSE_BYTES);
      if (!response.ok) throw refusal(response, content);
      return content;
    } catch (error) {
      if (error instanceof BlenderError) throw error;
      const reason = limit.signal.aborted ? "too slow" : "no connection";
      throw new NoResponseError("collector", `does not respond (${reason})`, "Check the URL, or try again", "missing");
    } finally {
      clearTimeout(timer);
      limit.abort(); // whatever of the response has not been read
    }
  }
}

/** The collector's address, if it is valid and nobody can eavesdrop. */
export function checkedUrl(text: string): string {
  // Neither ? nor # may occur.
  const url = /^https?:\/\/[!"$->@-~]+$/i.test(text) && URL.canParse(text) ? new URL(text) : null;
  if (!url || url.username || url.password) {
    throw new ParameterError("collector", "is not a valid URL", "Use its address, such as https://collector.example");
  }
  if (url.protocol !== "https:" && !LOCAL.test(url.hostname)) {
    throw new ParameterError("collector", "is not https", "Use https, or http to localhost or 127.0.0.1");
  }
  return url.href.replace(/\/+$/, "");
}

/** The whole body, unless it is longer than allowed. The browser decompresses it piece by piece. */
async function body(response: Response, maxBytes: number): Promise<Uint8Array<ArrayBuffer>> {
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  const reader = response.body?.getReader();
  let size = 0;
  for (let next = await reader?.read(); next && !next.done; next = await reader?.read()) {
    pieces.push(next.value);
    size += next.value.length;
    if (size > maxBytes) throw new StateError("collector", `sends more than ${maxBytes} bytes`, "Do not use it");
  }
  return new Uint8Array(await new Blob(pieces).arrayBuffer());
}

function parsed(body: Uint8Array): unknown {
  try {
    return JSON.parse(decoded(body));
  } catch {
    throw new DocumentError("response", "is not JSON", "It is not used");
  }
}

/** The error for a response that is not a success. */
function refusal({ status, statusText, headers }: Response, body: Uint8Array): ResponseError {
  let detail: unknown;
  try {
    detail = JSON.parse(decoded(body)).detail;
  } catch {} // not a problem document
  const problem = plain(`responds with ${status}: ${typeof detail === "string" ? detail.replace(/\.$/, "") : statusText}`);
  if (status === 429 || status === 503) {
    const wait = headers.get("Retry-After") ?? "";
    return new BusyError("collector", problem, "Try again later", status, /^\d{1,5}$/.test(wait) ? Number(wait) : 1);
  }
  const fix = FIXES[status] ?? (status < 500 ? "Fix the request" : "The collector's operator must look into it");
  const kind = status === 404 ? "missing" : status === 401 || status === 403 ? "forbidden" : "conflict";
  return new ResponseError("collector", problem, fix, status, kind);
}

function decoded(body: Uint8Array): string {
  return new TextDecoder("utf-8", { fatal: true }).decode(body);
}

/** A remote machine's text, short and plain enough for a page or a log. */
function plain(text: string): string {
  const shown = text.slice(0, SHOWN_CHARACTERS + 1).replace(/(?! )[\p{C}\p{Z}]/gu, " ");
  return shown.length <= SHOWN_CHARACTERS ? shown : `${shown.slice(0, SHOWN_CHARACTERS - 1)}…`;
}
