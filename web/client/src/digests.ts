/** The two digests. Both are SHA-256 in 64 hexadecimal digits; they are two types that must not be confused. */

/** Identifies a head list with its channel, regardless of who publishes it. `Report` names it. */
export type ListDigest = string & { readonly of?: "list" };

/** Identifies a signed document by its bytes. Documents are fetched by it, and reports sent to a collector name it. */
export type DocumentDigest = string & { readonly of?: "document" };

/** The digest of a list's JSON values, written with sorted keys, without spaces, in UTF-8. */
export function listDigest(document: unknown): Promise<ListDigest> {
  return sha256(new TextEncoder().encode(canonicalJson(document)));
}

/** The digest of a signed document. */
export function documentDigest(body: Uint8Array<ArrayBuffer>): Promise<DocumentDigest> {
  return sha256(body);
}

/** JSON with sorted keys and without spaces: equal values have equal texts. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_, part) => (isObject(part) ? Object.fromEntries(Object.entries(part).sort(byKey)) : part));
}

/** Whether this is a JSON object: neither null nor an array. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Bytes in hexadecimal digits. */
export function hex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

async function sha256(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  return hex(new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)));
}

function byKey([a]: [string, unknown], [b]: [string, unknown]): number {
  return a < b ? -1 : 1;
}
