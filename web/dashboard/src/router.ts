/** Addresses of pages: after the `#`, which never reaches a server. So nothing that someone types or reads here leaves the browser. */

/** Where the reader is: the parts between slashes, decoded. */
export type Route = readonly string[];

/** Read the address. */
export function currentRoute(hash = location.hash): Route {
  return hash.replace(/^#\/?/, "").split("/").filter(Boolean).map(decoded);
}

/** The address of a page. */
export function link(...parts: readonly string[]): string {
  return `#/${parts.map(encodeURIComponent).join("/")}`;
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part; // someone has edited the address
  }
}
