/**
 * What a device verifies before it uses a document that the pinned key has signed.
 *
 * Documents are compared with the device's own settings. Unsigned responses of the collector are only used to find the
 * current round.
 */

import type { Fraction } from "../arithmetic.ts";
import { DocumentError } from "../errors.ts";
import { MAX_CELLS, MAX_QUERIES, MAX_ROUNDS, MAX_TIME } from "../generated/limits.ts";
import { ReportingList } from "../records/reportingList.ts";
import { asDocument, identifier, number, text, whole } from "../wire/shapes.ts";
import { bundleRows, type Row } from "../wire/suggestions.ts";

/** The content of a verified document: a JSON object. */
export type Content = Readonly<Record<string, unknown>>;

/** What this device expects, whatever a document says. */
export interface Expected {
  readonly campaign: string;
  readonly roundId: string;
  readonly epsilon: Fraction;
  readonly now: number;
}

/** A verified opening of a round. */
export interface Opening {
  readonly campaign: string;
  readonly round: number;
  readonly round_id: string;
  readonly epsilon: Fraction;
  readonly delta: Fraction;
}

/** A verified list of a round. */
export interface Published {
  readonly round: number;
  readonly reportingList: ReportingList;
}

type Check = readonly [boolean, string];

/** Return the opening if it belongs to this round, has exactly this ε and at most this δ, and has not expired. */
export function verifiedOpening(content: Content, expected: Expected & { readonly maxDelta: Fraction }): Opening {
  const [opening, expires] = asDocument("opening", (): [Opening, number] => [
    {
      campaign: text(content.campaign),
      round: whole(content.round, 1, MAX_ROUNDS),
      round_id: identifier(content.round_id),
      epsilon: number(content.epsilon),
      delta: number(content.delta),
    },
    whole(content.expires, 0, MAX_TIME),
  ]);
  const checks: Check[] = [
    [opening.campaign === expected.campaign, "belongs to another campaign"],
    [opening.round_id === expected.roundId, "belongs to another round"],
    [opening.epsilon.compare(expected.epsilon) === 0, "has a different ε from this device's"],
    [opening.delta.compare(expected.maxDelta) <= 0, "has a larger δ than this device allows"],
    [expires >= expected.now, "has expired"],
  ];
  refuseUnless("opening", checks, "Nothing is uploaded");
  return opening;
}

/** Return the list if it belongs to this round, is newer than any before, is not too long and has exactly this ε. */
export async function verifiedList(content: Content, expected: Expected & { readonly newest: number }): Promise<Published> {
  const source = "head list";
  const { expires } = content;
  const reportingList = asDocument(source, () => ReportingList.fromDocument(content.head_list, source));
  const [round, digest] = [asDocument(source, () => whole(content.round, 1, MAX_ROUNDS)), await reportingList.digest()];
  const queries = reportingList.headList.entries.length;
  const checks: Check[] = asDocument(source, () => [
    [whole(reportingList.channel.subsetSize, 1, MAX_CELLS) > 0, ""],
    [content.campaign === expected.campaign, "belongs to another campaign"],
    [content.round_id === expected.roundId && digest === content.list_digest, "is not the list of this round"],
    [round > expected.newest, "belongs to a round seen before, or to an older round"],
    [expires !== null && expires !== undefined, "does not say when it expires"],
    [expires === null || whole(expires, 0, MAX_TIME) >= expected.now, "has expired"],
    [queries > 0, "has no queries, so a report would cost ε and say nothing"],
    [queries <= MAX_QUERIES, `has more than ${MAX_QUERIES} queries`],
    [reportingList.channel.epsilon.compare(expected.epsilon) === 0, "was made for a different ε from this device's"],
  ]);
  refuseUnless(source, checks, "Nothing is reported");
  return { round, reportingList };
}

/** Return the number of a bundle's round and its rows, if it belongs to this campaign. */
export function verifiedBundle(content: Content, campaign: string): [number, readonly Row[]] {
  const bundle = asDocument("bundle", (): [number, readonly Row[]] => [
    whole(content.round, 1, MAX_ROUNDS),
    bundleRows(content),
  ]);
  refuseUnless("bundle", [[content.campaign === campaign, "belongs to another campaign"]], "Ask the collector's operator");
  return bundle;
}

function refuseUnless(source: string, checks: readonly Check[], fix: string): void {
  for (const [holds, problem] of checks) if (!holds) throw new DocumentError(source, problem, fix);
}
