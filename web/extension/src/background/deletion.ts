/** Deleting what is on this device. The account is never deleted: what was spent stays spent, and an opt-out stays one. */
import { writing } from "./database.ts";
import { withoutNetwork } from "./network.ts";
import { agentOf } from "./participant.ts";
import { readSettings } from "./settings.ts";

/** Delete the stored searches, the choices, the newest list and the published results; no turn can restore any of them. */
export function deleteData(): Promise<void> {
  return withoutNetwork(async () => {
    await clearStores();
    await (await agentOf(await readSettings()))?.forgetBundle();
  });
}

/** Opt out for ever and delete everything else. Safe to repeat: it is done again if the browser ends in between. */
export function finishLeaving(): Promise<void> {
  return withoutNetwork(async () => {
    const agent = await agentOf(await readSettings());
    await agent?.optOut();
    await clearStores();
    await agent?.forgetBundle();
  });
}

function clearStores(): Promise<void> {
  return writing(["records", "choices", "lists"], (transaction) => {
    for (const name of ["records", "choices", "lists"]) transaction.objectStore(name).clear();
  });
}
