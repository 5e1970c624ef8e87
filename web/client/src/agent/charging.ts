/** What is charged before a report or an upload leaves, as changes of an account that is locked. */

import { hex } from "../digests.ts";
import { randomBytes } from "../entropy.ts";
import { DocumentError } from "../errors.ts";
import type { Account, Limits, Sent, Uploaded } from "./account.ts";
import type { Opening } from "./verification.ts";

/** The report of its round: this one, or that of another tab which was faster. Null if an upload has started. */
export function chargedReport(account: Account, sent: Sent, limits: Limits, now: number): Sent | null {
  if (account.record(sent.campaign, sent.round_id)) return null; // no device is in both groups
  const known = account.report(sent.campaign, sent.round_id);
  if (!known) account.charge(sent, limits.epsilon, limits, now);
  return known ?? sent;
}

/** The upload of its round. All uploads of a round are charged once. */
export function chargedUpload(account: Account, opening: Opening, limits: Limits, now: number): Uploaded {
  const known = account.record(opening.campaign, opening.round_id);
  if (known && known.round !== opening.round) {
    throw new DocumentError("opening", "gives this round a different number than before", "Nothing is uploaded");
  }
  if (known) return known;
  const { campaign, round, round_id, epsilon, delta } = opening;
  const receipt = hex(randomBytes(32));
  const costs = { epsilon: `${epsilon}`, delta: `${delta}` };
  const entry = { campaign, round_id, receipt, round, ...costs, withdrawn: false, stopped: false };
  account.charge(entry, epsilon, limits, now);
  return entry;
}
