/** A long list, page by page: a browser would need seconds for thousands of rows, and a reader longer. */

import type { ComponentChildren, JSX } from "preact";
import { useState } from "preact/hooks";
import { count } from "../format.ts";

interface Properties<T> {
  readonly rows: readonly T[];
  readonly size: number;
  /** What the rows are, such as "queries". */
  readonly name: string;
  readonly children: (rows: readonly T[]) => ComponentChildren;
}

/** The rows of one page, and buttons for the others if there are any. */
export function Paged<T>({ rows, size, name, children }: Properties<T>): JSX.Element {
  const [chosen, choose] = useState(0);
  const last = Math.max(Math.ceil(rows.length / size) - 1, 0);
  const page = Math.min(chosen, last);
  const from = page * size;
  const to = Math.min(from + size, rows.length);
  const button = (label: string, target: number) => (
    <button type="button" aria-disabled={target === page} onClick={() => choose(Math.min(Math.max(target, 0), last))}>
      {label}
    </button>
  );
  return (
    <>
      {children(rows.slice(from, to))}
      {last > 0 && (
        <nav class="pages" aria-label={`Pages of ${name}`}>
          <span aria-live="polite">
            {count(from + 1)} to {count(to)} of {count(rows.length)} {name}
          </span>
          {button("First", 0)}
          {button("Previous", Math.max(page - 1, 0))}
          {button("Next", Math.min(page + 1, last))}
          {button("Last", last)}
        </nav>
      )}
    </>
  );
}
