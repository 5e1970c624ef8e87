/** What the popup shows, computed from what is on disk. */
import { type Agent, type Invitation, readInvitation } from "@blender-dp/client";
import type { Campaign, LastReport, Status } from "../shared/messages.ts";
import { countRecords } from "./history.ts";
import { cellsOf } from "./lists.ts";
import { agentOf } from "./participant.ts";
import { isActive, readSettings } from "./settings.ts";

type Account = Awaited<ReturnType<Agent["account"]>>;

const NO_ACCOUNT: Account = { sent: [], uploaded: [], spent: "0", left: "0", charged: null };

/** The current status. */
export async function currentStatus(): Promise<Status> {
  const settings = await readSettings();
  const invitation = settings.invitation === null ? null : readInvitation(settings.invitation);
  const agent = await agentOf(settings);
  const account = (await agent?.account()) ?? NO_ACCOUNT;
  return {
    consent: settings.consent,
    invitation: invitation && campaign(invitation),
    paused: settings.paused,
    left: settings.left,
    stored: await countRecords(),
    spent: account.spent,
    remaining: account.left,
    lastReport: await lastReport(account),
    uploads: { rounds: account.uploaded.length, withdrawn: account.uploaded.filter((one) => one.withdrawn).length },
    nextRound: isActive(settings) ? settings.nextTurn : null,
    bundle: await bundle(agent),
    problem: settings.problem,
  };
}

function campaign({ collector, campaign, name, epsilon, delta, lifetimeEpsilon }: Invitation): Campaign {
  return { collector, campaign, name, epsilon, delta, lifetimeEpsilon };
}

async function lastReport({ sent }: Account): Promise<LastReport | null> {
  const last = sent.at(-1);
  return last ? { round: last.round, body: last.body, arrived: last.arrived, cells: await cellsOf(last.body) } : null;
}

async function bundle(agent: Agent | null): Promise<Status["bundle"]> {
  const rows = (await agent?.search("", Number.POSITIVE_INFINITY)) ?? [];
  return rows.length > 0 ? { queries: rows.length } : null;
}
