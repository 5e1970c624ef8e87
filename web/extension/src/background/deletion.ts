/** Deleting what is on this device. The account is never deleted: what was spent stays spent, and an opt-out stays one. */
import { writing } from "./database.ts";
import { withoutNetwork } from "./network.ts";
import { agentOf } from "./participant.ts";
import type { Settings } from "./settings.ts";

/** Delete the stored searches, the choices, the newest list and the published results; no turn can restore any of them. */
export function deleteData(settings: Settings): Promise<void> {
  return withoutNetwork(async () => {
    await clearStores();
    await (await agentOf(settings))?.forgetBundle();
  });
}

/** Opt out for ever and delete everything else. Safe to repeat: it is done again if the browser ends in between. */
export async function finishLeaving(settings: Settings): Promise<void> {
  await withoutNetwork(clearStores);
  await (await agentOf(settings))?.optOut();
  await deleteData(settings);
}

function clearStores(): Promise<void> {
  return writing(["records", "choices", "lists"], (transaction) => {
    for (const name of ["records", "choices", "lists"]) transaction.objectStore(name).clear();
  });
}
