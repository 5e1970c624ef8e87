/** Replays the canonical form and the filter of personal records. */

import { documentDigest } from "../../src/digests.ts";
import { canonicalQuery, canonicalRecord, canonicalUrl } from "../../src/records/canonical.ts";
import { looksPersonal, usableRecord } from "../../src/records/personal.ts";
import type { Check } from "./replay.ts";

type Text = string | null;

interface CanonicalVectors {
  readonly records: readonly [Text, Text, [Text, Text]][];
  readonly queries: readonly [string, string][];
  readonly urls: readonly [string, string][];
}

interface CharacterVectors {
  readonly texts: { readonly query: string[]; readonly url: string[]; readonly personal: string[] };
  readonly groups: readonly { characters: [number, number][]; queries: string; urls: string; personal: string }[];
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

export async function replayCharacters({ texts, groups }: CharacterVectors, check: Check): Promise<void> {
  for (const { characters, queries, urls, personal } of groups) {
    const all = characters.flatMap(([first, last]) => Array.from({ length: last - first + 1 }, (_, i) => first + i));
    const lines = (templates: string[], act: (text: string) => unknown) =>
      all.flatMap((place) => templates.map((text) => act(text.replaceAll("{}", String.fromCodePoint(place))))).join("\n");
    const isPersonal = (text: string) => Number(looksPersonal(canonicalQuery(text), ""));
    const name = `characters from ${all[0]?.toString(16)} to ${all.at(-1)?.toString(16)}`;
    check(`${name}, queries`, await digest(lines(texts.query, canonicalQuery)), queries);
    check(`${name}, urls`, await digest(lines(texts.url, canonicalUrl)), urls);
    check(`${name}, personal`, await digest(lines(texts.personal, isPersonal)), personal);
  }
}

function digest(text: string): Promise<string> {
  return documentDigest(new TextEncoder().encode(text));
}
