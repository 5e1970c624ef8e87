/**
 * A device's own account: everything it has sent, what that has cost, and how it may change.
 *
 * It is stored as the JSON that the Python device stores. These are the pure rules; `accountStore.ts` stores it.
 */

import { Fraction, ZERO } from "../arithmetic.ts";
import { DocumentError, StateError } from "../errors.ts";
import { MAX_ROUNDS } from "../generated/limits.ts";
import { asDocument, digestName, finite, identifier, text, whole } from "../wire/shapes.ts";

// What this device writes as a cost; a short string such as 1e999999999 could stand for an enormous number.
const COST = /^([0-9]{1,1000})(?:\/(0{0,9}[1-9][0-9]{0,999}))?$/;

/** What a device allows, whatever a collector asks for: ε per round, ε in its lifetime, and the time between rounds. */
export interface Limits {
  readonly epsilon: Fraction;
  readonly lifetimeEpsilon: Fraction;
  readonly leastSeconds: number;
}

/** One report in the account: its round, cost and exact bytes, and whether they have arrived or their round is over. */
export interface Sent {
  readonly campaign: string;
  /** The number of the round, which only rises. */
  readonly round: number;
  readonly round_id: string;
  /** Its cost, exactly, as "4" or "7/3". */
  readonly epsilon: string;
  /** The exact text that leaves, every time. */
  readonly body: string;
  /** Whether the collector has confirmed it. */
  readonly arrived: boolean;
  /** Whether its round ended before it arrived; it is not sent again. */
  readonly over: boolean;
}

/**
 * An opt-in user's upload in the account: its round, its cost, and the receipt that withdraws it.
 *
 * It is stored before anything leaves, and stays, `withdrawn` or not: the device does not report in this round. Whether
 * there was a record is not stored.
 */
export interface Uploaded {
  readonly campaign: string;
  readonly round_id: string;
  /** What withdraws the record: nobody else knows it. */
  readonly receipt: string;
  /** The number of the round; 0 in an upload of an earlier version, which has no ε or δ either. */
  readonly round: number;
  readonly epsilon: string | null;
  readonly delta: string | null;
  /** Whether the collector has confirmed that it was withdrawn. */
  readonly withdrawn: boolean;
  /** Whether the user wants to withdraw it: nothing more is uploaded in its round. */
  readonly stopped: boolean;
}

type Rounds = Record<string, number>;
type Stored = Record<string, unknown>;

/** Everything, for all campaigns. A round is looked up with its campaign: another collector could use the same id. */
export class Account {
  constructor(
    public sent: Sent[] = [],
    public records: Uploaded[] = [],
    /** For each campaign, the highest round that this device participated in. */
    public newest: Rounds = {},
    /** For each campaign, the round whose bundle it searches. */
    public bundles: Rounds = {},
    /** When something was last charged, by the device's clock. */
    public charged: number | null = null,
    /** The lifetime ε that the user has agreed to, exactly. */
    public limit: string | null = null,
  ) {}

  /** The account as stored. One that cannot be read is not replaced: its budget may be used up. */
  static parse(stored: unknown): Account {
    return asDocument("account", () => {
      const { sent, records, newest, bundles, charged, limit = null } = JSON.parse(text(stored));
      return new Account(
        array(sent).map(checkedSent),
        array(records).map(checkedUpload),
        checkedRounds(newest),
        checkedRounds(bundles),
        charged === null ? null : finite(charged),
        checkedCost(limit),
      );
    });
  }

  /** The cost of all reports and uploads; `unknown` is for an upload that an earlier version did not charge. */
  spent(unknown: Fraction): Fraction {
    return [...this.sent, ...this.records].reduce((sum, one) => sum.plus(cost(one.epsilon) ?? unknown), ZERO);
  }

  /** What all rounds may cost: no more than the user has agreed to, whatever an application wants later. */
  lifetime(wanted: Fraction): Fraction {
    const agreed = cost(this.limit);
    return agreed && agreed.compare(wanted) < 0 ? agreed : wanted;
  }

  /** The report of a round, if there is one. */
  report(campaign: string, roundId: string): Sent | undefined {
    return this.sent.find((one) => one.campaign === campaign && one.round_id === roundId);
  }

  /** The upload of a round, withdrawn or not, if there is one. */
  record(campaign: string, roundId: string): Uploaded | undefined {
    return this.records.find((one) => one.campaign === campaign && one.round_id === roundId);
  }

  /**
   * Add a report or an upload that is about to leave, if its round is new, the budget allows it and time has passed.
   *
   * A round is identified by its number, because the signer of documents chooses ids at will.
   */
  charge(entry: Sent | Uploaded, epsilon: Fraction, limits: Limits, now: number): void {
    // If the clock was set back, the wait starts again, so that it neither ends early nor lasts for years.
    if (this.charged !== null && now < this.charged) this.charged = now;
    if (entry.round <= (this.newest[entry.campaign] ?? 0)) {
      const problem = "belongs to a round that this device participated in, or to an older round";
      throw new DocumentError("signed document", problem, "Wait for the next round");
    }
    const lifetime = this.lifetime(limits.lifetimeEpsilon);
    if (this.spent(limits.epsilon).plus(epsilon).compare(lifetime) > 0) {
      throw new StateError("budget", "of this device is used up", "Do not participate in more rounds");
    }
    if (this.charged !== null && now < this.charged + limits.leastSeconds) {
      const wait = `Wait ${limits.leastSeconds.toFixed(0)} s between rounds`;
      throw new StateError("budget", "was charged a short while ago", wait);
    }
    if ("receipt" in entry) this.records.push(entry);
    else this.sent.push(entry);
    this.newest[entry.campaign] = entry.round;
    this.charged = now;
    this.limit = `${lifetime}`;
  }

  /** Note that the user withdraws all uploads of a campaign, whether or not the collector hears of it. */
  stop(campaign: string): void {
    this.records = this.records.map((one) => (one.campaign === campaign ? { ...one, stopped: true } : one));
  }

  /** Note that an upload was withdrawn. It stays charged: the collector has seen it. */
  withdraw(upload: Uploaded): void {
    this.records = this.records.map((one) => (one.receipt === upload.receipt ? { ...one, withdrawn: true } : one));
  }

  /** Note whether a report has arrived; one that has arrived stays so. */
  settle(sent: Sent, arrived: boolean): Sent {
    const place = this.sent.findIndex((one) => one.campaign === sent.campaign && one.round_id === sent.round_id);
    const known = this.sent[place] ?? sent;
    const settled = { ...known, arrived: arrived || known.arrived, over: !(arrived || known.arrived) };
    if (place >= 0) this.sent[place] = settled;
    return settled;
  }
}

function cost(written: string | null): Fraction | null {
  const parts = COST.exec(written ?? "");
  return parts && new Fraction(BigInt(parts[1] ?? 0), BigInt(parts[2] ?? 1));
}

function checkedSent(stored: Stored): Sent {
  const { epsilon, body, arrived = false, over = false, ...round } = stored;
  return {
    ...checkedRound(round),
    epsilon: checkedCost(text(epsilon)) ?? "",
    body: text(body),
    arrived: flag(arrived),
    over: flag(over),
  };
}

function checkedUpload(stored: Stored): Uploaded {
  const { receipt, round = 0, epsilon = null, delta = null, withdrawn = false, stopped = false, ...rest } = stored;
  return {
    ...checkedRound({ round, ...rest }),
    receipt: digestName(receipt),
    epsilon: checkedCost(epsilon),
    delta: checkedCost(delta),
    withdrawn: flag(withdrawn),
    stopped: flag(stopped),
  };
}

function checkedRound({ campaign, round, round_id, ...more }: Stored): Pick<Sent, "campaign" | "round" | "round_id"> {
  if (Object.keys(more).length) throw new TypeError();
  return { campaign: text(campaign), round: whole(round, 0, MAX_ROUNDS), round_id: identifier(round_id) };
}

function checkedRounds(stored: unknown): Rounds {
  if (typeof stored !== "object" || stored === null || Array.isArray(stored)) throw new TypeError();
  return Object.fromEntries(Object.entries(stored).map(([name, number]) => [name, whole(number, 0, MAX_ROUNDS)]));
}

function checkedCost(value: unknown): string | null {
  if (value !== null && !COST.test(text(value))) throw new TypeError();
  return value as string | null;
}

function flag(value: unknown): boolean {
  if (typeof value !== "boolean") throw new TypeError();
  return value;
}

function array(value: unknown): Stored[] {
  if (!Array.isArray(value)) throw new TypeError();
  return value;
}
