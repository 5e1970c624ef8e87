/** Checks of single parameters as exact numbers. */

import { exact, Fraction, type Numeric, ONE, readExact, ZERO } from "../arithmetic.ts";
import { ParameterError } from "../errors.ts";
import { LARGEST, LARGEST_EPSILON, SMALLEST_EPSILON } from "../generated/limits.ts";

/** Return ε as a fraction; it must be positive and small enough to protect anyone. */
export function checkedEpsilon(value: Numeric, field = "epsilon"): Fraction {
  const epsilon = exact(value, field);
  const [smallest, largest] = [readExact(SMALLEST_EPSILON, field), readExact(LARGEST_EPSILON, field)];
  if (epsilon.compare(smallest) < 0 || epsilon.compare(largest) > 0) {
    throw new ParameterError(field, `${value} is not between ${smallest} and ${largest}`, "Use a value such as 1 or 4");
  }
  return epsilon;
}

/** Return δ as a fraction strictly between 0 and 1. */
export function checkedDelta(value: Numeric, field = "delta"): Fraction {
  return openUnit(value, field);
}

/** Return a number strictly between 0 and 1 as a fraction. */
export function openUnit(value: Numeric, field: string): Fraction {
  const number = exact(value, field);
  if (number.compare(ZERO) <= 0 || number.compare(ONE) >= 0) {
    throw new ParameterError(field, `${value} is not between 0 and 1 (both excluded)`, "Use a value between them");
  }
  return number;
}

/** Return a whole number from 1 to the largest one that a channel may have. */
export function atLeastOne(value: Numeric, field: string): number {
  const number = exact(value, field);
  if (number.denominator !== 1n || number.compare(ONE) < 0 || number.compare(new Fraction(BigInt(LARGEST))) > 0) {
    throw new ParameterError(field, `${value} is not a whole number from 1 to ${LARGEST}`, "Use 1 or more");
  }
  return Number(number.numerator);
}
