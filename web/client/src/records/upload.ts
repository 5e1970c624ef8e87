/** The form in which an opt-in user's record is sent: padded, so that its length reveals nothing. */

import { RAW_BYTES, RECORD_BYTES } from "../generated/limits.ts";
import { canonicalQuery, canonicalUrl } from "./canonical.ts";
import { usableRecord } from "./personal.ts";
import { NO_RECORD, type Record } from "./record.ts";

/**
 * Return the canonical record to upload, or no record if it looks personal, is incomplete or is too long.
 *
 * "No record" is uploaded, too: the number of opt-in users is public, and must not depend on anyone's record.
 */
export function uploadRecord(query: string | null, url: string | null): Record {
  const parts = canonicalParts(query, url);
  const record = usableRecord(parts.query, parts.url);
  return byteLength(recordJson(record)) <= RECORD_BYTES ? record : NO_RECORD;
}

/** Return the usable record for a list of one level and for a list of two. */
export function usableRecords(query: string | null, url: string | null): { readonly 1: Record; readonly 2: Record } {
  const parts = canonicalParts(query, url);
  return { 1: usableRecord(parts.query, parts.url, 1), 2: usableRecord(parts.query, parts.url, 2) };
}

/** Return query and URL in canonical form, each by itself; null for one that is too long for any upload. */
export function canonicalParts(query: string | null, url: string | null): Record {
  if (byteLength(query ?? "") + byteLength(url ?? "") > RAW_BYTES) return NO_RECORD;
  return { query: bounded(canonicalQuery(query ?? "")), url: bounded(canonicalUrl(url ?? "")) };
}

/** A record as JSON, as its length is measured. */
export function recordJson({ query, url }: Record): string {
  return `[${JSON.stringify(query)}, ${JSON.stringify(url)}]`;
}

/** The number of bytes in UTF-8, without unpaired surrogates. */
export function byteLength(text: string): number {
  return new TextEncoder().encode(text.replace(/\p{Cs}/gu, "")).length;
}

function bounded(form: string): string | null {
  return form && byteLength(form) <= RECORD_BYTES ? form : null;
}
