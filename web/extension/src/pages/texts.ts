/** All texts are in _locales: translated by adding a folder there. A key that does not exist is an error of the compiler. */
import type messages from "../../_locales/en/messages.json";

export type Key = keyof typeof messages;
type CountedKey = Key extends infer K ? (K extends `${infer Name}_other` ? Name : never) : never;

/** A text, with its placeholders $1, $2, … replaced. */
export function text(key: Key, ...values: readonly (string | number)[]): string {
  return chrome.i18n.getMessage(key, values.map(String));
}

/** A text about a number of things; $1 is the number. */
export function counted(name: CountedKey, count: number): string {
  const form = new Intl.PluralRules(language()).select(count);
  const shown = number(count);
  return text(`${name}_${form}` as Key, shown) || text(`${name}_other`, shown);
}

/** A number as the texts' language writes it. */
export function number(value: number, digits = 2): string {
  return new Intl.NumberFormat(language(), { maximumFractionDigits: digits }).format(value);
}

/** A share as a percentage with one digit. */
export function percent(share: number, digits = 1): string {
  return new Intl.NumberFormat(language(), { style: "percent", maximumFractionDigits: digits }).format(share);
}

/** A moment, given in seconds since 1970. */
export function moment(seconds: number): string {
  const shape = { weekday: "short", day: "numeric", month: "short", hour: "numeric", minute: "2-digit" } as const;
  return new Intl.DateTimeFormat(language(), shape).format(seconds * 1000);
}

/** Sets the page's language and title, which HTML files cannot take from _locales. */
export function titled(key: Key): void {
  document.documentElement.lang = language();
  document.title = text(key);
}

function language(): string {
  return text("language");
}
