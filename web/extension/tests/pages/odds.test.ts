// What a report can reveal is computed, and never understated.
import { beforeEach, describe, expect, it } from "vitest";
import { surest, surestText } from "../../src/pages/odds.ts";
import { installChrome } from "./fakeChrome.ts";

describe("the odds", () => {
  beforeEach(() => void installChrome());

  it.each([
    [0, 0.01],
    [1, 0.0267],
    [4, 0.3555],
    [12, 0.99939],
    [800, 1],
  ])("with ε = %d, 1 %% becomes at most %d", (epsilon, expected) => {
    expect(surest(0.01, epsilon)).toBeCloseTo(expected, 4);
    const factor = Math.exp(epsilon);
    if (Number.isFinite(factor)) expect(surest(0.01, epsilon)).toBeCloseTo((factor * 0.01) / (0.99 + factor * 0.01), 12);
  });

  it("are rounded up, with more digits close to certainty", () => {
    expect(surestText(4)).toBe("at most 36% sure"); // 35.5 %
    expect(surestText(12)).toBe("at most 99.94% sure"); // 99.939 %
    expect(surestText(48)).toBe("almost certain");
  });
});
