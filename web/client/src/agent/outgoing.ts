/** The two bodies that leave a device: a report and an upload. The length of each is the same for all records. */

import { type DocumentDigest, hex } from "../digests.ts";
import { randomBytes } from "../entropy.ts";
import { UPLOAD_BYTES } from "../generated/limits.ts";
import type { Record } from "../records/record.ts";

/**
 * One report with a random id, of the same length as every other report on this list.
 *
 * An observer of encrypted traffic learns nothing from its length.
 */
export function reportBody(headList: DocumentDigest, cells: readonly number[], cellCount: number): string {
  const id = hex(randomBytes(16));
  const written = (shown: readonly number[]) =>
    `{"reports": [{"id": "${id}", "head_list": "${headList}", "cells": [${shown.join(", ")}]}]}`;
  return written(cells).padEnd(written(cells.map(() => cellCount - 1)).length);
}

/** A record that `uploadRecord` has returned, in a body of always the same length. */
export function uploadBody({ query, url }: Record, receipt: string): Uint8Array<ArrayBuffer> {
  const message = `{"query": ${JSON.stringify(query)}, "url": ${JSON.stringify(url)}, "receipt": "${receipt}"}`;
  const body = new Uint8Array(UPLOAD_BYTES).fill(0x20);
  body.set(new TextEncoder().encode(message));
  return body;
}
