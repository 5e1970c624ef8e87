/**
 * The list of the last report, so that its user can see what the cells in it stand for. The list is public.
 *
 * A report names its list by its digest, which the agent has verified, so the copy needs no further check.
 */
import { HeadList } from "@blender-dp/client";
import type { Cell } from "../shared/messages.ts";
import { reading, writing } from "./database.ts";

const KEY = "newest";
const PATH = /\/v1\/head-lists\/([0-9a-f]{64})$/;

interface StoredList {
  digest: string;
  document: string;
}

/** Whether this is the address of a list. */
export function isList(url: string): boolean {
  return PATH.test(url);
}

/** Store a copy of a list in place of an older one. The agent ends the response if it is too long. */
export async function storeList(url: string, copy: Response): Promise<void> {
  const digest = PATH.exec(url)?.[1];
  if (!digest || !copy.ok) return;
  const list: StoredList = { digest, document: await copy.text() };
  await writing(["lists"], (transaction) => transaction.objectStore("lists").put(list, KEY));
}

/** What the cells of this report stand for, or null if its list is not stored. */
export async function cellsOf(body: string): Promise<Cell[] | null> {
  const stored = await reading<StoredList | undefined>(
    ["lists"],
    (transaction) => transaction.objectStore("lists").get(KEY),
    undefined,
  );
  const [report] = JSON.parse(body).reports;
  if (report.head_list !== stored?.digest) return null;
  const list = HeadList.fromDocument(JSON.parse(stored?.document ?? "").content.head_list);
  return report.cells.map((cell: number) => nameOf(cell, list));
}

function nameOf(cell: number, { entries, starts }: HeadList): Cell {
  const place = starts.findLastIndex((start) => start <= cell);
  const [query, urls] = entries[place] ?? [null, []];
  return { query, url: urls[cell - (starts[place] ?? 0)] ?? null };
}
