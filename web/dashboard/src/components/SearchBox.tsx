/** Searches the published list inside the page. Nothing that is typed leaves the browser. */

import type { Suggester } from "@blender-dp/client";
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { counted, percent } from "../format.ts";
import { link } from "../router.ts";

const SHOWN = 8;

/** A search field with suggestions while typing. */
export function SearchBox({
  suggester,
  campaign,
}: {
  readonly suggester: Suggester;
  readonly campaign: string;
}): JSX.Element {
  const [typed, setTyped] = useState("");
  const rows = typed.trim() ? suggester.matching(typed, SHOWN) : [];
  return (
    <search>
      <label for="search">Search the list</label>
      <input
        id="search"
        type="search"
        autocomplete="off"
        spellcheck={false}
        value={typed}
        aria-describedby="search-note"
        onInput={(event) => setTyped(event.currentTarget.value)}
      />
      <p id="search-note" class="soft" aria-live="polite">
        {typed.trim() ? matches(rows.length) : "What you type stays in this page."}
      </p>
      {rows.length > 0 && (
        <ul class="suggestions">
          {rows.map((row) => (
            <li key={row.query}>
              <a href={link("c", campaign, "q", row.query)}>{row.query}</a> <span class="soft">{percent(row.share)}</span>
            </li>
          ))}
        </ul>
      )}
    </search>
  );
}

function matches(number: number): string {
  if (number === 0) return "No matches.";
  return number < SHOWN ? `${counted(number, "match", "matches")}.` : `The ${SHOWN} most popular matches.`;
}
