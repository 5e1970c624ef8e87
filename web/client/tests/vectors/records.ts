/** Replays the canonical form and the filter of personal records. */

import { canonicalQuery, canonicalRecord, canonicalUrl } from "../../src/records/canonical.ts";
import { looksPersonal, usableRecord } from "../../src/records/personal.ts";
import type { Check } from "./replay.ts";

type Text = string | null;

interface CanonicalVectors {
  readonly records: readonly [Text, Text, [Text, Text]][];
  readonly queries: readonly [string, string][];
  readonly urls: readonly [string, string][];
}

interface PersonalVectors {
  readonly records: readonly [string, string, boolean][];
}

export function replayCanonical({ records, queries, urls }: CanonicalVectors, check: Check): void {
  for (const [query, url, expected] of records) {
    const record = canonicalRecord(query, url);
    check(`record ${query} ${url}`, [record.query, record.url], expected);
  }
  for (const [text, expected] of queries) check(`query ${text}`, canonicalQuery(text), expected);
  for (const [text, expected] of urls) check(`url ${text}`, canonicalUrl(text), expected);
}

export function replayPersonal({ records }: PersonalVectors, check: Check): void {
  for (const [query, url, isPersonal] of records) {
    check(`canonical ${query} ${url}`, canonicalRecord(query, url), { query, url });
    check(`personal ${query} ${url}`, looksPersonal(query, url), isPersonal);
    check(`usable ${query} ${url}`, usableRecord(query, url).query, isPersonal ? null : query);
  }
}
