/** Replays invitations: what a device pins, from a link or a file. */

import { checkedUrl } from "../../src/agent/collector.ts";
import { readInvitation } from "../../src/agent/invitation.ts";
import { BlenderError } from "../../src/errors.ts";
import type { Check } from "./replay.ts";

interface InvitationVectors {
  readonly cases: readonly { name: string; text: string; invitation: { readonly [field: string]: string } | null }[];
  readonly addresses: readonly { collector: string; accepted: boolean }[];
}

export function replayInvitations({ cases, addresses }: InvitationVectors, check: Check): void {
  for (const { name, text, invitation } of cases)
    check(
      name,
      unlessRefused(() => pinned(text)),
      invitation,
    );
  for (const { collector, accepted } of addresses) {
    check(collector, unlessRefused(() => checkedUrl(collector)) !== null, accepted);
  }
}

/** The invitation as the vectors write it. */
function pinned(text: string): object {
  const { lifetimeEpsilon: lifetime_epsilon, ...same } = readInvitation(text);
  return { schema: "blender-dp/invitation/1", ...same, lifetime_epsilon };
}

function unlessRefused<T>(read: () => T): T | null {
  try {
    return read();
  } catch (error) {
    if (error instanceof BlenderError) return null;
    throw error;
  }
}
