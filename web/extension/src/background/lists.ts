/**
 * The list of the last report, so that its user can see what the cells in it stand for. The list is public.
 *
 * A report names its list by its digest, which the agent has verified, so a copy with that digest is the same list.
 */
import { documentDigest, HeadList } from "@blender-dp/client";
import type { Cell } from "../shared/messages.ts";
import { reading, writing } from "./database.ts";

const PATH = /\/v1\/head-lists\/([0-9a-f]{64})$/;

/** Whether this is the address of a list. */
export function isList(url: string): boolean {
  return PATH.test(url);
}

/** Store a copy of a list if it has the digest in its address. The agent ends the response if it is too long. */
export async function storeList(url: string, copy: Response): Promise<void> {
  const digest = PATH.exec(url)?.[1];
  if (!digest || !copy.ok) return;
  const bytes = new Uint8Array(await copy.arrayBuffer());
  if ((await documentDigest(bytes)) !== digest) return;
  const document = new TextDecoder().decode(bytes);
  await writing(["lists"], (transaction) => transaction.objectStore("lists").put(document, digest));
}

/** Delete all lists but that of this report, if any: one may have been fetched that nothing was reported to. */
export function keepOnlyListOf(body: string | undefined): Promise<void> {
  const digest = body === undefined ? null : onlyReport(body).head_list;
  return writing(["lists"], (transaction) => {
    const store = transaction.objectStore("lists");
    const keys = store.getAllKeys();
    keys.onsuccess = () => {
      for (const key of keys.result) if (key !== digest) store.delete(key);
    };
  });
}

/** What the cells of this report stand for, or null if its list is not stored or cannot be read. */
export async function cellsOf(body: string): Promise<Cell[] | null> {
  const { head_list, cells } = onlyReport(body);
  const read = (transaction: IDBTransaction) => transaction.objectStore("lists").get(head_list);
  const document = await reading<string | undefined>(["lists"], read, undefined);
  if (document === undefined) return null;
  try {
    const list = HeadList.fromDocument(JSON.parse(document).content.head_list);
    return cells.map((cell) => nameOf(cell, list));
  } catch {
    return null;
  }
}

function onlyReport(body: string): { head_list: string; cells: number[] } {
  return JSON.parse(body).reports[0];
}

function nameOf(cell: number, { entries, starts }: HeadList): Cell {
  const place = starts.findLastIndex((start) => start <= cell);
  const [query, urls] = entries[place] ?? [null, []];
  return { query, url: urls[cell - (starts[place] ?? 0)] ?? null };
}
