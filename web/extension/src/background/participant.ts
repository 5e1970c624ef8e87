/** The client's agent, as the user's invitation describes it, and what it knows. Opening it sends nothing. */
import { Agent, type Invitation, readInvitation, type Suggester } from "@blender-dp/client";
import type { LimitQuestion } from "../shared/messages.ts";
import { hasJoined, readSettings, type Settings } from "./settings.ts";
import { ROUND_SECONDS } from "./timing.ts";

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

/** The invitation that the user has opened, if any. */
export function invitationOf({ invitation }: Settings): Invitation | null {
  return invitation === null ? null : readInvitation(invitation);
}

/** What the user is asked before another invitation raises the lifetime limit; null if it does not. */
export async function limitQuestion(settings: Settings): Promise<LimitQuestion | null> {
  const { epsilon, lifetimeEpsilon: wanted } = invitationOf(settings) ?? { epsilon: "0", lifetimeEpsilon: "0" };
  const { limit, spent } = (await (await agentOf(settings))?.account()) ?? { limit: wanted, spent: "0" };
  return limit === wanted ? null : { epsilon, agreed: limit, wanted, spent };
}

/** The published results in memory, to be searched without waiting; null for someone who does not participate. */
export async function results(): Promise<Suggester | null> {
  const settings = await readSettings();
  return hasJoined(settings) ? ((await (await agentOf(settings))?.suggester()) ?? null) : null;
}

function openAgent(invitation: Invitation): Promise<Agent> {
  return Agent.open({ ...invitation, leastSeconds: ROUND_SECONDS });
}
