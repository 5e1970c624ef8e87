/**
 * The local channel that reports several queries at once, for long lists and small ε.
 *
 * A report is a set of `size` queries with one URL each. The true query is among them with a weight of `truth` over 2^64;
 * the others are a uniform choice, and each of them has a uniform URL. The true query's URL is kept or replaced as in
 * `twoStage.ts`, by `urlSteps`.
 */

import { ceilDecreasingInExp, expBounds, Fraction, floorDivide, ONE, smallest } from "../arithmetic.ts";
import type { HeadList, Position } from "../records/headList.ts";
import type { ChannelSettings } from "../records/reportingList.ts";
import { at, lieStep, ownUrl, remembered, skip, splitBudget, TwoStageChannel, WORDS } from "./twoStage.ts";

/** Returns a uniform integer below its argument. */
export type Draw = (bound: bigint) => bigint;

/** The channel of either randomiser. */
export type AnyChannel = TwoStageChannel | SubsetChannel;

/** Subset selection with a URL attached to every reported query, as integers. Lists are indexed by query, ⋆ last. */
export class SubsetChannel {
  constructor(
    readonly size: number,
    readonly truth: bigint,
    readonly urlCounts: readonly number[],
    readonly urlSteps: readonly bigint[],
  ) {}

  /**
   * Turn a true position into the reported ones.
   *
   * The draws do not depend on the position: a word for the query, one for the URL, `size` numbers for a uniform choice of
   * the other queries (Floyd's), the place of the true query if it is reported, and a URL for each. Their order reveals the
   * true one: the cells must be sorted before they are sent.
   */
  respond([query, url]: Position, draw: Draw): readonly Position[] {
    const below = (bound: number) => Number(draw(BigInt(bound)));
    const [isKept, honest] = [draw(WORDS) < this.truth, draw(WORDS)];
    const others = this.urlCounts.length - 1;
    const chosen: number[] = [];
    for (let last = others - this.size; last < others; last++) {
      const number = below(last + 1);
      chosen.push(chosen.includes(number) ? last : number);
    }
    const place = below(this.size);
    const reported = chosen.map((number): Position => {
      const other = skip(number, query);
      return [other, below(at(this.urlCounts, other))];
    });
    const own: Position = [query, ownUrl(url, honest, at(this.urlCounts, query), at(this.urlSteps, query))];
    return isKept ? reported.with(place, own) : reported;
  }
}

/** The integers of a list's channel, the same for devices, estimates and audits. */
export function channelOf(headList: HeadList, settings: ChannelSettings): AnyChannel {
  return settings.delta === null ? slackFree(headList, settings) : TwoStageChannel.of(headList, settings, settings.delta);
}

/**
 * The channel whose worst loss is exactly ε, without the slack of composition: δ is not needed.
 *
 * The query's odds are those of ε_Q = f_c·ε; the URL's are what the whole ε still allows. With size 1 it is the two-stage
 * response with other URL steps. A report names fewer queries than the list has, so the size may be lowered.
 */
function slackFree(headList: HeadList, settings: ChannelSettings): AnyChannel {
  const [counts, queries] = [headList.urlCounts, headList.entries.length + 1];
  const [forQuery, forUrl] = splitBudget(headList.levels, settings);
  const named = Math.min(settings.subsetSize, Math.max(1, queries - 1));
  if (named === 1) {
    const step = lieStep(queries, forQuery);
    const honest = singleHonest(queries, step, forQuery.plus(forUrl));
    return new TwoStageChannel(step, counts, counts.map(remembered((count) => urlStep(count, honest(count)))));
  }
  const rest = new Fraction(BigInt(queries - named));
  const size = new Fraction(BigInt(named));
  const lie = ceilDecreasingInExp((e) => rest.times(new Fraction(WORDS)).over(size.times(e).plus(rest)), forQuery);
  const honest = subsetHonest(forQuery, forUrl);
  return new SubsetChannel(named, WORDS - lie, counts, counts.map(remembered((count) => urlStep(count, honest(count)))));
}

/**
 * The maximum number of words that may keep the true URL when one query is reported.
 *
 * Limited by another URL of the same query, and by a replaced query, whose URLs have ⌊2^64 / count⌋ words or more.
 */
function singleHonest(queries: number, step: bigint, epsilon: Fraction): (count: number) => bigint {
  const remaining = new Fraction(WORDS - BigInt(queries - 1) * step);
  const [low] = expBounds(epsilon);
  return (count) => {
    const siblings = low.over(low.plus(new Fraction(BigInt(count - 1)))).times(new Fraction(WORDS));
    const replaced = low.times(new Fraction(step * (WORDS / BigInt(count)))).over(remaining);
    return queries === 1 ? WORDS : smallest(siblings, replaced, new Fraction(WORDS)).floor();
  };
}

/**
 * The maximum number of words that may keep the true URL when several queries are reported.
 *
 * The first bound keeps e^ε between the true query and a replaced one; the second prevents a replaced URL from revealing
 * that its query is not the true one, where another reported query may be.
 */
function subsetHonest(forQuery: Fraction, forUrl: Fraction): (count: number) => bigint {
  const [[lowQuery], [lowUrl]] = [expBounds(forQuery), expBounds(forUrl)];
  return (count) => {
    const all = new Fraction(BigInt(count));
    const second = ONE.minus(all.minus(ONE).over(lowQuery.times(all)));
    return smallest(lowUrl.over(all), second, ONE).times(new Fraction(WORDS)).floor();
  };
}

/** The number of words of each replaced URL, rounded up. */
function urlStep(count: number, honest: bigint): bigint {
  return count === 1 ? 0n : -floorDivide(honest - WORDS, BigInt(count - 1));
}

/** Uniform integers below a bound, from eight bytes each; words that would favour some integers are rejected. */
export function wordsFrom(nextWord: () => bigint): Draw {
  return (bound) => {
    const step = WORDS / bound;
    for (;;) {
      const index = nextWord() / step;
      if (index < bound) return index;
    }
  };
}
