/**
 * A local search engine for end-to-end tests, with results pages in Google's form.
 *
 * The network of tests serves it at Google's address, so that the extension recognises it without any change.
 */
import type { Respond } from "./server.ts";

/** The results of a query, in their order. */
export type Results = (query: string) => readonly string[];

/** Two pages of a site that is named like the query. */
export function namedLikeQuery(query: string): readonly string[] {
  const site = `https://www.${query.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-")}.example`;
  return [`${site}/`, `${site}/more?page=2`];
}

/** Responds as the search engine: for `serve`, or for a host of a `Network`. The path of results is /search?q=. */
export function searchEngine(results: Results = namedLikeQuery): Respond {
  return ({ url }) => {
    const query = url.searchParams.get("q") ?? "";
    const shown = url.pathname === "/search" ? found(query, results(query)) : "";
    return { headers: { "Content-Type": "text/html; charset=utf-8" }, body: html(query, shown) };
  };
}

function html(query: string, shown: string): string {
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${escaped(query) || "Local search"}</title></head>
<body><form action="/search"><input name="q" value="${escaped(query)}" aria-label="Search"><button>Search</button></form>
${shown}</body></html>`;
}

/** An advertisement, results (every second one behind a redirect), and a link to a related search. */
function found(query: string, addresses: readonly string[]): string {
  const items = addresses.map((address, index) => {
    const href = index % 2 === 0 ? address : `/url?${new URLSearchParams({ q: address, sa: "U" })}`;
    return `<div class="g"><a class="result" href="${escaped(href)}"><h3>${escaped(address)}</h3></a></div>`;
  });
  const related = `/search?${new URLSearchParams({ q: `${query} related` })}`;
  return `<div id="tads"><a class="ad" href="https://shop.example/"><h3>Advertisement</h3></a></div>
<div id="rso">${items.join("\n")}<a class="related" href="${escaped(related)}"><h3>Related</h3></a></div>`;
}

function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
}
