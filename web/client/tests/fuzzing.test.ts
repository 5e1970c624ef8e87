import { expect, test } from "vitest";
import { disagreements } from "./fuzzing.ts";

test("1,000 random texts: the same canonical form and the same decisions as Python's", () => {
  expect(disagreements(500, 1)).toEqual([]);
});
