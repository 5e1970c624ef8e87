/**
 * The local channel: the integers that decide every report.
 *
 * A report is decided by two random words of 64 bits. The first one chooses the query: below `(k-1) * queryStep` it names
 * one of the k-1 other queries (each has exactly `queryStep` of the 2^64 words); otherwise the true query is kept. The
 * second one chooses the URL, in the same way with `urlSteps[q]` if the query was kept, uniformly if it was replaced.
 *
 * The steps are rounded up, that is, towards lying more often.
 */

import { ceilDecreasingInExp, Fraction, ONE, smallest, ZERO } from "../arithmetic.ts";
import { ParameterError } from "../errors.ts";
import type { HeadList, Position } from "../records/headList.ts";
import type { ChannelSettings } from "../records/reportingList.ts";

/** The number of values of a random word. */
export const WORDS = 1n << 64n;

const TWO = new Fraction(2n);
// Below this, rounding the steps by up to k words would start to affect the loss.
const LEAST_EPSILON = new Fraction(1n, 1n << 20n);

/** The two-stage randomised response of one head list, as integers over 2^64. Lists are indexed by query, ⋆ last. */
export class TwoStageChannel {
  constructor(
    readonly queryStep: bigint,
    readonly urlCounts: readonly number[],
    readonly urlSteps: readonly bigint[],
  ) {}

  /** Compute the channel of a list: LocalAlg's t and t_q for a budget of ε/m_c and δ/m_c per report. */
  static of(headList: HeadList, settings: ChannelSettings, delta: Fraction): TwoStageChannel {
    const perReport = delta.over(new Fraction(BigInt(settings.mC)));
    const [forQuery, forUrl] = splitBudget(headList.levels, settings);
    const deltaQuery = perReport.times(forQuery).over(forQuery.plus(forUrl));
    const counts = headList.urlCounts;
    const urlStep = remembered((count: number) => lieStep(count, forUrl, perReport.minus(deltaQuery)));
    return new TwoStageChannel(lieStep(counts.length, forQuery, deltaQuery), counts, counts.map(urlStep));
  }

  /** Turn a true position and two random words into the reported position. This *is* LocalAlg. */
  respond([query, url]: Position, first: bigint, second: bigint): Position {
    if (first < BigInt(this.urlCounts.length - 1) * this.queryStep) {
      const other = skip(Number(first / this.queryStep), query);
      return [other, Number((second * BigInt(at(this.urlCounts, other))) / WORDS)];
    }
    return [query, ownUrl(url, second, at(this.urlCounts, query), at(this.urlSteps, query))];
  }
}

/** The URL to report for the true query: a word below `(count - 1) * step` replaces it. */
export function ownUrl(url: number, word: bigint, count: number, step: bigint): number {
  return word < BigInt(count - 1) * step ? skip(Number(word / step), url) : url;
}

/** The ε that a report may spend on the query and on the URL. With one level there is no URL to choose. */
export function splitBudget(levels: 1 | 2, { epsilon, fC, mC }: ChannelSettings): readonly [Fraction, Fraction] {
  const budget = epsilon.over(new Fraction(BigInt(mC)));
  const forQuery = levels === 2 ? fC.times(budget) : budget;
  const forUrl = budget.minus(forQuery);
  if ((levels === 2 ? smallest(forQuery, forUrl) : forQuery).compare(LEAST_EPSILON) < 0) {
    const problem = `leaves less than ${LEAST_EPSILON} for one of the choices in a report`;
    throw new ParameterError("epsilon", problem, "Raise epsilon, move f_c away from 0 and 1, or lower m_c");
  }
  return [forQuery, forUrl];
}

/**
 * The number of words that name each false choice: ⌈2^64 (1 - δ/2) / (e^ε + choices - 1)⌉, or 0 with one choice.
 *
 * The truth gets the rest, 2^64 - (choices - 1) * step, which is at most e^ε * step + (δ/2) * 2^64.
 */
export function lieStep(choices: number, epsilon: Fraction, delta: Fraction = ZERO): bigint {
  if (choices === 1) return 0n;
  const honest = ONE.minus(delta.over(TWO)).times(new Fraction(WORDS));
  const others = new Fraction(BigInt(choices - 1));
  return ceilDecreasingInExp((e) => honest.over(e.plus(others)), epsilon);
}

/** The index-th choice that is not the truth. */
export function skip(index: number, truth: number): number {
  return index + Number(index >= truth);
}

/** An item that is there: an index comes from the list itself. */
export function at<Item>(items: readonly Item[], index: number): Item {
  const item = items[index];
  if (item === undefined) throw new RangeError("no such item");
  return item;
}

/** The same function, computed once for every argument: long lists have few different numbers of URLs. */
export function remembered<Result>(compute: (count: number) => Result): (count: number) => Result {
  const results = new Map<number, Result>();
  return (count) => {
    const result = results.get(count) ?? compute(count);
    results.set(count, result);
    return result;
  };
}
