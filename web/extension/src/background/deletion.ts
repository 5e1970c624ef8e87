/** Deleting what is on this device. The account is never deleted: what was spent stays spent, and an opt-out stays one. */
import { type Agent, ParameterError } from "@blender-dp/client";
import { type StoreName, writing } from "./database.ts";
import { withoutNetwork } from "./network.ts";
import { agentOf } from "./participant.ts";
import type { Settings } from "./settings.ts";

/** Delete the stored searches, the choices, the newest list and the published results; no turn can restore any of them. */
export function deleteData(settings: Settings): Promise<void> {
  return withoutNetwork(async () => {
    await clearStores();
    await (await agentIn(settings))?.forgetBundle();
  });
}

/** Opt out for ever and delete everything else. Safe to repeat: it is done again if the browser ends in between. */
export async function finishLeaving(settings: Settings): Promise<void> {
  await withoutNetwork(() => clearStores());
  await (await agentIn(settings))?.optOut();
  await deleteData(settings);
}

/** Forget what concerns one campaign only, before another one takes its place: its results, lists and choices. */
export async function forgetCampaign(next: Settings): Promise<void> {
  await clearStores(["choices", "lists"]);
  await (await agentOf(next))?.forgetBundle();
}

/** The agent, unless the stored invitation is no longer valid: that must not prevent anyone from leaving. */
async function agentIn(settings: Settings): Promise<Agent | null> {
  try {
    return await agentOf(settings);
  } catch (error) {
    if (error instanceof ParameterError) return null;
    throw error;
  }
}

function clearStores(names: StoreName[] = ["records", "choices", "lists"]): Promise<void> {
  return writing(names, (transaction) => {
    for (const name of names) transaction.objectStore(name).clear();
  });
}
