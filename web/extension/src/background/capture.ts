/** A search that a content script has noticed, as a record in canonical form, if it is to be stored at all. */
import { canonicalQuery, canonicalUrl, looksPersonal } from "@blender-dp/client";
import { addRecord } from "./history.ts";
import { isActive, readSettings } from "./settings.ts";

/** Store a search and the result that was opened, unless the user has not joined or has paused, or it looks personal. */
export async function storeSearch(searched: string, opened: string | null, now = Date.now() / 1000): Promise<null> {
  if (!isActive(await readSettings())) return null; // without creating a database
  const record = { query: canonicalQuery(searched), url: opened === null ? "" : canonicalUrl(opened) };
  if (record.query !== "" && !looksPersonal(record.query, record.url)) await addRecord(record, now);
  return null;
}
