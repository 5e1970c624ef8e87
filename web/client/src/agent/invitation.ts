/** The invitation to a campaign: one file, or one link, with everything that a device pins. */

import { exact, readExact } from "../arithmetic.ts";
import { ParameterError } from "../errors.ts";
import { INVITED_DELTA, INVITED_EPSILON } from "../generated/limits.ts";
import { checkedDelta, checkedEpsilon } from "../records/checks.ts";
import { text } from "../wire/shapes.ts";
import { checkedUrl } from "./collector.ts";
import { checkedCampaign, checkedKey } from "./pinned.ts";

const SCHEMA = "blender-dp/invitation/1";
const FIELDS = "campaign,collector,delta,epsilon,key,lifetime_epsilon,name,schema";
const NAME = /^[a-z0-9][a-z0-9-]{0,62}$/;
const LINK = /^(.*)\/join#([\w-]+)$/s;

/** What `Agent.open` needs to participate in a campaign, and the campaign's name to show to the user. */
export interface Invitation {
  readonly collector: string;
  readonly key: string;
  readonly campaign: string;
  /** The ε of every round; this number and the next two are exact, as "4" or "7/3". */
  readonly epsilon: string;
  readonly delta: string;
  readonly lifetimeEpsilon: string;
  /** The campaign's name. */
  readonly name: string;
}

/**
 * Read an invitation: the text of its file, or its link, `<collector>/join#<the file in base64url>`.
 *
 * The part after `#` never reaches a server. A link on another host than its collector's is refused.
 */
export function readInvitation(file: string): Invitation {
  const [, host, encoded] = LINK.exec(file.trim()) ?? [];
  try {
    const fields = JSON.parse(encoded === undefined ? file : decoded(encoded));
    const invitation = checked(fields);
    if (fields.schema === SCHEMA && (host === undefined || checkedUrl(host) === invitation.collector)) return invitation;
  } catch (error) {
    if (error instanceof ParameterError) throw new ParameterError(`invitation, ${error.subject}`, error.problem, error.fix);
  }
  throw new ParameterError("invitation", "is not a collector's link or file", "Copy all of it");
}

function checked(fields: Record<string, unknown>): Invitation {
  const invitation = {
    collector: checkedUrl(text(fields.collector)),
    key: checkedKey(fields.key),
    campaign: checkedCampaign(fields.campaign),
    epsilon: `${checkedEpsilon(readExact(text(fields.epsilon), "epsilon"))}`,
    delta: `${checkedDelta(readExact(text(fields.delta), "delta"))}`,
    lifetimeEpsilon: `${readExact(text(fields.lifetime_epsilon), "lifetime_epsilon")}`,
    name: text(fields.name),
  };
  const isKnown = Object.keys(fields).sort().join() === FIELDS;
  if (!isKnown || !NAME.test(invitation.name)) throw new TypeError();
  const { epsilon, delta, lifetimeEpsilon } = invitation;
  refuseIf(isLess(INVITED_EPSILON, epsilon), "epsilon", `is more than ${INVITED_EPSILON}, which offers no real privacy`);
  refuseIf(!isLess(delta, INVITED_DELTA), "delta", `is not less than ${INVITED_DELTA}, which offers no real privacy`);
  refuseIf(isLess(lifetimeEpsilon, epsilon), "lifetime_epsilon", "is less than the ε of one round");
  return invitation;
}

function isLess(one: string, other: string): boolean {
  return exact(one, "").compare(exact(other, "")) < 0;
}

function refuseIf(holds: boolean, field: string, problem: string): void {
  if (holds) throw new ParameterError(field, problem, "Ask for another invitation");
}

function decoded(base64url: string): string {
  const bytes = atob(base64url.replace(/-/g, "+").replace(/_/g, "/"));
  return new TextDecoder("utf-8", { fatal: true }).decode(Uint8Array.from(bytes, (one) => one.charCodeAt(0)));
}
