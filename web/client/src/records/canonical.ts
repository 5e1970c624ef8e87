/**
 * The canonical form of queries and URLs: without it, one record would be counted as several.
 *
 * The form is versioned and pinned by `spec/vectors/canonical.json`. Devices, curator and readers must agree on it exactly.
 */

import { FOLDING } from "../generated/caseFolding.ts";
import { DEFAULT_PORTS, TRACKING_NAMES, TRACKING_PREFIXES, UNRESERVED } from "../generated/names.ts";
import { ESCAPE, INVISIBLE, NESTED, PARTS, SCHEME, WHITE_SPACE } from "../generated/patterns.ts";
import { NO_RECORD, type Record } from "./record.ts";

const FOLDED = new Map<string, string>();
for (const [first, count, to, end] of FOLDING) {
  for (let i = 0; i < count; i++) FOLDED.set(String.fromCharCode(first + i), String.fromCharCode(to + i) + end);
}

/**
 * Return the canonical record, or "no record" if the query or the URL is missing.
 *
 * With one level (single items) the query is the record, and the URL is ignored.
 */
export function canonicalRecord(query: string | null, url: string | null, levels = 2): Record {
  const record = { query: canonicalQuery(query ?? ""), url: levels === 1 ? null : canonicalUrl(url ?? "") };
  return record.query && record.url !== "" ? record : NO_RECORD;
}

/** Return the canonical form of a query: NFKC, case folded, invisible characters dropped, single spaces. */
export function canonicalQuery(text: string): string {
  return settled(queryStep, text);
}

/**
 * Return the canonical form of a URL.
 *
 * Scheme and host are in lower case (the default scheme is https); default port, fragment and tracking parameters are
 * dropped; escapes are in their shortest form; and an empty path is `/`.
 */
export function canonicalUrl(text: string): string {
  return settled(urlStep, text);
}

/** Apply a step until nothing changes: folding can undo NFKC, and dropping a joiner can let letters compose. */
function settled(step: (text: string) => string, text: string): string {
  for (let now = text; ; ) {
    const changed = step(now);
    if (changed === now) return now;
    now = changed;
  }
}

function queryStep(text: string): string {
  return caseFold(visible(text).normalize("NFKC")).normalize("NFKC").replace(WHITE_SPACE, " ").replace(/^ | $/g, "");
}

/** Full case folding, up to the NFKC that follows it. Where it differs from lower case, the table decides. */
function caseFold(text: string): string {
  return Array.from(text.toLowerCase(), (character) => FOLDED.get(character) ?? character).join("");
}

function urlStep(text: string): string {
  const tidy = visible(text).normalize("NFKC").replace(WHITE_SPACE, "");
  const parts = PARTS.exec(SCHEME.test(tidy) ? tidy : `https://${tidy.replace(/^\/+/, "")}`);
  if (!tidy || !parts) return tidy;
  const [, anyScheme = "", authority = "", path = "", query = ""] = parts;
  const scheme = anyScheme.toLowerCase();
  const parameters = shortestEscapes(
    query
      .split("&")
      .filter((parameter) => parameter && !isTracking(parameter))
      .join("&"),
  );
  const address = `${scheme}://${canonicalAuthority(authority, scheme)}${shortestEscapes(path) || "/"}`;
  return parameters ? `${address}?${parameters}` : address;
}

function isTracking(parameter: string): boolean {
  const name = (parameter.split("=", 1)[0] ?? "").toLowerCase();
  return TRACKING_NAMES.includes(name) || TRACKING_PREFIXES.some((prefix) => name.startsWith(prefix));
}

function canonicalAuthority(authority: string, scheme: string): string {
  const start = authority.lastIndexOf("@") + 1;
  return authority.slice(0, start) + settled((text) => hostStep(text, scheme), authority.slice(start));
}

function hostStep(hostPort: string, scheme: string): string {
  const [, anyHost = "", digits = ""] = /^(.*?)(?::([0-9]*))?$/s.exec(hostPort) ?? [];
  const [host, port] = [anyHost.toLowerCase().replace(/\.$/, ""), digits.replace(/^0+/, "")];
  return port === "" || port === DEFAULT_PORTS[scheme as keyof typeof DEFAULT_PORTS] ? host : `${host}:${port}`;
}

function shortestEscapes(text: string): string {
  return NESTED.test(text) ? shortestNested(text) : text.replace(ESCAPE, shortestEscape);
}

/**
 * The same for escapes whose digits are escaped, such as %3%34: a whole chain of them at once, from right to left.
 *
 * With one link per step, a long chain would take quadratic time. A new escape that ends with a letter, and so stands for
 * no digit, waits for the next step, because the letter may first be composed with a mark after it.
 */
function shortestNested(text: string): string {
  const rest: string[] = []; // from the end of the text
  const isNew: boolean[] = [];
  for (let i = text.length - 1; i >= 0; i--) {
    rest.push(text.charAt(i));
    isNew.push(false);
    const last = rest.slice(-3).reverse().join("");
    if (/^%[0-9a-f]{2}$/i.test(last) && (/\d$/.test(last) || !isNew.slice(-3).includes(true))) {
      const shortest = Array.from(last.replace(ESCAPE, shortestEscape)).reverse();
      rest.splice(-3, 3, ...shortest);
      isNew.splice(-3, 3, ...shortest.map(() => shortest.length === 1));
    }
  }
  return rest.reverse().join("");
}

function shortestEscape(written: string, digits: string): string {
  const character = String.fromCharCode(Number.parseInt(digits, 16));
  return UNRESERVED.includes(character) ? character : written.toUpperCase();
}

/** Drop control, format and unpaired surrogate characters; white space has a separate rule. */
function visible(text: string): string {
  return text.replace(INVISIBLE, "");
}
