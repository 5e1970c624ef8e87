/** The newest release of a campaign, fetched and verified. */

import { Suggester } from "@blender-dp/client";
import { readers } from "./api.ts";
import type { Pointer } from "./generated/api.ts";
import { verifiedDocument } from "./verify.ts";

/** One estimate: a query, or a query with one of its URLs. */
export interface Estimate {
  readonly query: string | null;
  readonly url?: string | null;
  readonly share: number;
  readonly variance: number;
  readonly low: number;
  readonly high: number;
  readonly opt_in_share: number | null;
  readonly opt_in_variance: number | null;
  readonly client_share: number;
  readonly client_variance: number;
  readonly opt_in_weight: number;
}

interface ReleaseDocument {
  readonly queries: readonly Estimate[];
  readonly records: readonly Estimate[];
  readonly manifest: Record<string, unknown>;
}

/** What was published last: everything here has a verified signature. */
export interface Published {
  readonly key: string;
  readonly round: number;
  readonly digest: string;
  readonly release: ReleaseDocument;
  /** Listed queries, most popular first. */
  readonly queries: readonly (Estimate & { readonly query: string })[];
  readonly suggester: Suggester;
}

let known: { digest: string; published: Promise<Published> } | undefined;

/** Fetch the newest release and its bundle; null if nothing was released yet. */
export async function newestRelease(campaign: string): Promise<Published | null> {
  const { key, released }: Pointer = await readers.pointer(campaign);
  if (!released?.release || !released.bundle) return null;
  const digest = `${key} ${released.release}`;
  if (known?.digest !== digest)
    known = { digest, published: verified(key, released.number, released.release, released.bundle) };
  const { published } = known; // one page after another shows it, and it may have megabytes
  published.catch(() => {
    known = undefined;
  });
  return published;
}

async function verified(key: string, round: number, digest: string, bundleDigest: string): Promise<Published> {
  const [content, bundle] = await Promise.all([
    verifiedDocument("release", digest, key),
    verifiedDocument("bundle", bundleDigest, key),
  ]);
  const release = content.release as ReleaseDocument;
  const listed = release.queries.filter((row): row is Estimate & { query: string } => row.query !== null);
  return {
    key,
    round,
    digest,
    release,
    queries: listed.sort((a, b) => b.share - a.share),
    suggester: new Suggester(bundle.queries as never),
  };
}
