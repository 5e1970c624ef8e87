import { expect, test } from "vitest";
import { disagreements } from "../fuzzing.ts";

test("100,000 random texts: the same canonical form and the same decisions as Python's", () => {
  expect(disagreements(50_000, 2)).toEqual([]);
}, 300_000);
