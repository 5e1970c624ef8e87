/** What the browser checks by itself: digests and signatures of documents, and the chain of the ledger. */

import { canonicalJson, documentDigest, verifiedContent } from "@blender-dp/client";
import { fetched } from "./api.ts";
import type { LedgerEntry } from "./generated/api.ts";

const START = "0".repeat(64);
const PATHS = { "head-list": "head-lists", bundle: "bundles", release: "releases", opening: "openings" } as const;

/** Fetch a document by its digest, and check the digest and the signature. */
export async function verifiedDocument(
  kind: keyof typeof PATHS,
  digest: string,
  key: string,
): Promise<Record<string, unknown>> {
  const body = await fetched(`/v1/${PATHS[kind]}/${digest}`);
  if ((await documentDigest(body)) !== digest) throw new Error("The document does not match its digest.");
  return verifiedContent(body, kind, key);
}

/** The result of checking a ledger: the number of correct entries, and the first wrong one. */
export interface ChainCheck {
  readonly correct: number;
  readonly wrong: number | null;
}

/** Recompute every digest of the ledger: any change, gap or swap shows. */
export async function checkedChain(entries: readonly LedgerEntry[]): Promise<ChainCheck> {
  let before = START;
  for (const [place, { digest, ...entry }] of entries.entries()) {
    const own = await documentDigest(new TextEncoder().encode(canonicalJson(entry)));
    if (entry.number !== place + 1 || entry.before !== before || own !== digest) return { correct: place, wrong: place + 1 };
    before = digest;
  }
  return { correct: entries.length, wrong: null };
}
