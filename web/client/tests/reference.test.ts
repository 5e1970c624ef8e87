import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { PAGE, reference } from "../scripts/reference.js";

test("the reference page is current, and every public name has a doc comment", () => {
  expect(reference(), "run: npm run reference").toBe(readFileSync(PAGE, "utf8"));
}, 60_000);
