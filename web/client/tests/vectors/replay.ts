/**
 * Replays the vectors of `spec/vectors` and returns what differs. It runs in Node and in browsers alike: nothing here needs
 * either of them.
 */

import { canonicalJson } from "../../src/digests.ts";
import { replayAccounts } from "./accounts.ts";
import { replayBodies } from "./bodies.ts";
import { replayChannel } from "./channels.ts";
import { replayDigests, replayRejections, replaySignatures } from "./documents.ts";
import { replayInvitations } from "./invitations.ts";
import { replayCanonical, replayCharacters, replayPersonal } from "./records.ts";
import { replaySearch } from "./search.ts";

/** Compares an actual value with the expected one. */
export type Check = (name: string, actual: unknown, expected: unknown) => void;

/** What a replay found: the number of comparisons, and every difference. */
export interface Outcome {
  readonly count: number;
  readonly differences: readonly string[];
}

// biome-ignore lint/suspicious/noExplicitAny: the vectors' shapes are those of the files
type Replay = (vectors: any, check: Check) => void | Promise<void>;

const REPLAYS: { readonly [file: string]: Replay } = {
  "accounts.json": replayAccounts,
  "bodies.json": replayBodies,
  "canonical.json": replayCanonical,
  "characters.json": replayCharacters,
  "digests.json": replayDigests,
  "invitations.json": replayInvitations,
  "local_alg.json": replayChannel,
  "personal.json": replayPersonal,
  "rejections.json": replayRejections,
  "search.json": replaySearch,
  "signatures.json": replaySignatures,
  "subset.json": replayChannel,
};

/** Replay every file; one that nothing replays is a difference, too. */
export async function replay(files: { readonly [file: string]: unknown }): Promise<Outcome> {
  const differences: string[] = [];
  let count = 0;
  for (const [file, vectors] of Object.entries(files)) {
    const check: Check = (name, actual, expected) => {
      count++;
      const [is, should] = [canonicalJson(actual), canonicalJson(expected)];
      if (is !== should) differences.push(`${file}, ${name}: ${is} instead of ${should}`);
    };
    await (REPLAYS[file] ?? (() => check("replay", "missing", "present")))(vectors, check);
  }
  return { count, differences };
}
