/** What a results page says: whose it is, what was searched, and where a link leads. Pure: nothing is changed or sent. */
import { webAddress } from "../shared/webAddress.ts";
import { ENGINES, type Engine } from "./engines.ts";

/** The engine at this address, on whatever page of it. */
export function engineAt(address: URL): Engine | null {
  return ENGINES.find(({ origins }) => origins.includes(address.origin)) ?? null;
}

/** The query of this page of web results, or null if it is another page. */
export function searchedFor(engine: Engine, address: URL, page: ParentNode): string | null {
  if (!engine.path.test(address.pathname) || engine.other(address.searchParams)) return null;
  const stated = engine.parameters.map((name) => address.searchParams.get(name)).find((text) => text !== null);
  const query = stated ?? (engine.box ? page.querySelector(engine.box)?.getAttribute("value") : null);
  return query?.trim() || null;
}

/** The address of the result that a click on this element opens, or null if it is no result or only the engine can tell. */
export function openedBy(engine: Engine, element: Element, page: URL): string | null {
  const link = element.closest("a[href]");
  if (!link?.matches(engine.results) || link.closest(engine.ads)) return null;
  const address = parsed(link.getAttribute("href") ?? "", page);
  if (!address) return null;
  if (!isInternal(engine, address)) return webAddress(address.href);
  const target = engine.redirect.test(address.pathname) ? parsed(engine.unwrap(address, link)) : null;
  return target && !isInternal(engine, target) ? webAddress(target.href) : null;
}

/** Whether the address is the engine's, also without https or `www`: Baidu's redirect links have neither. */
function isInternal(engine: Engine, { hostname }: URL): boolean {
  return engine.origins.some((origin) => bare(new URL(origin).hostname) === bare(hostname));
}

function bare(hostname: string): string {
  return hostname.replace(/^www\./, "");
}

/** Whether another website led here: then its author chose the query, not the user. An address bar leaves no referrer. */
export function ledByOthers(engine: Engine, referrer: string): boolean {
  const origin = parsed(referrer)?.origin;
  return origin !== undefined && !engine.origins.includes(origin) && !engine.doors?.includes(origin);
}

function parsed(address: string | null, base?: URL): URL | null {
  try {
    return address ? new URL(address, base) : null;
  } catch {
    return null;
  }
}
