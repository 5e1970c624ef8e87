/**
 * One turn: ask for the round, choose a record, report or upload it, and fetch new results.
 *
 * The agent charges its account before anything leaves, sends a report at most once per round, and never in a round to
 * which it has uploaded. So a turn may end anywhere, and the next one continues.
 */
import { type Agent, readInvitation, StateError } from "@blender-dp/client";
import { choiceOf, choose, confirmChoice, isPending } from "./choice.ts";
import { allRecords, type StoredRecord } from "./history.ts";
import { keepOnlyListOf } from "./lists.ts";
import { holdRequests, withNetwork } from "./network.ts";
import { agentOf } from "./participant.ts";
import { requirePermission } from "./permission.ts";
import { planNext } from "./schedule.ts";
import { changeSettings, isActive, readSettings, type Settings } from "./settings.ts";
import { CHOICE_SECONDS, ROUND_SECONDS } from "./timing.ts";
import { inWords } from "./words.ts";

/** Plan the next turn, and take this one, unless another task is using the network. */
export async function takeTurn(now = Date.now() / 1000): Promise<void> {
  if (!isActive(await readSettings())) return;
  await planNext(now);
  await withNetwork(async () => {
    const settings = await readSettings();
    if (!isActive(settings)) return;
    const problem = await failure(() => oneTurn(settings, now));
    await changeSettings((current) => (isActive(current) ? { problem } : null));
  });
}

async function oneTurn(settings: Settings, now: number): Promise<void> {
  const agent = await agentOf(settings);
  if (!agent || settings.invitation === null) return;
  await requirePermission(readInvitation(settings.invitation).collector);
  try {
    await contribute(agent, settings, now);
  } finally {
    await keepOnlyListOf((await agent.account()).sent.at(-1)?.body);
    await agent.refreshBundle();
  }
}

/** Report or upload. Too early for another round is not a problem: it is tried again later. */
async function contribute(agent: Agent, settings: Settings, now: number): Promise<void> {
  const { charged, sent } = await agent.account();
  const isEarly = charged !== null && now < charged + ROUND_SECONDS;
  const hasArrived = sent.every(({ arrived, over }) => arrived || over);
  if (isEarly && hasArrived && settings.consent === "client") return; // without fetching a list in vain
  try {
    await (settings.consent === "opt-in" ? upload(agent, settings, now) : report(agent, settings, now));
  } catch (error) {
    if (!(isEarly && error instanceof StateError && error.subject === "budget")) throw error;
  }
}

/** Report in a round that has a list. The agent is called in any case: an earlier report may not have arrived yet. */
async function report(agent: Agent, settings: Settings, now: number): Promise<void> {
  const round = await agent.currentRound();
  const record = round?.state === "listed" ? await chosen(round.id, settings, now) : null;
  await agent.takePart(record?.query ?? null, record?.url || null, round ? { round: round.id } : {});
}

/** Upload to an open round, and again only what may not have arrived: a second record would reveal more than promised. */
async function upload(agent: Agent, settings: Settings, now: number): Promise<void> {
  const round = await agent.currentRound();
  if (round?.state !== "open" || settings.token === null) return;
  const { uploaded } = await agent.account();
  if (uploaded.some(({ round_id }) => round_id === round.id) && !(await isPending(round.id))) return;
  const record = await chosen(round.id, settings, now);
  const sent = await agent.upload(settings.token, record?.query ?? null, record?.url || null, { round: round.id });
  if (sent) await confirmChoice(round.id);
}

/** The record of a round. The next request waits as long for one stored search as for many: the collector could measure it. */
async function chosen(round: string, { choiceKey }: Settings, now: number): Promise<StoredRecord | null> {
  holdRequests(CHOICE_SECONDS);
  return choiceOf(round, now, async () => (choiceKey ? choose(choiceKey, round, await allRecords(now)) : null));
}

/** What went wrong, for the user; null if nothing did. */
async function failure(work: () => Promise<void>): Promise<string | null> {
  try {
    await work();
    return null;
  } catch (error) {
    return inWords(error);
  }
}
