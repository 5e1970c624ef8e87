/** What an invitation says, in words. */
import type { Campaign } from "../shared/messages.ts";
import { element } from "./dom.ts";
import { approximate, oneIn, rounded, roundsIn } from "./exactNumbers.ts";
import { PRIOR, surestText } from "./odds.ts";
import { counted, type Key, percent, text } from "./texts.ts";

/** A list of the campaign, the collector, and what one report and all together may reveal. */
export function facts({ name, collector, epsilon, delta, lifetimeEpsilon }: Omit<Campaign, "campaign">): HTMLElement {
  const one = text("factRoundMore", percent(PRIOR), surestText(approximate(epsilon)), rounded(epsilon));
  const rounds = counted("factLifetimeMore", roundsIn(lifetimeEpsilon, epsilon));
  const all = text("factLifetimeWorst", surestText(approximate(lifetimeEpsilon)), rounded(lifetimeEpsilon));
  return element(
    "dl",
    { class: "facts" },
    ...fact("factName", name),
    ...fact("factCollector", collector.startsWith("http:") ? `${collector} (${text("insecure")})` : collector),
    ...fact("factRound", one),
    ...fact("factLifetime", `${rounds} ${all}`),
    ...fact("factDelta", text("factDeltaMore", oneIn(delta))),
  );
}

function fact(label: Key, value: string): HTMLElement[] {
  return [element("dt", {}, text(label)), element("dd", {}, value)];
}
