/** A search that a content script has noticed, as a record in canonical form, if it is to be stored at all. */
import { canonicalParts, looksPersonal } from "@blender-dp/client";
import { addRecord } from "./history.ts";
import { isActive, readSettings } from "./settings.ts";

/**
 * Store a search and the result that was opened, unless the user has not joined or has paused, or it looks personal or is too
 * long ever to be reported.
 */
export async function storeSearch(searched: string, opened: string | null, now = Date.now() / 1000): Promise<null> {
  if (!isActive(await readSettings())) return null; // without creating a database
  const { query, url } = canonicalParts(searched, opened);
  if (query !== null && !looksPersonal(query, url ?? "")) await addRecord({ query, url: url ?? "" }, now);
  return null;
}
