/** The exact last report, what its cells stand for, and what it can reveal. */
import type { Cell, LastReport, Status } from "../shared/messages.ts";
import { element } from "./dom.ts";
import { approximate } from "./exactNumbers.ts";
import { PRIOR, surestText } from "./odds.ts";
import { counted, percent, text } from "./texts.ts";

const SHOWN = 20;

/** The card of a client. */
export function reportCard({ lastReport }: Status, epsilon: string): HTMLElement {
  return element(
    "section",
    { class: "card", "aria-labelledby": "report" },
    element("h2", { id: "report" }, text("reportTitle")),
    ...(lastReport ? sentReport(lastReport, epsilon) : [element("p", { class: "soft" }, text("reportNone"))]),
  );
}

function sentReport(report: LastReport, epsilon: string): HTMLElement[] {
  const state = text(report.arrived ? "reportArrived" : "reportPending", report.round);
  return [
    element("p", { class: "small soft" }, state),
    element("p", {}, text("reportOdds", percent(PRIOR), surestText(approximate(epsilon))), " ", text("reportDeniable")),
    element("details", {}, element("summary", {}, text("reportShow")), ...cells(report), ...bytes(report.body)),
  ];
}

function cells(report: LastReport): HTMLElement[] {
  const number = namedCells(report.body);
  if (!report.cells) return [element("p", {}, counted("reportCellsUnknown", number))];
  const items = report.cells.slice(0, SHOWN).map((cell) => element("li", {}, ...named(cell)));
  const more = report.cells.length - items.length;
  return [
    element("p", {}, counted("reportCells", number)),
    element(
      "ul",
      { class: "cells" },
      ...items,
      more > 0 ? element("li", { class: "soft" }, counted("reportMore", more)) : null,
    ),
  ];
}

function named({ query, url }: Cell): HTMLElement[] {
  if (query === null) return [element("span", {}, text("anyOtherQuery"))];
  return [element("span", {}, query), element("span", { class: "small soft" }, url ?? text("anyOtherUrl"))];
}

/** How many cells the body names. */
function namedCells(body: string): number {
  return JSON.parse(body).reports[0].cells.length;
}

function bytes(body: string): HTMLElement[] {
  const label = counted("reportBytes", new TextEncoder().encode(body).length);
  return [
    element("p", { class: "small soft" }, label),
    element("pre", { tabindex: 0, role: "region", "aria-label": label }, body),
  ];
}
