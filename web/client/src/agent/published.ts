/** What a collector has published: a pointer to its rounds, which nobody has signed, and signed documents. */

import { type DocumentDigest, documentDigest } from "../digests.ts";
import { DocumentError } from "../errors.ts";
import { verifiedContent } from "../wire/documents.ts";
import { asDocument, digestName, identifier } from "../wire/shapes.ts";
import type { AccountStore } from "./accountStore.ts";
import type { CollectorClient } from "./collector.ts";
import type { Content } from "./verification.ts";

/** The collector's pointer to a round: an id, a state, and the digests of documents. */
export interface Pointer {
  readonly id: string;
  readonly state: unknown;
  readonly opening: unknown;
  readonly headList: unknown;
  readonly bundle: unknown;
}

/** A document that has the digest in its address and the pinned key's signature. */
export interface Fetched {
  readonly digest: DocumentDigest;
  readonly body: Uint8Array<ArrayBuffer>;
  readonly content: Content;
}

/** Fetches and verifies what a collector has published. Nothing is requested after an opt-out. */
export class PublishedDocuments {
  constructor(
    private readonly store: AccountStore,
    private readonly collector: CollectorClient,
    private readonly key: string,
    private readonly campaign: string,
  ) {}

  /** The collector's pointer to a round. It is not signed, so signed documents must confirm it. Null after an opt-out. */
  async pointer(which: "round" | "released"): Promise<Pointer | null> {
    if (await this.store.optedOut()) return null;
    await this.store.read(); // a device whose account cannot be read sends no requests; its user can still opt out
    const current = await this.collector.get(`/v1/rounds/current?campaign=${this.campaign}`);
    return asDocument("current round", () => {
      const pointer = (current as Record<string, Content | null>)[which];
      if (pointer === null) return null;
      if (pointer === undefined) throw new TypeError();
      const { id, state, opening, head_list: headList, bundle } = pointer;
      return { id: identifier(id), state, opening, headList, bundle };
    });
  }

  /** A document that has the digest in its address and the pinned key's signature. Null after an opt-out. */
  async fetch(kind: "opening" | "head-list" | "bundle", name: unknown): Promise<Fetched | null> {
    const path = asDocument("current round", () => `/v1/${kind}s/${digestName(name)}`);
    if (await this.store.optedOut()) return null;
    const body = await this.collector.document(path);
    const digest: DocumentDigest = await documentDigest(body);
    if (digest !== name) throw new DocumentError(path, "does not match the digest in its address", "It is not used");
    return { digest, body, content: await verifiedContent(body, kind, this.key, kind.replace("-", " ")) };
  }
}
