/** What a volunteer has sent to the curator, and what the published results can reveal. */
import type { Campaign, Status } from "../shared/messages.ts";
import { element } from "./dom.ts";
import { approximate, oneIn } from "./exactNumbers.ts";
import { PRIOR, surestText } from "./odds.ts";
import { counted, percent, text } from "./texts.ts";

/** The card of a volunteer. */
export function uploadCard({ uploads }: Status, { epsilon, delta }: Campaign, withdraw: () => void): HTMLElement {
  const sent = uploads.rounds - uploads.withdrawn;
  return element(
    "section",
    { class: "card", "aria-labelledby": "uploads" },
    element(
      "div",
      { class: "row" },
      element("h2", { id: "uploads" }, text("uploadTitle")),
      sent > 0 ? element("button", { class: "quiet", onclick: withdraw }, text("withdraw")) : null,
    ),
    element("p", { class: "small soft" }, sentences(uploads)),
    element("p", {}, text("uploadOdds", percent(PRIOR), surestText(approximate(epsilon)), oneIn(delta))),
  );
}

function sentences({ rounds, withdrawn }: Status["uploads"]): string {
  if (rounds === 0) return text("reportNone");
  const sent = counted("uploadRounds", rounds);
  return withdrawn > 0 ? `${sent} ${counted("uploadWithdrawn", withdrawn)}` : sent;
}
