/** What an agent is opened with, and what it shows of its account. */

import type { Numeric } from "../arithmetic.ts";
import type { Sent, Uploaded } from "./account.ts";

/** What a user or an application pins. None of it comes from the collector. Numbers are read exactly: 0.1 is 1/10. */
export interface AgentOptions {
  /** The collector's address: https, or http to localhost or 127.0.0.1. */
  readonly collector: string;
  /** The collector's public key (Ed25519, base64). */
  readonly key: string;
  /** The campaign's id. */
  readonly campaign: string;
  /** What one round may cost. */
  readonly epsilon: Numeric;
  /** What all rounds together may cost. A larger value than before counts only after `agreeToLimit`. */
  readonly lifetimeEpsilon: Numeric;
  /** The largest δ of a round that an opt-in user's record is uploaded to; without it nothing is uploaded. */
  readonly delta?: Numeric | null;
  /** The minimum time between two rounds; one day by default. */
  readonly leastSeconds?: number;
  /** The database with the account; "blender-dp" by default. Another one is another device, with a budget of its own. */
  readonly database?: string;
  /** The time in seconds since 1970; the browser's clock by default. */
  readonly clock?: () => number;
  /** How long a request and its response may take; 120 seconds by default. */
  readonly seconds?: number;
}

/** What the account contains, to show to its user. */
export interface AccountView {
  /** Every report that has left this device. */
  readonly sent: readonly Sent[];
  /** Every upload of this device, withdrawn or not. */
  readonly uploaded: readonly Uploaded[];
  /** The ε that all rounds may cost: what the user has agreed to, or what the agent was opened with if that is less. */
  readonly limit: string;
  /** The ε of all reports and uploads, exactly, as "4" or "7/3". */
  readonly spent: string;
  /** The ε that this device may still spend in its lifetime. */
  readonly left: string;
  /** When something was last charged, in seconds since 1970; null if nothing was. */
  readonly charged: number | null;
}
