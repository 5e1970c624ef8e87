/**
 * The head list: the queries and URLs that clients report on, and the numbers of its cells.
 *
 * Every query has its URLs and one place for "any other URL"; after the last query comes one cell for "any other query":
 *
 *     google  → url a, url b, ⋆      cells 0 1 2
 *     yahoo   → url c, ⋆             cells 3 4
 *     ⋆                              cell  5
 *
 * A list of single items (apps, words, error codes) has one level: no query has URLs, and its only cell, ⟨q, ⋆⟩, stands
 * for the item itself.
 */

import { isObject } from "../digests.ts";
import { DocumentError } from "../errors.ts";
import { CANONICAL_VERSION } from "../generated/limits.ts";
import { CHANNEL_SCHEMA } from "../generated/names.ts";
import type { Record } from "./record.ts";

/** A query and its URLs. */
export type Entry = readonly [string, readonly string[]];

/** The indices of a query and of one of its URLs. */
export type Position = readonly [number, number];

const FIX = "Use a head-list.json that blender-dp wrote";

/** Queries and their URLs, sorted, so that their order is the same everywhere and reveals nothing about counts. */
export class HeadList {
  /** 1 for a list of single items, 2 for one of queries and their URLs; an empty list has 2. */
  readonly levels: 1 | 2;
  /** k_q of every query, its ⋆ included; the last one is the ⋆ query's, which is 1. */
  readonly urlCounts: readonly number[];
  /** The first cell of every query, ⋆ last. */
  readonly starts: readonly number[];
  /** The number of cells. */
  readonly cellCount: number;
  readonly #positions: ReadonlyMap<string, readonly [number, ReadonlyMap<string, number>]>;

  constructor(readonly entries: readonly Entry[]) {
    this.levels = entries.length > 0 && entries.every(([, urls]) => urls.length === 0) ? 1 : 2;
    this.urlCounts = [...entries.map(([, urls]) => urls.length + 1), 1];
    const starts = [0];
    for (const count of this.urlCounts) starts.push((starts.at(-1) ?? 0) + count);
    this.cellCount = starts.pop() ?? 0;
    this.starts = starts;
    this.#positions = new Map(entries.map(([query, urls], i) => [query, [i, new Map(urls.map((url, j) => [url, j]))]]));
  }

  /**
   * The position of a canonical record: the indices of its query and URL, or those of ⋆ if they are not listed.
   *
   * With one level the query alone decides.
   */
  position({ query, url }: Record): Position {
    const [index, urls] = (query !== null && this.#positions.get(query)) || [this.entries.length, new Map<string, number>()];
    return [index, (url === null ? undefined : urls.get(url)) ?? urls.size];
  }

  /** Read the names of a list with a channel; refuse anything else, with the reason. */
  static fromDocument(document: unknown, source = "head list"): HeadList {
    if (!isObject(document) || !Array.isArray(document.queries)) {
      throw new DocumentError(source, "needs schema, canonical_version and queries", FIX);
    }
    if (document.schema !== CHANNEL_SCHEMA || document.canonical_version !== CANONICAL_VERSION) {
      throw new DocumentError(source, "has another schema or canonical form", "Use a matching version of blender-dp");
    }
    const entries = document.queries.map((row) => entry(row, source));
    const hasUrls = entries.map(([, urls]) => urls.length > 0);
    if (!isAscending(entries.map(([query]) => query)) || (hasUrls.includes(true) && hasUrls.includes(false))) {
      throw new DocumentError(source, "queries are repeated or unsorted, or only some of them have URLs", FIX);
    }
    return new HeadList(entries);
  }
}

function entry(row: unknown, source: string): Entry {
  if (isObject(row) && isText(row.query) && Array.isArray(row.urls) && row.urls.every(isText) && isAscending(row.urls)) {
    return [row.query, row.urls];
  }
  throw new DocumentError(source, "needs queries with sorted lists of URLs", FIX);
}

/** Whether this is a non-empty string that UTF-8 can encode: JSON can also contain unpaired surrogates. */
function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "" && !/\p{Cs}/u.test(value);
}

function isAscending(texts: readonly string[]): boolean {
  return texts.every((text, i) => i === 0 || compareCodePoints(texts[i - 1] ?? "", text) < 0);
}

/** The order of code points, which is not that of UTF-16 above U+FFFF. (If two pairs share their first half, it is.) */
function compareCodePoints(a: string, b: string): number {
  let i = 0;
  while (i < a.length && a[i] === b[i]) i++;
  return (a.codePointAt(i) ?? -1) - (b.codePointAt(i) ?? -1);
}
