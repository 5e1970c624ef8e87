/** Checks of what a user pins: a typing mistake must not look like a dishonest collector. */

import { exact, type Fraction, type Numeric, ZERO } from "../arithmetic.ts";
import { ParameterError } from "../errors.ts";
import { IDENTIFIER } from "../generated/patterns.ts";

const KEY = /^[A-Za-z0-9+/]{43}=$/; // 32 bytes in base64

/** Return a public key, if it is valid. */
export function checkedKey(key: unknown): string {
  if (typeof key === "string" && KEY.test(key)) return key;
  throw new ParameterError("key", "is not an Ed25519 key (base64 of 32 bytes)", "Copy the key that the collector shows");
}

/** Return a campaign's id, if it is valid. */
export function checkedCampaign(campaign: unknown): string {
  if (typeof campaign === "string" && IDENTIFIER.test(campaign)) return campaign;
  throw new ParameterError("campaign", "is not a campaign's id (32 hexadecimal digits)", "Pin the id");
}

/** Return a number that is 0 or more, as a fraction. */
export function notNegative(value: Numeric, field: string): Fraction {
  const number = exact(value, field);
  if (number.compare(ZERO) < 0) throw new ParameterError(field, `${value} is negative`, "Use 0 or more");
  return number;
}
