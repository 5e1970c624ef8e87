/** What has been spent and what remains: a bar, rounds, and the exact numbers. */
import type { Campaign, Status } from "../shared/messages.ts";
import { drawing, element } from "./dom.ts";
import { approximate, rounded, roundsIn } from "./exactNumbers.ts";
import { PRIOR, surestText } from "./odds.ts";
import { counted, percent, text } from "./texts.ts";

/** The card, for someone with a collector; null if the account cannot be read. */
export function budgetCard({ spent, remaining, left, consent }: Status, { epsilon }: Campaign): HTMLElement | null {
  if (spent === null || remaining === null) return null;
  const share = used(spent, remaining);
  const total = String(approximate(spent) + approximate(remaining));
  const worst = consent !== "opt-in" && approximate(spent) > approximate(epsilon); // a curator sees everything
  return element(
    "section",
    { class: "card", "aria-labelledby": "budget" },
    element(
      "div",
      { class: "row" },
      element("h2", { id: "budget" }, text("budgetTitle")),
      element("span", { class: "soft" }, text("budgetUsed", percent(share, 0))),
    ),
    bar(share),
    left ? null : element("p", {}, rounds(remaining, epsilon)),
    worst ? element("p", {}, text("budgetWorst", percent(PRIOR), surestText(approximate(spent)))) : null,
    element("p", { class: "small soft" }, text("budgetExact", rounded(spent), rounded(total), rounded(remaining))),
  );
}

function rounds(remaining: string, epsilon: string): string {
  const number = roundsIn(remaining, epsilon);
  return number > 0 ? counted("budgetRounds", number) : text("budgetOver");
}

/** The share of the budget that is spent. */
export function used(spent: string, remaining: string): number {
  const total = approximate(spent) + approximate(remaining);
  return total > 0 ? approximate(spent) / total : 1;
}

function bar(share: number): HTMLElement {
  const percents = Math.round(share * 100);
  return element(
    "div",
    {
      class: "bar",
      role: "meter",
      "aria-labelledby": "budget",
      "aria-valuenow": percents,
      "aria-valuemin": 0,
      "aria-valuemax": 100,
    },
    drawing(
      "svg",
      { viewBox: "0 0 100 1", preserveAspectRatio: "none", "aria-hidden": "true" },
      drawing("rect", { width: share * 100, height: 1 }),
    ),
  );
}
