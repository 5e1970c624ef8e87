/** The randomiser of one device: a record goes in, randomised cells of the head list come out. */

import type { Fraction, Numeric } from "../arithmetic.ts";
import type { ListDigest } from "../digests.ts";
import { randomBytes } from "../entropy.ts";
import { ParameterError } from "../errors.ts";
import { atLeastOne, checkedDelta, checkedEpsilon } from "../records/checks.ts";
import { usableRecord } from "../records/personal.ts";
import type { Record } from "../records/record.ts";
import type { ReportingList } from "../records/reportingList.ts";
import { type AnyChannel, channelOf, wordsFrom } from "./subset.ts";
import { at, TwoStageChannel } from "./twoStage.ts";

/** A randomised report: the digest of the `ReportingList` it was made for, and the reported cells, sorted. */
export interface Report {
  readonly headList: ListDigest;
  readonly cells: readonly number[];
}

/** A device's own budget. Only the randomiser "two-stage" needs `delta`; the other one has no δ. */
export interface Budget {
  readonly epsilon: Numeric;
  readonly delta?: Numeric | undefined;
  readonly mC?: number | undefined;
}

type NextBytes = (count: number) => Uint8Array;

/**
 * One client. It has its own ε (and δ and m_c), and refuses a list whose channel was made for different ones.
 *
 * The queries, f_C and the subset size come from the list; whatever they are, the loss is within ε and δ. Each `report` is
 * (ε/m_c, δ/m_c)-differentially private for the record in the local model; the caller must count them. With the randomiser
 * "subset" δ is 0.
 */
export class Device {
  readonly #channel: AnyChannel;

  /** Check the list's channel against this device's own ε, δ and m_c. */
  constructor(
    readonly reportingList: ReportingList,
    { epsilon, delta, mC = 1 }: Budget,
  ) {
    const settings = reportingList.channel;
    const ownDelta = delta === undefined ? undefined : checkedDelta(delta);
    same("epsilon", settings.epsilon, checkedEpsilon(epsilon));
    same("m_c", settings.mC, atLeastOne(mC, "m_c"));
    if (settings.delta !== null) same("delta", settings.delta, ownDelta);
    this.#channel = channelOf(reportingList.headList, settings);
  }

  /**
   * Randomise one record with the browser's entropy.
   *
   * On a list of single items only the query counts; on one with URLs, a record without a URL is not a record. A device
   * with fewer than m_c records reports null for the rest: how many it has is private, too.
   */
  report(query: string | null, url: string | null = null): Promise<Report> {
    return this.randomise(this.#usable(query, url));
  }

  /** Randomise a record that is already canonical and usable: the time it takes hardly depends on the record. */
  randomise(record: Record): Promise<Report> {
    return this.#report(record, randomBytes);
  }

  /** The report that follows from these random bytes. For test vectors only; devices use `report`. */
  answer(query: string | null, url: string | null, bytes: Uint8Array): Promise<Report> {
    let start = 0;
    return this.#report(this.#usable(query, url), (count) => {
      if (start + count > bytes.length) {
        throw new ParameterError("randomBytes", `${bytes.length} bytes are too few`, "Pass more");
      }
      start += count;
      return bytes.subarray(start - count, start);
    });
  }

  #usable(query: string | null, url: string | null): Record {
    return usableRecord(query, url, this.reportingList.headList.levels);
  }

  async #report(record: Record, nextBytes: NextBytes): Promise<Report> {
    const { headList } = this.reportingList;
    const nextWord = () => littleEndian(nextBytes(8));
    const truth = headList.position(record);
    const reported =
      this.#channel instanceof TwoStageChannel
        ? [this.#channel.respond(truth, nextWord(), nextWord())]
        : this.#channel.respond(truth, wordsFrom(nextWord));
    const cells = reported.map(([query, url]) => at(headList.starts, query) + url).sort((a, b) => a - b);
    return { headList: await this.reportingList.digest(), cells };
  }
}

/** A word of 64 bits from eight bytes. */
function littleEndian(bytes: Uint8Array): bigint {
  return new DataView(bytes.buffer, bytes.byteOffset, 8).getBigUint64(0, true);
}

function same(field: string, listed: Fraction | number, own: Fraction | number | undefined): void {
  if (`${listed}` !== `${own}`) {
    const problem = `the list was made for ${listed}, but this device has ${own ?? "none"}`;
    throw new ParameterError(field, problem, "Do not use this list; a device never changes its own budget");
  }
}
