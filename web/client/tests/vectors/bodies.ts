/** Replays the bodies of reports and uploads, byte for byte, and the records that reports are made from. */

import { reportBody, uploadBody } from "../../src/agent/outgoing.ts";
import { uploadRecord, usableRecords } from "../../src/records/upload.ts";
import type { Check } from "./replay.ts";

interface BodyVectors {
  readonly reports: readonly { id: string; head_list: string; cells: number[]; cell_count: number; body: string }[];
  readonly uploads: readonly { name: string; query: string | null; url: string | null; receipt: string; body: string }[];
  readonly records: readonly { name: string; query: Text; url: Text; item: Text; pair: [Text, Text] | null }[];
}

type Text = string | null;

export function replayBodies({ reports, uploads, records }: BodyVectors, check: Check): void {
  for (const { id, head_list, cells, cell_count, body } of reports) {
    const written = reportBody(head_list, cells, cell_count); // with an id of its own
    check(`report ${cells}`, written.replace(/(?<="id": ")[0-9a-f]{32}(?=")/, id), body);
  }
  for (const { name, query, url, receipt, body } of uploads) {
    check(`upload ${name}`, new TextDecoder().decode(uploadBody(uploadRecord(query, url), receipt)), body);
  }
  for (const { name, query, url, item, pair } of records) {
    const usable = usableRecords(query, url);
    check(`record ${name}, one level`, usable[1].query, item);
    check(`record ${name}, two levels`, [usable[2].query, usable[2].url], pair ?? [null, null]);
  }
}
