import { expect, test } from "vitest";
import { BusyError, ParameterError, ResponseError, StateError } from "../src/errors.ts";

test("a message names the subject, the problem and the fix", () => {
  const error = new ParameterError("epsilon", "must be positive", "Use a decimal number such as 0.5");
  expect(error.message).toBe("epsilon: must be positive. Use a decimal number such as 0.5.");
  expect(error.name).toBe("ParameterError");
});

test("a busy collector is a response, and a response is a state", () => {
  const error = new BusyError("the collector", "is busy", "Try again later", 429, 7);
  expect([error instanceof ResponseError, error instanceof StateError]).toEqual([true, true]);
  expect([error.kind, error.status, error.seconds]).toEqual(["conflict", 429, 7]);
});
