/**
 * A filter for records that plainly identify a person or grant access: addresses, numbers, passwords, tokens, private hosts.
 *
 * It is not a privacy mechanism, and no promise depends on it: differential privacy protects every record, filtered or
 * not. It is versioned and pinned by `spec/vectors/personal.json`; `spec/personal-filter.md` gives the reasons.
 */

import { QUERY_DIGITS } from "../generated/limits.ts";
import { PRIVATE_NAMES } from "../generated/names.ts";
import {
  ADDRESS,
  ADDRESS_LIKE,
  AUTHORITY,
  CREDENTIALS,
  DATES,
  DIGIT_RUN,
  LONG_WORD,
  NUMBER,
  PARAMETER,
  UUID,
  WEB,
} from "../generated/patterns.ts";
import { isPrivateIpv4, isPrivateIpv6 } from "./addresses.ts";
import { canonicalRecord } from "./canonical.ts";
import { NO_RECORD, type Record } from "./record.ts";

/** Return the canonical record, or "no record" if it is missing or looks personal. With one level only the query counts. */
export function usableRecord(query: string | null, url: string | null, levels = 2): Record {
  const record = canonicalRecord(query, url, levels);
  return looksPersonal(record.query ?? "", record.url ?? "") ? NO_RECORD : record;
}

/** Whether a canonical query or URL plainly identifies a person or grants access. Not a privacy mechanism. */
export function looksPersonal(query: string, url: string): boolean {
  return personalQuery(query) || personalUrl(url);
}

/** Whether a canonical query contains an e-mail address or a number as long as a telephone number. */
export function personalQuery(query: string): boolean {
  return ADDRESS.test(query) || all(DIGIT_RUN, query).some(isLongNumber);
}

/**
 * Whether a canonical URL contains an address, credentials, a revealing parameter, a formatted number or a token, or leads
 * to a private host. The empty string, which stands for no URL, is not personal.
 */
export function personalUrl(url: string): boolean {
  const rest = unquote(url.replace(AUTHORITY, ""));
  return (
    CREDENTIALS.test(url) ||
    ADDRESS.test(unquote(url)) ||
    [PARAMETER, NUMBER, UUID].some((pattern) => pattern.test(rest)) ||
    all(LONG_WORD, rest).some((word) => /\d/.test(word) && /\D/.test(word)) ||
    (url !== "" && privatePlace(url))
  );
}

/** Whether a canonical URL leads to a private host, or is not on the web at all. */
export function privatePlace(url: string): boolean {
  const web = WEB.exec(url);
  if (!web) return true;
  const host = unquote(web[1] ?? "")
    .toLowerCase()
    .replaceAll("\u3002", "."); // an ideographic full stop separates labels, too
  if (host.startsWith("[")) return isPrivateIpv6(host.replace(/^[[\]]+|[[\]]+$/g, ""));
  const names = host.replace(/\.$/, "").split(".");
  if (ADDRESS_LIKE.test(names.at(-1) ?? "")) return isPrivateIpv4(host);
  const isBare = names.length === 1 && url.startsWith("http:");
  return isBare || host === "" || [1, 2].some((count) => PRIVATE_NAMES.includes(names.slice(-count).join(".")));
}

/** Resolve escapes as UTF-8; bytes that are not UTF-8 become U+FFFD. */
function unquote(text: string): string {
  return text.replace(/(?:%[0-9a-f]{2})+/gi, (escapes) => {
    const bytes = escapes.slice(1).split("%");
    return new TextDecoder("utf-8", { ignoreBOM: true }).decode(Uint8Array.from(bytes, (byte) => Number.parseInt(byte, 16)));
  });
}

function isLongNumber(run: string): boolean {
  return (run.match(/\p{Nd}/gu)?.length ?? 0) >= QUERY_DIGITS && !DATES.test(run);
}

function all(pattern: RegExp, text: string): readonly string[] {
  return text.match(pattern) ?? [];
}
