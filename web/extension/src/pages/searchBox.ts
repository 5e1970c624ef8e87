/** Offline search while typing. Results are links: a click opens the page, and arrow keys move between them. */
import { type Row, Suggester } from "@blender-dp/client";
import { ask, type Suggestion } from "../shared/messages.ts";
import { webAddress } from "../shared/webAddress.ts";
import { element, show } from "./dom.ts";
import { counted, percent, text } from "./texts.ts";

const SHOWN = 8;

/** Searches the published results, which are requested once, in this page's memory: a keystroke waits for nothing else. */
export function resultsInMemory(): (typed: string) => Promise<Suggestion[]> {
  const read = ask("results", {}).then((rows) => new Suggester(rows as Row[]));
  read.catch(() => {}); // nothing is found then
  return async (typed) => (await read).matching(typed, SHOWN);
}

/** The box and its results. */
export function searchBox(suggest = resultsInMemory()): HTMLElement {
  const list = element("ul", { class: "results" });
  const summary = element("p", { class: "hidden", role: "status" });
  const input = element("input", {
    type: "search",
    id: "search",
    autocomplete: "off",
    spellcheck: "false",
    placeholder: text("searchPlaceholder"),
    oninput: () => type(input.value, suggest, list, summary),
  });
  const label = element("label", { for: "search", class: "hidden" }, text("searchPlaceholder"));
  return element(
    "search",
    { class: "search", onkeydown: (event) => move(event as KeyboardEvent, input, list) },
    label,
    input,
    list,
    summary,
  );
}

/** Shows the results of what was typed, unless something else has been typed meanwhile. */
async function type(
  typed: string,
  suggest: (typed: string) => Promise<Suggestion[]>,
  list: HTMLElement,
  summary: HTMLElement,
): Promise<void> {
  list.dataset.typed = typed;
  const results = typed.trim() ? await suggest(typed).catch(() => []) : [];
  if (list.dataset.typed !== typed) return;
  show(list, ...results.map(result));
  show(summary, typed.trim() ? (results.length ? counted("searchFound", results.length) : text("searchNothing")) : "");
  summary.className = typed.trim() && !results.length ? "soft" : "hidden";
}

function result({ query, share, urls }: Suggestion): HTMLElement {
  const address = urls.map(([url]) => webAddress(url)).find((url) => url !== null);
  const lines = [
    element("span", { class: "query" }, query),
    element("span", { class: "small soft" }, text("searchShare", percent(share, 2))),
    address ? element("span", { class: "small soft url" }, address.replace(/^https?:\/\//, "")) : null,
  ];
  const link = { href: address ?? null, target: "_blank", rel: "noreferrer noopener" };
  return element("li", {}, address ? element("a", link, ...lines) : element("div", {}, ...lines));
}

/** Arrow keys move between the box and the results, Enter in the box opens the first result, Escape empties the box. */
function move(event: KeyboardEvent, input: HTMLInputElement, list: HTMLElement): void {
  const stops: HTMLElement[] = [input, ...list.querySelectorAll("a")];
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step) stops[stops.indexOf(document.activeElement as HTMLElement) + step]?.focus();
  else if (event.key === "Enter" && event.target === input) stops[1]?.click();
  else if (event.key === "Escape" && input.value) clear(input);
  else return;
  event.preventDefault();
}

function clear(input: HTMLInputElement): void {
  input.value = "";
  input.dispatchEvent(new Event("input"));
  input.focus();
}
