/** How an engine's redirect links are turned into the addresses that they lead to, without asking the engine. */

/** The address to which a redirect link leads, or null if only the engine can tell. */
export type Unwrap = (address: URL, link: Element) => string | null;

/** The first of these parameters that contains a web address: Google's `/url?q=`, DuckDuckGo's `/l/?uddg=`. */
export function parameter(...names: readonly string[]): Unwrap {
  return ({ searchParams }) => names.map((name) => searchParams.get(name)).find(isWeb) ?? null;
}

/** Bing's `/ck/a?u=a1…`: after `a1`, the address in UTF-8 and base64url without padding. */
export function bingTarget({ searchParams }: URL): string | null {
  const value = searchParams.get("u") ?? "";
  const address = value.startsWith("a1") ? decoded(value.slice(2)) : null;
  return isWeb(address) ? address : null;
}

/**
 * Baidu's `/link?url=…` is encrypted, so the link itself says nothing without a request to Baidu, which we never send.
 * Most results state their real address in the attribute `mu` of the box around them. Composite boxes have a placeholder
 * there: for those, the query is recorded without an address.
 */
export function baiduTarget(_address: URL, link: Element): string | null {
  const stated = link.closest("[mu]")?.getAttribute("mu");
  return isWeb(stated) && !/^https?:\/\/nourl\./.test(stated) ? stated : null;
}

function isWeb(text: string | null | undefined): text is string {
  return /^https?:\/\//i.test(text ?? "");
}

function decoded(base64url: string): string | null {
  try {
    const binary = atob(base64url.replaceAll("-", "+").replaceAll("_", "/"));
    return new TextDecoder("utf-8", { fatal: true }).decode(Uint8Array.from(binary, (character) => character.charCodeAt(0)));
  } catch {
    return null;
  }
}
