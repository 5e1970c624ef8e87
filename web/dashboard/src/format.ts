/** Numbers and times as the reader's own language writes them. */

const LANGUAGES = typeof navigator === "undefined" ? undefined : [...navigator.languages];

const whole = new Intl.NumberFormat(LANGUAGES, { maximumFractionDigits: 0 });
const precise = new Intl.NumberFormat(LANGUAGES, { maximumSignificantDigits: 3 });
const signed = new Intl.NumberFormat(LANGUAGES, {
  signDisplay: "exceptZero",
  minimumFractionDigits: 2,
  maximumFractionDigits: 2,
});
const times = new Intl.DateTimeFormat(LANGUAGES, { dateStyle: "medium", timeStyle: "short" });

/** A whole number. */
export function count(value: number): string {
  return whole.format(value);
}

/** A number of things: "1 change", "2 changes". */
export function counted(value: number, one: string, many: string): string {
  return `${count(value)} ${value === 1 ? one : many}`;
}

/** A number with three digits. */
export function number(value: number): string {
  return precise.format(value);
}

/** A share as a percentage, with as many digits as its size needs. */
export function percent(share: number): string {
  const size = Math.abs(share);
  const digits = size === 0 ? 0 : size >= 0.0995 ? 1 : size >= 0.00995 ? 2 : 3;
  return new Intl.NumberFormat(LANGUAGES, {
    style: "percent",
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  }).format(share);
}

/** A difference between shares, in percentage points, with its sign. */
export function points(difference: number): string {
  return `${signed.format(100 * difference)} pp`;
}

/** An interval of differences, in percentage points. */
export function pointsInterval(low: number, high: number): string {
  return `${signed.format(100 * low)} to ${signed.format(100 * high)}`;
}

/** A time in seconds since 1970. */
export function time(seconds: number): string {
  return times.format(new Date(1000 * seconds));
}

/** An interval of shares. */
export function interval(low: number, high: number): string {
  return `${percent(low)} to ${percent(high)}`;
}

/** How long ago or until a time, in words. */
export function distance(seconds: number): string {
  const relative = new Intl.RelativeTimeFormat(LANGUAGES, { numeric: "auto" });
  const size = Math.abs(seconds);
  if (size < 90) return relative.format(Math.round(seconds), "second");
  if (size < 5400) return relative.format(Math.round(seconds / 60), "minute");
  if (size < 129_600) return relative.format(Math.round(seconds / 3600), "hour");
  return relative.format(Math.round(seconds / 86_400), "day");
}
