/** The chain of the ledger is checked as the collector makes it. */
import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import type { LedgerEntry } from "../src/generated/api.ts";
import { checkedChain } from "../src/verify.ts";

/** A chain as the collector writes it: canonical JSON of the fields without the digest. */
function chain(length: number): LedgerEntry[] {
  const entries: LedgerEntry[] = [];
  let before = "0".repeat(64);
  for (let number = 1; number <= length; number++) {
    const [campaign, round] = ["c".repeat(32), number.toString(16).padStart(32, "0")];
    const text = `{"before":"${before}","campaign":"${campaign}","delta":"0","epsilon":"7/3","group":"client","number":${number},"round":"${round}"}`;
    const digest = createHash("sha256").update(text).digest("hex");
    entries.push({ number, campaign, round, group: "client", epsilon: "7/3", delta: "0", before, digest });
    before = digest;
  }
  return entries;
}

test("a complete chain is correct, also an empty one", async () => {
  expect(await checkedChain(chain(5))).toEqual({ correct: 5, wrong: null });
  expect(await checkedChain([])).toEqual({ correct: 0, wrong: null });
});

test.each([
  ["a changed number", (all: LedgerEntry[]) => all.map((one) => (one.number === 3 ? { ...one, epsilon: "1" } : one)), 3],
  ["a missing entry", (all: LedgerEntry[]) => all.filter((one) => one.number !== 2), 2],
  ["two swapped entries", ([a, b, c, ...rest]: LedgerEntry[]) => [a, c, b, ...rest] as LedgerEntry[], 2],
  ["a missing start", (all: LedgerEntry[]) => all.slice(1), 1],
])("%s shows", async (_, changed, wrong) => {
  expect((await checkedChain(changed(chain(5)))).wrong).toBe(wrong);
});
