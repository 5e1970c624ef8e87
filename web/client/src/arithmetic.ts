/**
 * Exact numbers: parameters as fractions of integers, and e^x bounded by two fractions.
 *
 * Private outcomes are decided by integers only. Where a formula contains e^x, the integer is determined by bounds on
 * both sides of the real value, so every machine and every language computes the same one.
 */

import { ParameterError } from "./errors.ts";
import { MOST_DIGITS } from "./generated/limits.ts";
import { EXACT_TEXT } from "./generated/patterns.ts";

/** An exact rational number in lowest terms. */
export class Fraction {
  readonly numerator: bigint;
  readonly denominator: bigint;

  constructor(numerator: bigint, denominator = 1n) {
    if (denominator === 0n) throw new RangeError("division by zero");
    const divisor = greatestCommonDivisor(numerator, denominator) * (denominator < 0n ? -1n : 1n);
    this.numerator = numerator / divisor;
    this.denominator = denominator / divisor;
  }

  /** The sum. */
  plus(other: Fraction): Fraction {
    return new Fraction(
      this.numerator * other.denominator + other.numerator * this.denominator,
      this.denominator * other.denominator,
    );
  }

  /** The difference. */
  minus(other: Fraction): Fraction {
    return this.plus(new Fraction(-other.numerator, other.denominator));
  }

  /** The product. */
  times(other: Fraction): Fraction {
    return new Fraction(this.numerator * other.numerator, this.denominator * other.denominator);
  }

  /** The quotient. */
  over(other: Fraction): Fraction {
    return new Fraction(this.numerator * other.denominator, this.denominator * other.numerator);
  }

  /** Negative, zero or positive, as this number is below, equal to or above the other. */
  compare(other: Fraction): number {
    const difference = this.numerator * other.denominator - other.numerator * this.denominator;
    return Number(difference > 0n) - Number(difference < 0n);
  }

  /** The largest integer that is not above. */
  floor(): bigint {
    return floorDivide(this.numerator, this.denominator);
  }

  /** The smallest integer that is not below. */
  ceil(): bigint {
    return -floorDivide(-this.numerator, this.denominator);
  }

  /** The published form: "4" or "7/3". */
  toString(): string {
    return `${this.numerator}${this.denominator === 1n ? "" : `/${this.denominator}`}`;
  }
}

/** The types that a parameter may have. */
export type Numeric = number | bigint | string | Fraction;

export const ZERO = new Fraction(0n);
export const ONE = new Fraction(1n);

const FIRST_BITS = 256n;
const NUMBER = /^\s*([-+]?)(?=\d|\.\d)(\d*)(?:\/(\d+)|(?:\.(\d*))?(?:e([-+]?\d+))?)\s*$/i;

/**
 * Read a number as the exact fraction that was written: 0.1 is 1/10, not the nearest binary float.
 *
 * A number of more than 350 digits is refused before it costs time, and before anyone publishes it.
 */
export function exact(value: Numeric, field: string): Fraction {
  if (value instanceof Fraction) return value;
  const text = String(value);
  if (digits(text) > MOST_DIGITS) {
    throw new ParameterError(field, `has more than ${MOST_DIGITS} digits`, "Use a decimal number such as 0.5");
  }
  const parts = /^(number|bigint|string)$/.test(typeof value) ? NUMBER.exec(text) : null;
  if (!parts || /^0+$/.test(parts[3] ?? "")) {
    throw new ParameterError(field, `${text} is not a finite number`, "Use a decimal number such as 0.5");
  }
  const [, sign, whole = "", denominator = "1", decimals = "", exponent = "0"] = parts;
  const shift = Number(exponent) - decimals.length;
  const power = new Fraction(10n ** BigInt(Math.abs(shift)));
  const number = new Fraction(BigInt(sign === "-" ? -1 : 1) * BigInt(whole + decimals), BigInt(denominator));
  return shift < 0 ? number.over(power) : number.times(power);
}

/** An upper bound on the digits of numerator and denominator, without computing them. */
function digits(text: string): number {
  const [number = "", exponent = "0"] = text.toLowerCase().split("e");
  return number.length + (Math.abs(Number(exponent)) || 0);
}

/** Read a published exact number, as `Fraction.toString` writes it; other spellings are refused. */
export function readExact(text: string, field: string): Fraction {
  const number = EXACT_TEXT.test(text) ? exact(text, field) : null;
  if (!number || number.toString() !== text) {
    throw new ParameterError(field, "is not an exact number in lowest terms", 'Use a string such as "4" or "7/3"');
  }
  return number;
}

/** Return two fractions with `low <= e^x <= high` for x >= 0, about `bits` bits apart. */
export function expBounds(x: Fraction, bits = FIRST_BITS): readonly [Fraction, Fraction] {
  // e^x = (e^(x / 2^halvings))^(2^halvings), with x / 2^halvings below 1. Numbers are integers over 2^bits.
  const halvings = BigInt(x.floor().toString(2).length);
  let [low, high] = seriesBounds(x.numerator, x.denominator << halvings, 1n << bits);
  for (let i = 0n; i < halvings; i++) {
    low = (low * low) >> bits;
    high = -(-(high * high) >> bits); // a shift rounds down
  }
  return [new Fraction(low, 1n << bits), new Fraction(high, 1n << bits)];
}

/** Bounds of e^(numerator / denominator) times `unit` for an exponent from 0 to 1, by its series. */
function seriesBounds(numerator: bigint, denominator: bigint, unit: bigint): [bigint, bigint] {
  let [low, high, lowTerm, highTerm] = [unit, unit, unit, unit];
  for (let n = 1n; highTerm > 1n; n++) {
    lowTerm = (lowTerm * numerator) / (denominator * n);
    highTerm = -floorDivide(-highTerm * numerator, denominator * n);
    low += lowTerm;
    high += highTerm;
  }
  return [low, high + 1n]; // the terms that are left out are together smaller than the last one, which is at most 1
}

/**
 * Return the exact ceiling of `formula(e^x)` for a formula that decreases in e^x.
 *
 * e^x is transcendental for rational x other than 0, so with enough bits the bounds exclude every integer.
 */
export function ceilDecreasingInExp(formula: (e: Fraction) => Fraction, x: Fraction): bigint {
  if (x.numerator === 0n) return formula(ONE).ceil();
  for (let bits = FIRST_BITS; ; bits *= 2n) {
    const [low, high] = expBounds(x, bits);
    const ceiling = formula(low).ceil();
    if (formula(high).ceil() === ceiling) return ceiling;
  }
}

/** The smaller of two or more numbers. */
export function smallest(first: Fraction, ...rest: Fraction[]): Fraction {
  return rest.reduce((least, one) => (one.compare(least) < 0 ? one : least), first);
}

/** The quotient of two integers, rounded down; the divisor is positive. */
export function floorDivide(numerator: bigint, divisor: bigint): bigint {
  return (numerator - (((numerator % divisor) + divisor) % divisor)) / divisor;
}

function greatestCommonDivisor(a: bigint, b: bigint): bigint {
  let [x, y] = [a < 0n ? -a : a, b < 0n ? -b : b];
  while (y) [x, y] = [y, x % y];
  return x;
}
