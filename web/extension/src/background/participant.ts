/** The client's agent, as the user's invitation describes it, and what it knows. Opening it sends nothing. */
import { Agent, exact, type Invitation, readInvitation } from "@blender-dp/client";
import type { Suggestion } from "../shared/messages.ts";
import { hasJoined, readSettings, type Settings } from "./settings.ts";
import { ROUND_SECONDS } from "./timing.ts";

const SHOWN = 8;

// Only to save time: what the agent knows is on disk.
let opened: { pinned: string; agent: Promise<Agent> } | null = null;

/** The agent of the invitation that the user has opened, if any. */
export async function agentOf(settings: Settings): Promise<Agent | null> {
  const invitation = invitationOf(settings);
  if (invitation === null) return null;
  const pinned = JSON.stringify(invitation);
  if (opened?.pinned !== pinned) opened = { pinned, agent: openAgent(invitation) };
  try {
    return await opened.agent;
  } catch (error) {
    opened = null;
    throw error;
  }
}

/** The invitation, with the limit of an earlier one if that is smaller: another invitation must not raise it silently. */
export function invitationOf({ invitation, lifetimeEpsilon }: Settings): Invitation | null {
  if (invitation === null) return null;
  const read = readInvitation(invitation);
  return { ...read, lifetimeEpsilon: smaller(lifetimeEpsilon ?? read.lifetimeEpsilon, read.lifetimeEpsilon) };
}

function smaller(one: string, other: string): string {
  return exact(one, "lifetime_epsilon").compare(exact(other, "lifetime_epsilon")) < 0 ? one : other;
}

/** The published queries for what was typed, offline. */
export async function suggestions(typed: string): Promise<Suggestion[]> {
  const settings = await readSettings();
  if (!hasJoined(settings)) return [];
  return (await (await agentOf(settings))?.search(typed, SHOWN)) ?? [];
}

function openAgent(invitation: Invitation): Promise<Agent> {
  return Agent.open({ ...invitation, leastSeconds: ROUND_SECONDS });
}
