/** Exact numbers of the account, for people. */
import { exact } from "@blender-dp/client";
import { number } from "./texts.ts";

const SCALE = 10n ** 12n;

/** An exact number as a float, for bars and odds. */
export function approximate(value: string): number {
  const { numerator, denominator } = exact(value, "number");
  return Number((numerator * SCALE) / denominator) / Number(SCALE); // also for numbers of hundreds of digits
}

/** How many whole rounds a budget pays for. */
export function roundsIn(budget: string, epsilon: string): number {
  return Number(exact(budget, "budget").over(exact(epsilon, "epsilon")).floor());
}

/** An exact number with at most two digits after the point. */
export function rounded(value: string): string {
  return number(approximate(value));
}

/** A small probability as the number n of "1 in n", rounded down. */
export function oneIn(probability: string): string {
  const { numerator, denominator } = exact(probability, "probability");
  return number(Number(denominator / numerator), 0);
}
