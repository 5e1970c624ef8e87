/** What the popup shows, computed from what is on disk. */
import type { Agent, Invitation } from "@blender-dp/client";
import type { Campaign, LastReport, Status } from "../shared/messages.ts";
import { countRecords } from "./history.ts";
import { cellsOf } from "./lists.ts";
import { agentOf, invitationOf } from "./participant.ts";
import { isActive, readSettings } from "./settings.ts";
import { inWords } from "./words.ts";

type Account = Awaited<ReturnType<Agent["account"]>>;

const NO_ACCOUNT: Account = { sent: [], uploaded: [], limit: "0", spent: "0", left: "0", charged: null };

/** The current status. A part that cannot be read is null, and a problem: the user can pause and leave in any case. */
export async function currentStatus(): Promise<Status> {
  const settings = await readSettings();
  const problems: string[] = [];
  const readable = async <T>(part: () => Promise<T>): Promise<T | null> => {
    try {
      return await part();
    } catch (error) {
      problems.push(inWords(error));
      return null;
    }
  };
  const invitation = await readable(async () => invitationOf(settings));
  const agent = invitation && (await readable(() => agentOf(settings)));
  const account = settings.invitation === null ? NO_ACCOUNT : agent && (await readable(() => agent.account()));
  const last = account && (await readable(() => lastReport(account)));
  const results = agent && (await readable(() => bundle(agent)));
  return {
    consent: settings.consent,
    invitation: invitation ? campaign(invitation, account) : null,
    paused: settings.paused,
    left: settings.left,
    stored: await countRecords(),
    spent: account ? account.spent : null,
    remaining: account ? account.left : null,
    lastReport: last || null,
    uploads: uploads(account || NO_ACCOUNT),
    nextRound: isActive(settings) ? settings.nextTurn : null,
    bundle: results || null,
    problem: settings.problem ?? problems[0] ?? null,
  };
}

function uploads({ uploaded }: Account): Status["uploads"] {
  return { rounds: uploaded.length, withdrawn: uploaded.filter((one) => one.withdrawn).length };
}

function campaign(invitation: Invitation, account: Account | null): Campaign {
  const { collector, campaign, name, epsilon, delta } = invitation;
  return { collector, campaign, name, epsilon, delta, lifetimeEpsilon: account?.limit ?? invitation.lifetimeEpsilon };
}

async function lastReport({ sent }: Account): Promise<LastReport | null> {
  const last = sent.at(-1);
  return last ? { round: last.round, body: last.body, arrived: last.arrived, cells: await cellsOf(last.body) } : null;
}

async function bundle(agent: Agent): Promise<Status["bundle"]> {
  const { rows } = await agent.suggester();
  return rows.length > 0 ? { queries: rows.length } : null;
}
