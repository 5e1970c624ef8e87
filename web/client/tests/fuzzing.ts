/** Repeats what the Python device made of random texts. */
import { canonicalQuery, canonicalUrl } from "../src/records/canonical.ts";
import { looksPersonal } from "../src/records/personal.ts";
import { uploadRecord } from "../src/records/upload.ts";
import { python } from "./python.ts";

/** Compare both clients on this many random pairs of texts, and return the pairs on which they differ. */
export function disagreements(pairs: number, seed: number): string[] {
  const lines = python("tests.web.record_answers", [`${pairs}`, `${seed}`])
    .trimEnd()
    .split("\n");
  if (lines.length !== pairs) throw new Error(`${lines.length} answers to ${pairs} questions`);
  return lines.filter((line) => {
    const [query, url, expected] = JSON.parse(line);
    return JSON.stringify(answers(query, url)) !== JSON.stringify(expected);
  });
}

function answers(query: string, url: string): unknown[] {
  const [forms, crossed] = [
    [canonicalQuery(query), canonicalUrl(url)] as const,
    [canonicalQuery(url), canonicalUrl(query)] as const,
  ];
  const uploaded = uploadRecord(query, url);
  return [...forms, ...crossed, looksPersonal(...forms), looksPersonal(...crossed), [uploaded.query, uploaded.url]];
}
