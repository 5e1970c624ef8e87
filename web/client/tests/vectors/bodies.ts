/** Replays the bodies of reports and uploads, byte for byte. */

import { reportBody, uploadBody } from "../../src/agent/outgoing.ts";
import { uploadRecord } from "../../src/records/upload.ts";
import type { Check } from "./replay.ts";

interface BodyVectors {
  readonly reports: readonly { id: string; head_list: string; cells: number[]; cell_count: number; body: string }[];
  readonly uploads: readonly { name: string; query: string | null; url: string | null; receipt: string; body: string }[];
}

export function replayBodies({ reports, uploads }: BodyVectors, check: Check): void {
  for (const { id, head_list, cells, cell_count, body } of reports) {
    const written = reportBody(head_list, cells, cell_count); // with an id of its own
    check(`report ${cells}`, written.replace(/(?<="id": ")[0-9a-f]{32}(?=")/, id), body);
  }
  for (const { name, query, url, receipt, body } of uploads) {
    check(`upload ${name}`, new TextDecoder().decode(uploadBody(uploadRecord(query, url), receipt)), body);
  }
}
