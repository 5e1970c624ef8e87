/** Replays digests, signatures, and what a device accepts or refuses of what is signed. */

import { verifiedBundle, verifiedList, verifiedOpening } from "../../src/agent/verification.ts";
import { exact } from "../../src/arithmetic.ts";
import { Device } from "../../src/channel/device.ts";
import { canonicalJson, documentDigest, listDigest } from "../../src/digests.ts";
import { BlenderError } from "../../src/errors.ts";
import { verifiedContent } from "../../src/wire/documents.ts";
import { fromHex } from "./bytes.ts";
import type { Check } from "./replay.ts";

interface DigestVectors {
  readonly lists: readonly { name: string; list: unknown; text: string; digest: string }[];
  readonly documents: readonly { document: string; digest: string }[];
}

interface SignatureVectors {
  readonly key: string;
  readonly kind: string;
  readonly cases: readonly { name: string; document?: string; document_hex?: string; content: unknown }[];
}

interface RejectionVectors {
  readonly key: string;
  readonly campaign: string;
  readonly round_id: string;
  readonly epsilon: string;
  readonly delta: string;
  readonly newest: number;
  readonly now: number;
  readonly cases: readonly { kind: string; name: string; document: string; reason: string | null }[];
}

export async function replayDigests({ lists, documents }: DigestVectors, check: Check): Promise<void> {
  for (const { name, list, text, digest } of lists) {
    check(`${name}, text`, canonicalJson(list), text);
    check(`${name}, digest`, await listDigest(list), digest);
  }
  for (const { document, digest } of documents) check(document, await documentDigest(utf8(document)), digest);
}

export async function replaySignatures({ key, kind, cases }: SignatureVectors, check: Check): Promise<void> {
  for (const { name, document, document_hex, content } of cases) {
    const body = document === undefined ? fromHex(document_hex ?? "") : utf8(document);
    check(name, await verifiedContent(body, kind, key).catch(refusal(null)), content);
  }
}

export async function replayRejections(vectors: RejectionVectors, check: Check): Promise<void> {
  for (const one of vectors.cases) {
    const reason = await verify(one.kind, one.document, vectors).catch(refusal("problem"));
    const words = hasOwnWords(one) && reason !== null ? one.reason : reason;
    check(`${one.kind}, ${one.name}`, words, one.reason);
  }
}

/** Whether any refusal will do: what is wrong with a value's shape has other words in every language. */
function hasOwnWords({ name, reason }: RejectionVectors["cases"][number]): boolean {
  return reason !== null && (/^(channel|names):/.test(name) || reason.startsWith("cannot be read"));
}

async function verify(kind: string, document: string, vectors: RejectionVectors): Promise<null> {
  const content = await verifiedContent(utf8(document), kind, vectors.key);
  const { campaign, round_id: roundId, now, newest } = vectors;
  const [epsilon, maxDelta] = [exact(vectors.epsilon, "epsilon"), exact(vectors.delta, "delta")];
  if (kind === "opening") verifiedOpening(content, { campaign, roundId, epsilon, maxDelta, now });
  else if (kind === "bundle") verifiedBundle(content, campaign);
  else new Device((await verifiedList(content, { campaign, roundId, epsilon, newest, now })).reportingList, { epsilon });
  return null;
}

/** Turns a refusal into a value; any other error is a mistake in the client. */
function refusal(part: "problem" | null): (error: unknown) => string | null {
  return (error) => {
    if (!(error instanceof BlenderError)) throw error;
    return part === null ? null : error.problem;
  };
}

function utf8(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text);
}
