/** What a report can reveal, as the odds of a guess. Only for display: nothing private is decided here. */
import { percent, text } from "./texts.ts";

/** How sure someone is of a guess beforehand, in the examples that people see. */
export const PRIOR = 0.01;

/**
 * How sure of a guess someone can be at most, who was `prior` sure and then sees something that is ε-private.
 *
 * Whatever it is, it multiplies the odds p/(1-p) by at most e^ε. The form with e^-ε does not overflow.
 */
export function surest(prior: number, epsilon: number): number {
  return prior / (prior + (1 - prior) * Math.exp(-epsilon));
}

/** How sure of a guess someone can be at most: rounded up, with more digits close to certainty. */
export function surestText(epsilon: number): string {
  const probability = surest(PRIOR, epsilon);
  const steps = probability < 0.99 ? 100 : 10_000;
  const shown = Math.ceil(probability * steps) / steps;
  return shown < 1 ? text("surePercent", percent(shown, 2)) : text("sureAlmost");
}
