/** Replays invitations: what a device pins, from a link or a file. */

import { readInvitation } from "../../src/agent/invitation.ts";
import { BlenderError } from "../../src/errors.ts";
import type { Check } from "./replay.ts";

interface InvitationVectors {
  readonly cases: readonly { name: string; text: string; invitation: { readonly [field: string]: string } | null }[];
}

export function replayInvitations({ cases }: InvitationVectors, check: Check): void {
  for (const { name, text, invitation } of cases) check(name, pinned(text), invitation);
}

/** The invitation as the vectors write it, or null if it is refused. */
function pinned(text: string): object | null {
  try {
    const { lifetimeEpsilon: lifetime_epsilon, ...same } = readInvitation(text);
    return { schema: "blender-dp/invitation/1", ...same, lifetime_epsilon };
  } catch (error) {
    if (error instanceof BlenderError) return null;
    throw error;
  }
}
