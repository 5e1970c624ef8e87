import { describe, expect, test } from "vitest";
import { ceilDecreasingInExp, exact, expBounds, Fraction, floorDivide, readExact } from "../src/arithmetic.ts";
import { ParameterError } from "../src/errors.ts";

// e to 50 decimals, and e^64 to 21, rounded down.
const E = 271828182845904523536028747135266249775724709369995n;
const E64 = 6235149080811616882909238708928469744831391846235n;

const fraction = (text: string) => exact(text, "x");

describe("numbers are read exactly as they are written", () => {
  test.each([
    [0.1, "1/10"],
    [1e-7, "1/10000000"],
    [1e21, "1000000000000000000000"],
    ["0.85", "17/20"],
    ["-1.50", "-3/2"],
    ["+.5", "1/2"],
    ["6/4", "3/2"],
    ["1E-5", "1/100000"],
    [" 4 ", "4"],
    [7n, "7"],
  ])("%s", (value, expected) => expect(`${exact(value, "x")}`).toBe(expected));

  test.each([Number.NaN, Number.POSITIVE_INFINITY, "", ".", "four", "1/0", "1/00", "1e", "0x10", "1_0", "1/2.5", "--1"])(
    "%s is refused",
    (value) => expect(() => exact(value, "x")).toThrow(ParameterError),
  );

  test.each(["1e351", "1e-400000000", "9".repeat(351), "1e999999999999999999999"])("long numbers are refused", (value) =>
    expect(() => exact(value, "x")).toThrow("has more than 350 digits"),
  );
});

describe("published numbers have one form", () => {
  test.each(["4", "7/3", "0"])("%s", (text) => expect(`${readExact(text, "x")}`).toBe(text));
  test.each(["4/1", "6/4", "04", "0.5", "-1", "+1", "1e1", " 4", ""])("%s is refused", (text) =>
    expect(() => readExact(text, "x")).toThrow(ParameterError),
  );
});

test("fractions round towards the side that is asked for, below zero as well", () => {
  expect([fraction("7/3").floor(), fraction("7/3").ceil()]).toEqual([2n, 3n]);
  expect([fraction("-7/3").floor(), fraction("-7/3").ceil()]).toEqual([-3n, -2n]);
  expect([fraction("-2").floor(), fraction("-2").ceil(), floorDivide(-4n, 2n)]).toEqual([-2n, -2n, -2n]);
  expect(() => fraction("1").over(fraction("0"))).toThrow(RangeError);
});

test.each([
  ["1", E, 50n],
  ["64", E64, 21n],
])("e^%s lies between its bounds, which are close", (x, digits, decimals) => {
  for (const bits of [16n, 100n, 256n, 1000n]) {
    const [low, high] = expBounds(fraction(x), bits);
    const [below, above] = [new Fraction(digits, 10n ** decimals), new Fraction(digits + 1n, 10n ** decimals)];
    expect([low.compare(above), high.compare(below)]).toEqual([-1, 1]);
    expect(high.minus(low).compare(high.over(new Fraction(1n << (bits - 15n))))).toBe(-1);
  }
});

test("bounds of powers multiply to bounds of 1: they never lie on the wrong side", () => {
  for (let i = 1n; i < 60n; i++) {
    const [x, y] = [new Fraction(i * i, 37n), new Fraction(i, 41n)];
    const [sum, one, two] = [expBounds(x.plus(y), 64n), expBounds(x, 64n), expBounds(y, 64n)];
    expect(one[0].times(two[0]).compare(sum[1])).toBeLessThanOrEqual(0);
    expect(one[1].times(two[1]).compare(sum[0])).toBeGreaterThanOrEqual(0);
  }
});

test("a ceiling close to an integer is decided with more bits", () => {
  // The formula is an integer plus or minus less than 2^-300, so the first bounds lie on both sides of it.
  const [low, high] = expBounds(fraction("1"), 400n);
  const near = (e: Fraction, at: Fraction) => new Fraction(10n).plus(at.minus(e));
  expect(ceilDecreasingInExp((e) => near(e, low), fraction("1"))).toBe(10n);
  expect(ceilDecreasingInExp((e) => near(e, high), fraction("1"))).toBe(11n);
  expect(ceilDecreasingInExp((e) => e, fraction("0"))).toBe(1n);
});
