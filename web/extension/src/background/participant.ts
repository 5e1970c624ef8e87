/** The client's agent, as the user's invitation describes it, and what it knows. Opening it sends nothing. */
import { Agent, type Invitation, readInvitation } from "@blender-dp/client";
import type { Suggestion } from "../shared/messages.ts";
import { hasJoined, readSettings, type Settings } from "./settings.ts";
import { ROUND_SECONDS } from "./timing.ts";

const SHOWN = 8;

// Only to save time: what the agent knows is on disk.
let opened: { invitation: string; agent: Promise<Agent> } | null = null;

/** The agent of the invitation that the user has opened, if any. */
export async function agentOf({ invitation }: Settings): Promise<Agent | null> {
  if (invitation === null) return null;
  if (opened?.invitation !== invitation) opened = { invitation, agent: openAgent(readInvitation(invitation)) };
  try {
    return await opened.agent;
  } catch (error) {
    opened = null;
    throw error;
  }
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
