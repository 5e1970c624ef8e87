/** Suggestions from a bundle's queries, the same on the collector and on devices: the exact query first, then longer ones. */

import { isObject } from "../digests.ts";
import type { BundleRow } from "../generated/messages.ts";
import { canonicalQuery } from "../records/canonical.ts";
import { finite, list, text } from "./shapes.ts";

/** A query with its share and its URLs, as in a bundle. */
export type Row = BundleRow;

/** The rows of a bundle: queries, each with a share and with URLs and their probabilities. */
export function bundleRows(content: Record<string, unknown>): readonly Row[] {
  return list(content.queries).map((row) => {
    const { query, share, urls } = isObject(row) ? row : {};
    return { query: text(query), share: finite(share), urls: list(urls).map(pair) };
  });
}

function pair(value: unknown): [string, number] {
  const [url, probability, ...more] = list(value);
  if (more.length) throw new TypeError();
  return [text(url), finite(probability)];
}

/** Finds queries in a bundle by what was typed so far, most popular first. */
export class Suggester {
  readonly #places: ReadonlyMap<string, Row>;

  constructor(readonly rows: readonly Row[]) {
    this.#places = new Map(rows.map((row) => [row.query, row]));
  }

  /** The typed query, if the bundle has it, then the most popular ones that start with it. */
  matching(typed: string, n: number): Row[] {
    const wanted = canonicalQuery(typed);
    const same = this.#places.get(wanted);
    const rows = same ? [same] : [];
    for (const row of this.rows) {
      if (rows.length >= n) break;
      if (row !== same && row.query.startsWith(wanted)) rows.push(row);
    }
    return rows.slice(0, n);
  }
}
