/**
 * Notices the user's own searches on a results page, and the first result that is opened from it.
 *
 * A website must not be able to invent a search. So only events that the browser itself marks as the user's count
 * (`isTrusted`), nothing is read from messages or events of the page, and a page that another website led to is ignored.
 * The limits: a website can hide that it led here, and the search engine itself decides what its own page shows.
 */
import type { Engine } from "./engines.ts";
import { ledByOthers, openedBy, searchedFor } from "./results.ts";

/** What is passed on to the background: the only thing that leaves the page. */
export type Noticed =
  | { readonly type: "searched"; readonly query: string }
  | { readonly type: "opened"; readonly query: string; readonly url: string };

/** Signs of a person at the page. A page that nobody looked at, such as one that loads in advance, is not a search. */
const SIGNS = ["pointermove", "pointerdown", "keydown", "wheel", "touchstart"] as const;
const MIDDLE = 1;

/** Starts to watch. Registered before the page's own scripts, in the capture phase, so that they cannot hide a click. */
export function watch(engine: Engine, page: Document, pass: (noticed: Noticed) => void): void {
  let query: string | null = null;
  let opened = false;
  let seen = "";
  const chosenByOthers = ledByOthers(engine, page.referrer) ? page.location.href : null;

  function notice(event: Event): void {
    const address = page.location.href;
    if (!event.isTrusted || address === seen) return;
    seen = address;
    const current = searchedFor(engine, new URL(address), page);
    if (current === query) return;
    query = current;
    opened = address === chosenByOthers; // as if it were over; a further search on the same page is the user's own
    if (query !== null && !opened) pass({ type: "searched", query });
  }

  function click(event: Event): void {
    notice(event);
    if (!event.isTrusted || query === null || opened || !(event.target instanceof Element)) return;
    const url = openedBy(engine, event.target, new URL(page.location.href));
    if (url === null) return;
    opened = true;
    pass({ type: "opened", query, url });
  }

  for (const sign of SIGNS) page.addEventListener(sign, notice, { capture: true, passive: true });
  page.addEventListener("click", click, { capture: true });
  page.addEventListener("auxclick", (event) => event.button === MIDDLE && click(event), { capture: true });
}
