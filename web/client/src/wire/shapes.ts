/**
 * Checks of values that come from a collector, or from a store that may be damaged.
 *
 * What is used later in a path, in exact arithmetic or in a database is checked here: reading 1e400000000 fills a memory.
 */

import { exact, type Fraction } from "../arithmetic.ts";
import { BlenderError, DocumentError } from "../errors.ts";
import { DIGEST, IDENTIFIER, WIRE_NUMBER } from "../generated/patterns.ts";

/** Return what `read` returns; throw `DocumentError` for anything that cannot be read or has another shape. */
export function asDocument<Value>(source: string, read: () => Value): Value {
  try {
    return read();
  } catch (error) {
    if (error instanceof BlenderError) throw error;
    throw new DocumentError(source, "cannot be read, or does not have the expected shape", "It is not used");
  }
}

/** Return the id of a round or a campaign. */
export function identifier(value: unknown): string {
  return matching(IDENTIFIER, value);
}

/** Return the digest that a document is fetched by, or a receipt. */
export function digestName(value: unknown): string {
  return matching(DIGEST, value);
}

/** Return a number that is written as a decimal or a fraction, and is neither huge nor tiny. */
export function number(value: unknown): Fraction {
  const written = matching(WIRE_NUMBER, value);
  if (/\/0+$/.test(written)) throw new TypeError();
  return exact(written, "number");
}

/** Return a whole number within bounds. */
export function whole(value: unknown, least: number, most: number): number {
  if (typeof value !== "number" || !Number.isSafeInteger(value) || value < least || value > most) throw new TypeError();
  return value;
}

/** Return a finite number: every comparison with NaN is false. */
export function finite(value: unknown): number {
  if (typeof value !== "number" || !Number.isFinite(value)) throw new TypeError();
  return value;
}

/** Return a string without unpaired surrogates, which UTF-8 cannot encode. */
export function text(value: unknown): string {
  if (typeof value !== "string" || /\p{Cs}/u.test(value)) throw new TypeError();
  return value;
}

/** Return a list. */
export function list(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw new TypeError();
  return value;
}

function matching(pattern: RegExp, value: unknown): string {
  if (!pattern.test(text(value))) throw new TypeError();
  return text(value);
}
