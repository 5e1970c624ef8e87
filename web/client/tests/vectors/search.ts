/** Replays searches in a bundle. */

import { bundleRows, Suggester } from "../../src/wire/suggestions.ts";
import type { Check } from "./replay.ts";

interface SearchVectors {
  readonly [name: string]: unknown;
  readonly cases: readonly { typed: string; n: number; places: number[] }[];
}

export function replaySearch(vectors: SearchVectors, check: Check): void {
  const rows = bundleRows(vectors);
  const suggester = new Suggester(rows);
  for (const { typed, n, places } of vectors.cases) {
    const found = suggester.matching(typed, n);
    check(
      `${typed}, ${n}`,
      found.map((row) => rows.indexOf(row)),
      places,
    );
  }
}
