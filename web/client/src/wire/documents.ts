/** Signed documents: an Ed25519 signature over exact bytes. */

import { canonicalJson, isObject } from "../digests.ts";
import { DocumentError } from "../errors.ts";
import { DOMAIN } from "../generated/names.ts";

const SIGNATURE_CHARACTERS = 88; // 64 bytes in base64

/**
 * Return the content of a signed document of this kind, if the pinned key signed it.
 *
 * A document is canonical JSON (RFC 8785): content, key, kind and signature. So the signed bytes are part of its own bytes,
 * and nothing is serialised again. The same JSON written in any other way is refused.
 */
export async function verifiedContent(
  body: Uint8Array,
  kind: string,
  key: string,
  source = "document",
): Promise<Record<string, unknown>> {
  const refused = new DocumentError(source, `is not signed by the pinned key as "${kind}"`, "Do not use it");
  const [start, middle, end] = ['{"content":', `,"key":"${key}","kind":"${kind}","signature":"`, '"}'].map(utf8) as Parts;
  const place = body.length - middle.length - SIGNATURE_CHARACTERS - end.length;
  const rest = place + middle.length;
  const isFramed = hasAt(body, start, 0) && hasAt(body, middle, place) && hasAt(body, end, body.length - end.length);
  if (place < start.length || !isFramed) throw refused;
  const signed = new Blob([utf8(DOMAIN), body.slice(0, place), utf8(`,"kind":"${kind}"}`)]);
  let content: unknown;
  try {
    const signature = base64(text(body.subarray(rest, rest + SIGNATURE_CHARACTERS)));
    const publicKey = await crypto.subtle.importKey("raw", base64(key), "Ed25519", false, ["verify"]);
    if (!(await crypto.subtle.verify("Ed25519", publicKey, signature, await signed.arrayBuffer()))) throw refused;
    const written = text(body.subarray(start.length, place));
    content = JSON.parse(written);
    if (canonicalJson(content) !== written) throw refused; // such as 1.0, which is not an integer everywhere
  } catch {
    throw refused;
  }
  if (!isObject(content)) throw new DocumentError(source, "is signed, but has no content", "Do not use it");
  return content;
}

type Parts = [Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>];

function hasAt(body: Uint8Array, part: Uint8Array, place: number): boolean {
  return place >= 0 && part.every((byte, i) => body[place + i] === byte);
}

function utf8(value: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(value);
}

function text(bytes: Uint8Array): string {
  return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
}

/** Decode base64 in its usual form only: `atob` also accepts spaces and missing padding. */
function base64(value: string): Uint8Array<ArrayBuffer> {
  if (!/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(value)) throw new TypeError("not base64");
  return Uint8Array.from(atob(value), (character) => character.charCodeAt(0));
}
